import { existsSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { apiClient } from '../harness/api-client.ts'
import { checkoutBody } from '../harness/given.ts'
import { until } from '../harness/patience.ts'
import { cleanUp, newDatabaseUrl, newFolder, quitado } from '../harness/quitado-process.ts'

afterEach(cleanUp)

const refusesConnections = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      done(false)
    })
    socket.once('error', () => done(true))
  })

async function registered(port: number) {
  const { body } = await apiClient(port).post('/v1.1/sandbox/register', { name: 'Loja', email: 'loja@example.com' })
  return apiClient(port, { 'x-api-key': body.credentials.apiKey, 'x-api-token': body.credentials.apiToken })
}

describe('roles', () => {
  test('api serves and does not sweep; worker sweeps and does not listen', async () => {
    const env = { DATABASE_URL: await newDatabaseUrl(), QUITADO_DATA: newFolder() }
    const api = await quitado({ ...env, QUITADO_ROLE: 'api' })
    const account = await registered(api.port)
    const { uuid } = (await account.post('/v1.1/checkout/transparent', checkoutBody())).body.response
    const client = new pg.Client(env.DATABASE_URL)
    await client.connect()
    const situation = async () => (await account.get(`/v1.1/transactions/${uuid}`)).body.situation
    const swept = async () =>
      (await client.query('select swept_to from sale_expiry_watermark')).rows[0].swept_to.getTime()
    await client.query("update sale set expires_at = '2021-01-01T00:00:00Z' where id = $1", [uuid])
    const untouched = await swept()
    await account.get('/v1.1/balance')
    expect([await situation(), await swept()]).toEqual(['PENDING', untouched])

    const worker = await quitado({ ...env, QUITADO_ROLE: 'worker' })
    expect(worker.output()).not.toContain('curl')
    expect(await refusesConnections(worker.port)).toBe(true)
    await until(async () => (await situation()) === 'CANCELLED')
    await client.end()
  })
})

describe('a stop', () => {
  test('answers what was accepted before it ends', async () => {
    const started = await quitado({ QUITADO_DATA: newFolder() })
    const account = await registered(started.port)
    const many = Array.from({ length: 200 }, () =>
      account.post('/v1.1/checkout/transparent', checkoutBody()).catch(() => undefined),
    )
    await many[0]
    started.signal('SIGTERM')
    const answers = await Promise.all(many)
    expect(await started.ended).toBe(0)
    expect(started.output()).not.toContain('was killed')
    const http = answers.filter((answer) => answer !== undefined).map((answer) => answer.http)
    expect(http.filter((code) => code !== 200 && code !== 503)).toEqual([])
    expect(http).toContain(200)
  })
})

describe('commands and secrets', () => {
  test('migrate brings an empty database up to date, and says when there is nothing to do', async () => {
    const env = { DATABASE_URL: await newDatabaseUrl(), QUITADO_DATA: newFolder() }
    const first = await quitado(env, ['migrate'])
    expect([await first.ended, first.output()]).toEqual([0, expect.stringContaining('000001_account_create.sql')])
    expect((await quitado(env, ['migrate'])).output()).toContain('The database is up to date.')
  })

  test('a lost encryption key stops the start with one line', async () => {
    const folder = newFolder()
    const first = await quitado({ QUITADO_DATA: folder })
    first.signal('SIGTERM')
    await first.ended
    rmSync(join(folder, 'encryption-key'))
    const second = await quitado({ QUITADO_DATA: folder })
    expect(await second.ended).toBe(1)
    expect(second.output().trim().split('\n').at(-1)).toBe(
      `QUITADO_ENCRYPTION_KEY: the secrets of this database were sealed with another key than that of ${join(folder, 'encryption-key')}`,
    )
    expect(existsSync(join(folder, 'encryption-key'))).toBe(false)
  })

  test('audit of a folder without a database says so', async () => {
    const audited = await quitado({ QUITADO_DATA: newFolder() }, ['audit'])
    expect([await audited.ended, audited.output().trim()]).toEqual([
      1,
      'There is no Quitado database here yet: npm start or npm run migrate makes one.',
    ])
  })

  test('an unknown command names the known ones', async () => {
    const odd = await quitado({ QUITADO_DATA: newFolder() }, ['dance'])
    expect([await odd.ended, odd.output()]).toEqual([
      1,
      'quitado dance: unknown command; there are start, migrate, audit\n',
    ])
  })
})
