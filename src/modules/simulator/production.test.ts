import { expect, onTestFinished, test } from 'vitest'
import { anotherService } from '../../../test/harness/faulty-database.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()

test('in production nothing that only a sandbox has exists, not even for those with credentials', async () => {
  const account = await it.given.account()
  const sandbox = Object.keys((await it.api.get('/openapi.json')).body.paths).filter((path) =>
    path.includes('/sandbox/'),
  )
  expect(sandbox.length).toBeGreaterThan(6)
  const service = await anotherService(it, { env: 'production' })
  onTestFinished(() => service.close())
  const api = service.api.as({ 'x-api-key': account.apiKey, 'x-api-token': account.apiToken })
  expect((await api.get('/v1.1/balance')).http).toBe(200)
  for (const path of sandbox)
    for (const method of ['GET', 'POST', 'PUT']) {
      const answer = await api.send(method, path.replaceAll(/\{\w+\}/g, account.id))
      expect([answer.http, answer.body.message], path).toEqual([404, 'there is no such route'])
    }
  const { paths } = (await api.get('/openapi.json')).body
  expect(Object.keys(paths).filter((path) => path.includes('sandbox'))).toEqual([])
})
