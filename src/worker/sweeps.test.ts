import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { onStatement } from '../../test/harness/faulty-database.ts'
import { checkoutBody, situationOf, type TestAccount } from '../../test/harness/given.ts'
import { startTestService, testService } from '../../test/harness/test-service.ts'
import { DAY_MS, MINUTE_MS } from '../kernel/calendar.ts'
import { clientConfig } from '../platform/database/database.ts'
import { sweepExpiries, sweepIdempotencyKeys } from './sweeps.ts'

const it = testService()

const void_ = (account: TestAccount, sale: { uuid: string }) => account.api.put(`/v1.1/transactions/${sale.uuid}/void`)

describe('the expiry sweep', () => {
  test('cancels a sale the moment after its expiry, not at it', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { maxAge: 10 })
    it.clock.advance(10 * MINUTE_MS)
    expect(await sweepExpiries(it.service.sweeps)).toBe(0)
    expect(await situationOf(account, sale)).toBe('PENDING')
    it.clock.advance(1)
    expect(await sweepExpiries(it.service.sweeps)).toBe(1)
    expect(await situationOf(account, sale)).toBe('CANCELLED')
  })

  test('leaves paid and voided sales as they are, and posts nothing', async () => {
    const account = await it.given.account()
    const [paid, voided, open] = [
      await it.given.paidSale(account, { maxAge: 1 }),
      await it.given.cancelledSale(account, { maxAge: 1 }),
      await it.given.sale(account, { maxAge: 1 }),
    ]
    it.clock.advance(DAY_MS)
    expect(await sweepExpiries(it.service.sweeps)).toBe(1)
    const situations = await Promise.all([paid, voided, open].map((sale) => situationOf(account, sale)))
    expect(situations).toEqual(['PAID', 'CANCELLED', 'CANCELLED'])
    expect((await account.api.get('/v1.1/statement')).body.totalElements).toBe(2)
    expect(await sweepExpiries(it.service.sweeps)).toBe(0)
  })

  test('after a long stop finds everything that expired meanwhile, in more than one batch', async () => {
    const account = await it.given.account()
    for (let batch = 0; batch < 6; batch += 1)
      await Promise.all(Array.from({ length: 100 }, () => it.given.sale(account, { maxAge: 1 })))
    it.clock.advance(30 * DAY_MS)
    expect(await sweepExpiries(it.service.sweeps)).toBe(600)
    const list = (await account.api.get('/v1.1/transactions?situation=PENDING')).body
    expect(list.totalElements).toBe(0)
    const [counted] = (await it.service.metrics.expired.get()).values
    expect(counted!.value).toBeGreaterThanOrEqual(600)
  })

  test('takes a renewed sale by its new expiry', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { maxAge: 1 })
    it.clock.advance(5 * MINUTE_MS)
    await it.sweep()
    await account.api.put(`/v1.1/checkout/transparent/${sale.uuid}`, { maxAge: 30 })
    it.clock.advance(29 * MINUTE_MS)
    expect(await sweepExpiries(it.service.sweeps)).toBe(0)
    it.clock.advance(2 * MINUTE_MS)
    expect(await sweepExpiries(it.service.sweeps)).toBe(1)
  })

  test('passes over a sale that somebody holds and takes it the next time', async () => {
    const account = await it.given.account()
    const [held, free] = [await it.given.sale(account, { maxAge: 1 }), await it.given.sale(account, { maxAge: 1 })]
    it.clock.advance(5 * MINUTE_MS)
    const holder = new pg.Client(clientConfig(it.connection))
    await holder.connect()
    await holder.query('begin')
    await holder.query('select 1 from sale where id = $1 for update', [held.uuid])
    expect(await sweepExpiries(it.service.sweeps)).toBe(1)
    expect([await situationOf(account, held), await situationOf(account, free)]).toEqual(['PENDING', 'CANCELLED'])

    await holder.query('rollback')
    await holder.end()
    it.clock.advance(5 * MINUTE_MS)
    expect(await sweepExpiries(it.service.sweeps)).toBe(1)
    expect(await situationOf(account, held)).toBe('CANCELLED')
  })

  test('follows the clock of an account that runs ahead, and of no other', async () => {
    const [traveller, neighbour] = [await it.given.account(), await it.given.account()]
    await traveller.api.post('/v1.1/sandbox/clock/advance', { hours: 5 })
    const sales = [
      await it.given.sale(traveller, { maxAge: 60 }),
      await it.given.sale(neighbour, { maxAge: 6 * 60 }),
    ] as const
    it.clock.advance(61 * MINUTE_MS)
    expect(await sweepExpiries(it.service.sweeps)).toBe(1)
    expect(await situationOf(traveller, sales[0])).toBe('CANCELLED')
    expect(await situationOf(neighbour, sales[1])).toBe('PENDING')
  })

  test('goes on when a sale it was about to expire is voided meanwhile', async () => {
    const account = await it.given.account()
    await account.api.post('/v1.1/sandbox/clock/advance', { hours: 5 })
    const [voided, open] = [await it.given.sale(account, { maxAge: 1 }), await it.given.sale(account, { maxAge: 1 })]
    it.clock.advance(2 * MINUTE_MS)
    onStatement(it.service.db, 'sale_due_of_account', { after: () => void_(account, voided) })
    expect(await sweepExpiries(it.service.sweeps)).toBe(1)
    expect([await situationOf(account, voided), await situationOf(account, open)]).toEqual(['CANCELLED', 'CANCELLED'])
  })

  test('two processes that sweep together cancel each sale once', async () => {
    const account = await it.given.account()
    await Promise.all(Array.from({ length: 40 }, () => it.given.sale(account, { maxAge: 1 })))
    it.clock.advance(2 * MINUTE_MS)
    const counts = await Promise.all([1, 2, 3, 4].map(() => sweepExpiries(it.service.sweeps)))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40)
    expect((await account.api.get('/v1.1/transactions?situation=CANCELLED')).body.totalElements).toBe(40)
  })
})

describe('the sweep of idempotency keys', () => {
  const keys = async (service: Pick<typeof it, 'rows'>) =>
    (await service.rows<{ key: string }>('select key from idempotency_key order by key')).map(({ key }) => key)

  test('forgets keys after 24 hours of real time, however many there are', async () => {
    const own = await startTestService()
    const account = await own.given.account()
    const create = (key: string) =>
      account.api.post('/v1.1/checkout/transparent', checkoutBody(), { headers: { 'idempotency-key': key } })
    await create('old')
    await own.rows(
      `insert into idempotency_key (account_id, key, request_hash, created_at)
       select account_id, 'old ' || n, request_hash, created_at from idempotency_key, generate_series(1, 2500) n`,
    )
    own.clock.advance(1)
    await create('young')
    own.clock.advance(DAY_MS - 1)
    await sweepIdempotencyKeys(own.service.sweeps)
    expect(await keys(own)).toEqual(['young'])
    own.clock.advance(1)
    await sweepIdempotencyKeys(own.service.sweeps)
    expect(await keys(own)).toEqual([])
    await own.stop()
  })
})
