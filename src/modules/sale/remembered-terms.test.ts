import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { anotherService, loseConnection, type OtherService } from '../../../test/harness/faulty-database.ts'
import { checkoutBody, type TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()
const CHECKOUT = '/v1.1/checkout/transparent'
const PLAIN = 'sale_insert_plain_batch'
let other: OtherService

beforeAll(async () => {
  other = await anotherService(it)
  return () => other.close()
})

/** Another process changes what this one has in memory. */
async function changeElsewhere({ apiKey, apiToken }: TestAccount, settings: Record<string, unknown>): Promise<void> {
  const api = other.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken })
  expect((await api.put('/v1.1/sandbox/account', settings)).http).toBe(200)
}

const fixedFee = (fixed: number) => ({ fees: { PIX: { percent: 0, fixed } } })

/** An account whose terms were used once, so that they are known here. */
async function knownAccount(settings: Record<string, unknown> = fixedFee(1)): Promise<TestAccount> {
  const account = await it.given.account(settings)
  await it.given.sale(account)
  return account
}

const feesOf = async (account: TestAccount): Promise<number[]> =>
  (
    await it.rows<{ fee: number }>(
      `select s.fee_cents as fee from sale s join account a on a.id = s.account_id
       where a.uuid = $1 and s.parent_id is null order by s.number`,
      [account.id],
    )
  ).map(({ fee }) => fee)

/** Stands between this process and one of its statements, until the test is over. */
function hook(name: string, around: (send: () => Promise<unknown[]>) => Promise<unknown[]>): void {
  const { db } = it.service
  const ask = db.query
  onTestFinished(() => {
    db.query = ask
  })
  db.query = (async (asked, values) =>
    asked.name === name ? around(() => ask(asked, values)) : ask(asked, values)) as typeof ask
}

/** How often terms are read while something goes on. */
async function readings(work: () => Promise<unknown>): Promise<number> {
  let count = 0
  hook('account_versioned_terms', (read) => {
    count += 1
    return read()
  })
  await work()
  return count
}

describe('terms in memory', () => {
  test('are not read again while nothing changes', async () => {
    const account = await knownAccount()
    expect(await readings(() => it.given.sale(account))).toBe(0)
    expect(await feesOf(account)).toEqual([100, 100])
  })

  test('are read once more after a change elsewhere, which counts at once', async () => {
    const account = await knownAccount()
    await changeElsewhere(account, fixedFee(2))
    expect(await readings(() => it.given.sale(account))).toBe(1)
    expect(await readings(() => it.given.sale(account))).toBe(0)
    expect(await feesOf(account)).toEqual([100, 200, 200])
  })

  test('are guarded under an Idempotency-Key too, and the key names one sale', async () => {
    const account = await knownAccount()
    await changeElsewhere(account, fixedFee(2))
    const keyed = account.api.as({ 'idempotency-key': 'terms' })
    const body = checkoutBody()
    const first = await keyed.post(CHECKOUT, body)
    expect(first.http).toBe(200)
    expect((await keyed.post(CHECKOUT, body)).body).toEqual(first.body)
    expect(await feesOf(account)).toEqual([100, 200])
  })

  test('that asked for no unique reference do so as soon as another process says it', async () => {
    const account = await knownAccount({ uniqueReferenceCode: false })
    await changeElsewhere(account, { uniqueReferenceCode: true })
    const body = checkoutBody()
    expect((await account.api.post(CHECKOUT, body)).http).toBe(200)
    expect((await account.api.post(CHECKOUT, body)).body.errors).toEqual([
      expect.objectContaining({ field: 'referenceCode' }),
    ])
  })

  test('that allowed to share do so no more', async () => {
    const account = await knownAccount({ splitEnabled: true })
    const { recipient } = (await account.api.post('/v1.1/sandbox/recipients', { name: 'Filial' })).body
    const split = [{ recipientId: recipient.recipientId, amount: 10 }]
    expect((await account.api.post(CHECKOUT, checkoutBody({ split }))).http).toBe(200)
    await changeElsewhere(account, { splitEnabled: false })
    expect((await account.api.post(CHECKOUT, checkoutBody({ split }))).http).toBe(400)
    await changeElsewhere(account, { splitEnabled: true, ...fixedFee(3) })
    expect((await account.api.post(CHECKOUT, checkoutBody({ split }))).http).toBe(200)
    expect((await feesOf(account)).at(-1)).toBe(300)
  })

  test('carry the clock: a jump elsewhere moves the next sale', async () => {
    const account = await knownAccount()
    const { apiKey, apiToken } = account
    const jumped = await other.api
      .as({ 'x-api-key': apiKey, 'x-api-token': apiToken })
      .post('/v1.1/sandbox/clock/advance', { days: 40 })
    expect(jumped.http).toBe(200)
    await it.given.sale(account)
    const [row] = await it.rows<{ days: number }>(
      `select extract(day from max(s.created_at) - min(s.created_at))::bigint as days
       from sale s join account a on a.id = s.account_id where a.uuid = $1`,
      [account.id],
    )
    expect(row).toEqual({ days: 40 })
  })

  test('of one account spoil nobody else’s sale in the same batch', async () => {
    const accounts = [await knownAccount(), await knownAccount(), await knownAccount()]
    await changeElsewhere(accounts[1]!, fixedFee(2))
    const made = accounts.flatMap((account) => [it.given.sale(account), it.given.sale(account)])
    await Promise.all(made)
    expect(await Promise.all(accounts.map(feesOf))).toEqual([
      [100, 100, 100],
      [100, 200, 200],
      [100, 100, 100],
    ])
  })

  test('that change before every write hold up nobody for long: what was read just now is enough', async () => {
    const account = await knownAccount()
    let [fee, writes] = [1, 0]
    hook(PLAIN, async (write) => {
      writes += 1
      await changeElsewhere(account, fixedFee(++fee))
      return write()
    })
    await it.given.sale(account)
    expect(writes).toBe(2)
  })

  test.each([
    ['the connection is lost before it', 'Connection terminated unexpectedly', undefined],
    ['it is the victim of a deadlock', 'deadlock detected', '40P01'],
    ['another took its reference', 'duplicate key', '23505'],
  ])('are looked at by every try of a write: %s', async (_name, message, code) => {
    const account = await knownAccount()
    await changeElsewhere(account, fixedFee(2))
    let failed = false
    hook(PLAIN, (write) => {
      if (failed) return write()
      failed = true
      throw Object.assign(new Error(message), code && { code })
    })
    const { http } = await account.api.post(CHECKOUT, checkoutBody())
    // After a lost connection the sale may be there, so it is not for us to make another.
    expect([http, await feesOf(account)]).toEqual(code === undefined ? [503, [100]] : [200, [100, 200]])
    await it.given.sale(account)
    expect((await feesOf(account)).at(-1)).toBe(200)
  })

  test('that changed after an answer was lost make no second sale', async () => {
    const account = await knownAccount()
    let lost = false
    hook(PLAIN, async (write) => {
      const rows = await write()
      if (lost) return rows
      lost = true
      await changeElsewhere(account, fixedFee(2))
      throw new Error('Connection terminated unexpectedly')
    })
    expect((await account.api.post(CHECKOUT, checkoutBody())).http).toBe(503)
    expect(await feesOf(account)).toEqual([100, 100])
  })

  test('that hold after an answer was lost leave the sale as it is, and it is answered', async () => {
    const account = await knownAccount()
    loseConnection(it.service.db, PLAIN, 'after')
    await it.given.sale(account)
    expect(await feesOf(account)).toEqual([100, 100])
  })
})
