import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { apiClient } from '../../../test/harness/api-client.ts'
import { OPERATOR_TOKEN, testService } from '../../../test/harness/test-service.ts'
import { systemRandomIds } from '../../platform/random-ids.ts'
import { createService } from '../../service.ts'

const it = testService()

test('in production nothing that only a sandbox has exists, not even for those with credentials', async () => {
  const account = await it.given.account()
  const sandbox = Object.keys((await it.api.get('/openapi.json')).body.paths).filter((path) =>
    path.includes('/sandbox/'),
  )
  expect(sandbox.length).toBeGreaterThan(6)
  const service = await createService({
    config: { ...it.config, env: 'production' },
    connection: it.connection,
    operatorToken: OPERATOR_TOKEN,
    encryptionKeys: [Buffer.alloc(32, 7)],
    clock: it.clock,
    ids: systemRandomIds(),
    logger: pino({ level: 'silent' }),
  })
  onTestFinished(() => service.close())
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  const credentials = { 'x-api-key': account.apiKey, 'x-api-token': account.apiToken }
  const api = apiClient((service.app.server.address() as AddressInfo).port, credentials)
  expect((await api.get('/v1.1/balance')).http).toBe(200)
  for (const path of sandbox)
    for (const method of ['GET', 'POST', 'PUT']) {
      const answer = await api.send(method, path.replaceAll(/\{\w+\}/g, account.id))
      expect([answer.http, answer.body.message], path).toEqual([404, 'there is no such route'])
    }
  const { paths } = (await api.get('/openapi.json')).body
  expect(Object.keys(paths).filter((path) => path.includes('sandbox'))).toEqual([])
})
