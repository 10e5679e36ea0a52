import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { asPage, cookieOf } from '../../test/harness/pages.ts'
import { testService } from '../../test/harness/test-service.ts'
import { systemRandomIds } from '../platform/random-ids.ts'
import { banner } from './banner.ts'
import { type Demo, demoAccount } from './demo-account.ts'

const it = testService()
const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quitado-demo-'))
  folders.push(folder)
  return folder
}

/** What a start does with a data folder. */
const start = (folder: string): Promise<Demo> =>
  demoAccount({ ...it.service, ids: systemRandomIds(), clock: it.clock, folder })

const signIn = ({ email, password }: Demo['signIn']) =>
  asPage(it.api).post('/panel/api/session', { email, password: password ?? '' })

const printed = (demo: Demo) =>
  banner({ publicUrl: 'http://localhost:8080', demo, operatorTokenFile: undefined, seconds: '1' })

describe('the demo account signs in to the panel', () => {
  test('with a password that was made for this folder, kept for its owner alone, and printed by every start', async () => {
    const folder = newFolder()
    const first = await start(folder)
    expect(first.signIn).toEqual({ email: 'demo@quitado.test', password: expect.stringMatching(/^\w{16}$/) })
    const reply = await signIn(first.signIn)
    expect(reply.http, reply.text).toBe(200)
    const session = await asPage(it.api)
      .as({ cookie: cookieOf(reply) })
      .get('/panel/api/session')
    expect(session.body.account.name).toBe('Loja Demonstração')
    const file = join(folder, 'demo-password')
    expect(readFileSync(file, 'utf8').trim()).toBe(first.signIn.password)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await start(folder)).toEqual(first)
    expect(printed(first)).toMatch(
      new RegExp(`e-mail: +demo@quitado\\.test\\n +password: +${first.signIn.password}\\n`),
    )
  })

  test('a folder that shares its database with others has an e-mail and a password of its own', async () => {
    const [one, other] = [await start(newFolder()), await start(newFolder())]
    expect(other.signIn.email).toMatch(/^demo-[0-9a-f]{8}@quitado\.test$/)
    expect(other.signIn.email).not.toBe(one.signIn.email)
    for (const demo of [one, other]) expect((await signIn(demo.signIn)).http).toBe(200)
    expect((await signIn({ ...other.signIn, password: one.signIn.password })).http).toBe(401)
  })

  test('an account from before there was a sign-in is given one, and stays what it is', async () => {
    const folder = newFolder()
    const before = await start(folder)
    rmSync(join(folder, 'demo-password'))
    await it.rows(`update account set email = null, password_hash = null
      where id = (select account_id from credential where api_key = '${before.apiKey}')`)
    const after = await start(folder)
    expect([after.apiKey, after.apiToken]).toEqual([before.apiKey, before.apiToken])
    expect(after.signIn.password).not.toBe(before.signIn.password)
    expect((await signIn(after.signIn)).http).toBe(200)
    expect((await start(folder)).signIn).toEqual(after.signIn)
  })

  test('a password that its owner changed stays, and is not printed', async () => {
    const folder = newFolder()
    const demo = await start(folder)
    const panel = asPage(it.api).as({ cookie: cookieOf(await signIn(demo.signIn)) })
    const mine = 'a password of my own'
    const changed = await panel.put('/panel/api/password', { currentPassword: demo.signIn.password, password: mine })
    expect(changed.http, changed.text).toBe(200)
    const again = await start(folder)
    expect(again.signIn).toEqual({ email: demo.signIn.email, password: undefined })
    expect(printed(again)).toContain('password:    the one that you gave it')
    expect((await signIn({ ...again.signIn, password: mine })).http).toBe(200)
  })
})
