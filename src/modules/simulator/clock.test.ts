import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { situationOf, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'
import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import { clientConfig } from '../../platform/database/database.ts'
import { advanceClock } from './advance-clock.ts'

const it = testService()
const NOON = '2026-11-16 12:00:00'
const SECOND = 1_000
const DAY = 86_400_000

const read = async (account: TestAccount) => (await account.api.get('/v1.1/sandbox/clock')).body
const advance = (account: TestAccount, by?: unknown) => account.api.post('/v1.1/sandbox/clock/advance', by)
const reset = (account: TestAccount) => account.api.post('/v1.1/sandbox/clock/reset')

async function accountAtNoon(): Promise<TestAccount> {
  it.clock.set(NOON)
  return it.given.account()
}

/** Somebody else holds the sale's row until the test lets go. */
async function holding(sale: TestSale) {
  const client = new pg.Client(clientConfig(it.connection))
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin')
  await client.query('select 1 from sale where id = $1 for update', [sale.uuid])
  return { letGo: () => client.query('rollback') }
}

describe('the clock of a sandbox account', () => {
  test('is real time at first', async () => {
    const account = await accountAtNoon()
    expect(await read(account)).toEqual({ status: 0, message: 'success', now: NOON, offsetSeconds: 0 })
  })

  test.each([
    ['days', { days: 1 }, '2026-11-17 12:00:00'],
    ['hours', { hours: 25 }, '2026-11-17 13:00:00'],
    ['minutes', { minutes: '61' }, '2026-11-16 13:01:00'],
    ['all of them', { days: 1, hours: 2, minutes: 3 }, '2026-11-17 14:03:00'],
    ['nothing', {}, NOON],
    ['no body', undefined, NOON],
    ['to a day', { to: '2026-11-20' }, '2026-11-20 00:00:00'],
    ['to a time', { to: '2026-11-20 08:30:15' }, '2026-11-20 08:30:15'],
    ['to an ISO time', { to: '2026-11-20T11:30:15Z' }, '2026-11-20 08:30:15'],
    ['to an ISO time with an offset', { to: '2026-11-20T08:30:15.500-03:00' }, '2026-11-20 08:30:15'],
    ['to this very moment', { to: NOON }, NOON],
    ['`to` wins over the rest', { to: '2026-11-20', days: 400 }, '2026-11-20 00:00:00'],
    ['as far as a jump goes', { days: 1_830 }, '2031-11-20 12:00:00'],
  ])('jumps ahead: %s', async (_name, by, now) => {
    const account = await accountAtNoon()
    const answer = await advance(account, by)
    expect(answer.http, answer.text).toBe(200)
    const offsetSeconds = (Date.parse(`${now.replace(' ', 'T')}-03:00`) - it.clock.now()) / SECOND
    expect(answer.body).toMatchObject({ status: 0, message: 'success', now, processed: 0 })
    expect(Math.abs(answer.body.offsetSeconds - offsetSeconds)).toBeLessThanOrEqual(1)
    expect((await read(account)).now).toBe(now)
  })

  test('goes on with real time from where it stands, and jumps add up', async () => {
    const account = await accountAtNoon()
    await advance(account, { hours: 1 })
    it.clock.advance(90 * SECOND)
    expect(await read(account)).toMatchObject({ now: '2026-11-16 13:01:30', offsetSeconds: 3_600 })
    expect((await advance(account, { hours: 1 })).body).toMatchObject({
      now: '2026-11-16 14:01:30',
      offsetSeconds: 7_200,
    })
  })

  test('is the account’s own: its balance and its sales are dated by it, a neighbour’s are not', async () => {
    const [account, neighbour] = [await accountAtNoon(), await accountAtNoon()]
    await advance(account, { days: 2 })
    expect((await account.api.get('/v1.1/balance')).body.date).toBe('2026-11-18 12:00:00')
    const sale = await it.given.sale(account, { maxAge: 60 })
    const { creation, maxAge } = (await account.api.get(`/v1.1/transactions/${sale.uuid}`)).body
    expect([creation, maxAge]).toEqual(['2026-11-18 12:00:00', '2026-11-18 13:00:00'])
    expect(await read(neighbour)).toMatchObject({ now: NOON, offsetSeconds: 0 })
  })

  test('is reset to real time, and can jump again', async () => {
    const account = await accountAtNoon()
    await advance(account, { days: 5 })
    it.clock.advance(60 * SECOND)
    const answer = await reset(account)
    expect([answer.http, answer.body]).toEqual([
      200,
      { status: 0, message: 'success', now: '2026-11-16 12:01:00', offsetSeconds: 0 },
    ])
    expect((await advance(account, { minutes: 1 })).body.now).toBe('2026-11-16 12:02:00')
  })
})

describe('a jump that is refused', () => {
  test.each([
    ['backwards', { to: '2026-11-16 11:59:59' }, 'to', 'the clock does not go backwards'],
    ['long ago', { to: '0001-01-01' }, 'to', 'the clock does not go backwards'],
    ['too far', { to: '2031-11-20 12:00:01' }, 'to', 'a jump is at most 1830 days'],
    ['too far by the sum', { days: 1_830, minutes: 1 }, 'days', 'a jump is at most 1830 days'],
    ['too far in hours', { hours: 43_921 }, 'days', 'a jump is at most 1830 days'],
    ['to the end of time', { to: '9999-12-31' }, 'to', 'a jump is at most 1830 days'],
    ['too many days', { days: 1_831 }, 'days', 'must be a whole number from 0 to 1830'],
    ['days that are no number', { days: 'x' }, 'days', 'must be a whole number from 0 to 1830'],
    ['half an hour', { hours: 0.5 }, 'hours', 'must be a whole number from 0 to 1000000'],
    ['minutes back', { minutes: -1 }, 'minutes', 'must be a whole number from 0 to 100000000'],
    ['to no day', { to: '2026-02-30' }, 'to', 'must be a date or a date and time'],
    ['to a number', { to: 5 }, 'to', 'must be a date or a date and time'],
    ['to the year 0', { to: '0000-01-01' }, 'to', 'must be a date or a date and time'],
  ])('%s: 400, and the clock stands', async (_name, by, field, message) => {
    const account = await accountAtNoon()
    const answer = await advance(account, by)
    expect(answer.http, answer.text).toBe(400)
    expect(answer.body).toEqual({
      status: -1,
      message: 'field validation failure',
      errorCount: 1,
      errors: [{ field, message }],
    })
    expect(await read(account)).toMatchObject({ now: NOON, offsetSeconds: 0 })
    expect((await advance(account, { minutes: 1 })).http).toBe(200)
  })

  test('names all wrong fields at once', async () => {
    const account = await accountAtNoon()
    const { errors } = (await advance(account, { days: -1, hours: 'x', minutes: 1.5, to: 'soon' })).body
    expect(errors.map(({ field }: { field: string }) => field)).toEqual(['days', 'hours', 'minutes', 'to'])
  })

  test('many jumps together end before the years get a fifth digit', async () => {
    const account = await accountAtNoon()
    const offset = Date.UTC(8999, 11, 1) - it.clock.now()
    await it.rows('update account set clock_offset_ms = $2 where uuid = $1', [account.id, offset])
    expect((await advance(account, { days: 30 })).http).toBe(200)
    const answer = await advance(account, { days: 30 })
    expect([answer.http, answer.body.errors[0].field]).toEqual([400, 'days'])
    await it.given.paidSale(account, { maxAge: 43_200 })
  })
})

describe('what is due on the way of a jump', () => {
  test('happens before the answer: sales expire up to where the clock arrives, and are counted', async () => {
    const account = await accountAtNoon()
    const neighbour = await it.given.account()
    const first = await it.given.sale(account, { maxAge: 10 })
    const second = await it.given.sale(account, { maxAge: 20 })
    const third = await it.given.sale(account, { maxAge: 30 })
    const foreign = await it.given.sale(neighbour, { maxAge: 10 })
    const answer = await advance(account, { minutes: 25 })
    expect(answer.body).toMatchObject({ processed: 2, now: '2026-11-16 12:25:00' })
    for (const [sale, situation] of [
      [first, 'CANCELLED'],
      [second, 'CANCELLED'],
      [third, 'PENDING'],
    ] as const)
      expect(await situationOf(account, sale)).toBe(situation)
    expect(await situationOf(neighbour, foreign)).toBe('PENDING')
    expect((await advance(account, { days: 1 })).body.processed).toBe(1)
  })

  test('a sale lives through the very moment of its expiry', async () => {
    const account = await accountAtNoon()
    const sale = await it.given.sale(account, { maxAge: 10 })
    expect((await advance(account, { minutes: 10 })).body.processed).toBe(0)
    expect(await situationOf(account, sale)).toBe('PENDING')
    expect((await advance(account, { minutes: 1 })).body.processed).toBe(1)
  })

  test('paid and cancelled sales are left alone', async () => {
    const account = await accountAtNoon()
    const paid = await it.given.paidSale(account, { maxAge: 10 })
    await it.given.cancelledSale(account, { maxAge: 10 })
    expect((await advance(account, { days: 1 })).body.processed).toBe(0)
    expect(await situationOf(account, paid)).toBe('PAID')
  })

  test('goes in order and commits alone: held up at the second, the first is done and the clock stands at it', async () => {
    const account = await accountAtNoon()
    const late = await it.given.sale(account, { maxAge: 30 })
    const middle = await it.given.sale(account, { maxAge: 20 })
    const early = await it.given.sale(account, { maxAge: 10 })
    const held = await holding(middle)
    const jump = advance(account, { days: 1 })
    await expect.poll(() => situationOf(account, early), { interval: 5 }).toBe('CANCELLED')
    expect(await read(account)).toMatchObject({ now: '2026-11-16 12:10:00' })
    expect([await situationOf(account, middle), await situationOf(account, late)]).toEqual(['PENDING', 'PENDING'])
    await held.letGo()
    expect((await jump).body).toMatchObject({ processed: 3, now: '2026-11-17 12:00:00' })
    expect(await situationOf(account, late)).toBe('CANCELLED')
  })
})

describe('one jump at a time', () => {
  const BUSY = { status: -1, message: 'the clock is moving already', errorCount: 0, errors: [] }

  test('a second advance or a reset meanwhile is a 409, and the first goes on', async () => {
    const account = await accountAtNoon()
    const early = await it.given.sale(account, { maxAge: 10 })
    const sale = await it.given.sale(account, { maxAge: 20 })
    const held = await holding(sale)
    const jump = advance(account, { days: 1 })
    await expect.poll(() => situationOf(account, early), { interval: 5 }).toBe('CANCELLED')
    for (const second of [await advance(account, { days: 1 }), await reset(account)])
      expect([second.http, second.body]).toEqual([409, BUSY])
    const neighbour = await it.given.account()
    expect((await advance(neighbour, { days: 1 })).http).toBe(200)
    await held.letGo()
    expect((await jump).body).toMatchObject({ processed: 2, now: '2026-11-17 12:00:00' })
    expect((await advance(account, { days: 1 })).body.now).toBe('2026-11-18 12:00:00')
  })

  test('of many at once each moves the clock or hears 409, and whoever has an answer finds the clock free', async () => {
    const account = await accountAtNoon()
    const answers = await Promise.all(Array.from({ length: 12 }, () => advance(account, { days: 1 })))
    const moved = answers.filter(({ http }) => http === 200).length
    expect(answers.every(({ http }) => http === 200 || http === 409)).toBe(true)
    expect(moved).toBeGreaterThan(0)
    expect((await read(account)).offsetSeconds).toBe((moved * DAY) / SECOND)
    for (let jump = 1; jump <= 5; jump += 1) expect((await advance(account, { days: 1 })).http).toBe(200)
  })

  test('a jump whose process died holds the clock for a minute, not for ever', async () => {
    const account = await accountAtNoon()
    const until = new Date(it.clock.now() + 60 * SECOND).toISOString()
    await it.rows('update account set clock_busy_until = $2 where uuid = $1', [account.id, until])
    expect((await advance(account, { days: 1 })).http).toBe(409)
    it.clock.advance(60 * SECOND)
    expect((await advance(account, { days: 1 })).http).toBe(200)
  })

  test('the clock is free before the answer leaves, not after', async () => {
    const { id: uuid } = await accountAtNoon()
    const busy = () =>
      it.rows<{ id: number; busy: unknown }>('select id, clock_busy_until as busy from account where uuid = $1', [uuid])
    const id = (await busy())[0]!.id as AccountId
    const seen: unknown[] = []
    const answer = {
      repeat: async () => false,
      async keep(lastStep: Parameters<Parameters<typeof advanceClock>[3]['keep']>[0]) {
        seen.push((await busy())[0]!.busy === null)
        await it.service.db.inTransaction(lastStep)
        seen.push((await busy())[0]!.busy === null)
      },
    }
    const context = { db: it.service.db, clock: it.clock, door: it.service.doorContext, rail: it.service.rail }
    expect(await advanceClock(context, id, (now) => (now + DAY) as Instant, answer)).toMatchObject({ ok: true })
    expect(seen).toEqual([false, true])
  })

  test('an answer that is known is given again while the clock moves for another', async () => {
    const account = await accountAtNoon()
    const ask = () =>
      account.api.post('/v1.1/sandbox/clock/advance', { days: 1 }, { headers: { 'idempotency-key': 'key' } })
    const first = await ask()
    const until = new Date(it.clock.now() + 60 * SECOND).toISOString()
    await it.rows('update account set clock_busy_until = $2 where uuid = $1', [account.id, until])
    expect((await advance(account, { days: 1 })).http).toBe(409)
    const again = await ask()
    expect([again.http, again.text, again.headers['idempotency-replayed']]).toEqual([200, first.text, 'true'])
  })

  test('jumps of many accounts at once are all answered', async () => {
    const accounts = await Promise.all(Array.from({ length: 20 }, () => it.given.account()))
    await Promise.all(accounts.map((account) => it.given.sale(account, { maxAge: 1 })))
    const answers = await Promise.all(accounts.map((account) => advance(account, { hours: 1 })))
    expect(answers.map(({ http, body }) => [http, body.processed])).toEqual(answers.map(() => [200, 1]))
  })
})
