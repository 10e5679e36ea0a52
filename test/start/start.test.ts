import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { apiClient } from '../harness/api-client.ts'
import { until } from '../harness/patience.ts'
import {
  cleanUp,
  isAlive,
  later,
  newDatabaseUrl,
  newFolder,
  postmasterOf,
  quitado,
  usedFolder,
} from '../harness/quitado-process.ts'
import { childrenOf } from '../harness/running-service.ts'

const run = promisify(execFile)
afterEach(cleanUp)

describe('npm start', () => {
  test('shows progress, prints where it is and a curl line that works when pasted', async () => {
    const folder = newFolder()
    const started = await quitado({ QUITADO_DATA: folder })
    const output = started.output()
    expect(output).toContain('Creating the database')
    expect(output).toContain(`http://localhost:${started.port}/docs`)
    for (const page of ['register', 'panel', 'phone', 'operator'])
      expect(output).toContain(`http://localhost:${started.port}/${page}`)
    expect((await apiClient(started.port).get('/register')).http).toBe(200)
    const curl = output.split('\n').find((line) => line.startsWith('curl'))!
    const answer = JSON.parse((await run('sh', ['-c', curl])).stdout)
    expect(answer).toMatchObject({ status: 0, response: { amount: 10.5, referenceCode: 'first-charge' } })
    expect(output).toContain(/x-api-key: ([\w-]+)/.exec(curl)![1]!)

    started.signal('SIGINT')
    expect(await started.ended).toBe(0)
    expect(existsSync(join(folder, 'postgres', 'postmaster.pid'))).toBe(false)
  })

  test('the demo account has split on and three recipients, one of them inactive, signs in to the panel and stays the same', async () => {
    const folder = newFolder()
    const first = await quitado({ QUITADO_DATA: folder })
    const credentials = (output: string) =>
      /x-api-key: +(\S+)\s+x-api-token: (\S+)\s+e-mail: +(\S+)\s+password: +(\S+)/.exec(output)!.slice(1)
    const printed = credentials(first.output())
    const [apiKey, apiToken, email, password] = printed as [string, string, string, string]
    const page = apiClient(first.port, { 'x-quitado-page': '1' })
    expect((await page.post('/panel/api/session', { email, password })).http).toBe(200)
    const demo = apiClient(first.port, { 'x-api-key': apiKey, 'x-api-token': apiToken })
    expect((await demo.get('/v1.1/sandbox/account')).body.splitEnabled).toBe(true)
    const client = new pg.Client({ host: join(folder, 'postgres-socket'), user: 'postgres', database: 'quitado' })
    await client.connect()
    const { rows } = await client.query('select active from recipient order by active')
    await client.end()
    expect(rows.map((row) => row.active)).toEqual([false, true, true])
    first.signal('SIGTERM')
    await first.ended

    const second = await quitado({ QUITADO_DATA: folder })
    expect(credentials(second.output())).toEqual(printed)
  })

  test('a second start on the same folder is one clear line', async () => {
    const folder = await usedFolder()
    const first = await quitado({ QUITADO_DATA: folder })
    const second = await quitado({ QUITADO_DATA: folder })
    expect(await second.ended).toBe(1)
    expect(second.output().trim().split('\n').at(-1)).toBe(
      `Quitado is already running on ${folder} (process ${first.pid}).`,
    )
  })

  test('survives kill -9 of everything and leaves no server behind', async () => {
    const folder = await usedFolder()
    const first = await quitado({ QUITADO_DATA: folder })
    const postmaster = postmasterOf(folder)
    const service = childrenOf(first.pid).find((child) => child.command.includes('process.ts'))!.pid
    first.signal('SIGKILL')
    await first.ended
    await until(() => !isAlive(postmaster) && !isAlive(service))

    const second = await quitado({ QUITADO_DATA: folder })
    process.kill(postmasterOf(folder), 'SIGKILL')
    await until(async () => (await apiClient(second.port).get('/readyz')).http === 200)
    const child = childrenOf(second.pid).find((candidate) => candidate.command.includes('process.ts'))!.pid
    process.kill(child, 'SIGKILL')
    await until(() => !isAlive(child))
    await until(
      async () =>
        (
          await apiClient(second.port)
            .get('/readyz')
            .catch(() => undefined)
        )?.http === 200,
    )
  })

  test('runs on DATABASE_URL, and two processes share it', async () => {
    const url = await newDatabaseUrl()
    const folder = newFolder()
    const started = await quitado({ QUITADO_DATA: folder, DATABASE_URL: url, QUITADO_PROCESSES: '2' })
    expect(started.output()).toContain('Quitado is ready')
    expect(existsSync(join(folder, 'postgres'))).toBe(false)
    expect((await apiClient(started.port).get('/readyz')).http).toBe(200)
    expect((await apiClient(started.port).get('/metrics')).body.toString()).toContain('quitado_http_request_seconds')
    const audited = await quitado({ QUITADO_DATA: folder, DATABASE_URL: url }, ['audit'])
    expect(await audited.ended).toBe(0)
    expect(audited.output()).toContain('The books are right')
  })

  test('audit attaches to the running server and exits 1 when a book is wrong', async () => {
    const folder = await usedFolder()
    await quitado({ QUITADO_DATA: folder })
    expect(await (await quitado({ QUITADO_DATA: folder }, ['audit'])).ended).toBe(0)
    const client = new pg.Client({ host: join(folder, 'postgres-socket'), user: 'postgres', database: 'quitado' })
    await client.connect()
    await client.query('update book set fee_dr = 5, clearing_cr = 5, version = 1 where account_id = 1')
    await client.end()
    const audited = await quitado({ QUITADO_DATA: folder }, ['audit'])
    expect(await audited.ended).toBe(1)
    expect(audited.output()).toContain('BROKEN')
  })
})

describe('a wrong start is one line', () => {
  test.each([
    [{ PORT: 'eighty' }, 'PORT: must be a whole number from 1 to 65535, not "eighty"'],
    [{ QUITADO_ENV: 'staging' }, 'QUITADO_ENV: must be one of sandbox, production, not "staging"'],
    [{ QUITADO_ROLE: 'api' }, 'QUITADO_ROLE: the role api needs DATABASE_URL'],
    [{ QUITADO_ENV: 'production' }, 'QUITADO_OPERATOR_TOKEN: production needs one'],
    [
      { DATABASE_URL: 'mysql://x' },
      'DATABASE_URL: must be an address such as postgres://user:password@host:5432/database',
    ],
    [{ QUITADO_ENCRYPTION_KEY: 'short' }, 'QUITADO_ENCRYPTION_KEY: must be 32 bytes in Base64 or hex'],
  ])('%j', async (env, line) => {
    const started = await quitado({ QUITADO_DATA: newFolder(), PORT: '1', ...env })
    expect(await started.ended).toBe(1)
    expect(started.output().trim().split('\n')).toHaveLength(1)
    expect(started.output()).toContain(line)
  })

  test('a port in use names the port', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((done) => server.once('listening', done))
    later(() => server.close())
    const { port } = server.address() as { port: number }
    const started = await quitado({ QUITADO_DATA: await usedFolder(), PORT: String(port) })
    expect(await started.ended).toBe(1)
    expect(started.output().trim().split('\n').at(-1)).toBe(`PORT: ${port} is in use on 127.0.0.1`)
  })

  test('a database that does not answer names DATABASE_URL', async () => {
    const started = await quitado({ QUITADO_DATA: newFolder(), DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
    expect(await started.ended).toBe(1)
    expect(started.output().trim().split('\n').at(-1)).toMatch(/^DATABASE_URL: cannot connect/)
  })
})
