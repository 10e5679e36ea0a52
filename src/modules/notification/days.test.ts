import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { onStatement } from '../../../test/harness/faulty-database.ts'
import type { TestAccount } from '../../../test/harness/given.ts'
import { startReceiver } from '../../../test/harness/receiver.ts'
import { startTestService, type TestService } from '../../../test/harness/test-service.ts'
import { DAY_MS, type Instant } from '../../kernel/calendar.ts'
import { clientConfig } from '../../platform/database/database.ts'
import { sweepNotificationDays } from '../../worker/sweeps.ts'
import { keepNotificationDays } from './days.ts'

/** A service whose clock stands at noon of 16 November, in UTC three hours later. */
async function service({ deliveries = false, env = {} } = {}) {
  const it = await startTestService({ deliveries, env })
  onTestFinished(() => it.stop())
  const keep = (keepDays = 90) => keepNotificationDays(it.service.db, it.clock.now(), keepDays)
  return { it, keep }
}
async function shopOf(it: TestService, url = 'http://127.0.0.1:1/hook') {
  const account = await it.given.account()
  await account.api.put('/v1.1/account/notifications', { payment: { url } })
  return account
}
const tables = ['notification', 'notification_attempt']
const namesOf = (...days: string[]) => tables.flatMap((table) => days.map((day) => `${table}_${day}`))
const week = ['20261116', '20261117', '20261118', '20261119', '20261120', '20261121', '20261122', '20261123']
const partitionsOf = async (it: TestService) =>
  (
    await it.rows<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits
       where inhparent in ('notification'::regclass, 'notification_attempt'::regclass) order by 1`,
    )
  )
    .map(({ name }) => name)
    .filter((name) => !name.endsWith('_default'))
const placesOf = (it: TestService, table: string) =>
  it.rows(`select tableoid::regclass::text as place, count(*) as n from ${table} group by 1 order by 1`)
const attemptsOf = async (account: TestAccount, sale: { uuid: string }) =>
  (await account.api.get(`/v1.1/transactions/${sale.uuid}/webhook`)).body.notifications

/** Somebody who reads for a long time, such as a backup. */
async function reader(it: TestService, sql: string) {
  const client = new pg.Client(clientConfig(it.connection))
  client.on('error', () => {})
  await client.connect()
  await client.query('begin')
  await client.query(sql)
  return {
    async leave() {
      await client.query('rollback')
      await client.end()
    },
  }
}

describe('the days of notifications are made', () => {
  test('for today and the seven days ahead, and no day twice', async () => {
    const { it, keep } = await service()
    expect(await keep()).toEqual({ made: namesOf(...week), dropped: [], undelivered: 0 })
    expect(await partitionsOf(it)).toEqual(namesOf(...week).sort())
    expect(await keep()).toEqual({ made: [], dropped: [], undelivered: 0 })
  })

  test('one more a day', async () => {
    const { it, keep } = await service()
    await keep()
    it.clock.advance(DAY_MS)
    expect((await keep()).made).toEqual(namesOf('20261124'))
  })

  test('by the day of UTC', async () => {
    const { it, keep } = await service()
    it.clock.set('2026-11-16 20:59:59')
    expect((await keep()).made[0]).toBe('notification_20261116')
    it.clock.set('2026-11-16 21:00:00')
    expect((await keep()).made).toEqual(namesOf('20261124'))
  })

  test('over the end of a year and a leap day', async () => {
    const { it, keep } = await service()
    it.clock.set('2027-12-30 12:00:00')
    expect((await keep()).made.slice(0, 3)).toEqual(
      ['20271230', '20271231', '20280101'].map((day) => `notification_${day}`),
    )
    it.clock.set('2028-02-28 12:00:00')
    expect((await keep(3_650)).made.slice(0, 3)).toEqual(
      ['20280228', '20280229', '20280301'].map((day) => `notification_${day}`),
    )
  })

  test('with the keys and indexes of the table', async () => {
    const { it, keep } = await service()
    await keep()
    const indexes = await it.rows<{ table: string; n: number }>(
      `select tablename as table, count(*) as n from pg_indexes where tablename in ('notification_20261116', 'notification_attempt_20261116')
       group by 1 order by 1`,
    )
    expect(indexes).toEqual([
      { table: 'notification_20261116', n: 3 },
      { table: 'notification_attempt_20261116', n: 2 },
    ])
    const checks = await it.rows(
      `select 1 from pg_constraint where conrelid = 'notification_attempt_20261116'::regclass and contype = 'c' and conname like '%status%'`,
    )
    expect(checks).toHaveLength(1)
  })

  test('and rows land in them: a notification by its day, its attempts beside it however late they are', async () => {
    const { it, keep } = await service({ deliveries: true, env: { QUITADO_WEBHOOK_RETRY_SECONDS: '86400' } })
    const receiver = await startReceiver()
    onTestFinished(() => receiver.stop())
    const account = await shopOf(it, receiver.url)
    receiver.answer(500)
    await keep()
    const sale = await it.given.paidSale(account)
    await it.deliver()
    it.clock.advance(1.05 * DAY_MS)
    receiver.answer(200)
    await it.deliver()
    await it.given.paidSale(account)
    await it.deliver()
    expect(await placesOf(it, 'notification')).toEqual([
      { place: 'notification_20261116', n: 1 },
      { place: 'notification_20261117', n: 1 },
    ])
    expect(await placesOf(it, 'notification_attempt')).toEqual([
      { place: 'notification_attempt_20261116', n: 2 },
      { place: 'notification_attempt_20261117', n: 1 },
    ])
    expect(await attemptsOf(account, sale)).toHaveLength(2)
    expect(await it.violations()).toEqual([])
  })
})

describe('days beyond those that are kept', () => {
  test('are dropped with their attempts; the last day that is kept stays', async () => {
    const { it, keep } = await service({ deliveries: true })
    const receiver = await startReceiver()
    onTestFinished(() => receiver.stop())
    const account = await shopOf(it, receiver.url)
    await keep(2)
    const old = await it.given.paidSale(account)
    await it.deliver()
    it.clock.advance(DAY_MS)
    const young = await it.given.paidSale(account)
    await it.deliver()
    it.clock.advance(DAY_MS)
    expect((await keep(2)).dropped).toEqual([])
    it.clock.advance(DAY_MS)
    expect(await keep(2)).toMatchObject({
      dropped: ['notification_20261116', 'notification_attempt_20261116'],
      undelivered: 0,
    })
    expect([await attemptsOf(account, old), (await attemptsOf(account, young)).length]).toEqual([[], 1])
    expect((await account.api.get('/v1.1/notifications')).body.totalElements).toBe(1)
    expect((await account.api.post(`/v1.1/transactions/${old.uuid}/webhook/redeliver`)).http).toBe(404)
    expect(await it.violations()).toEqual([])
  })

  test('are dropped all at once after a long stop', async () => {
    const { it, keep } = await service()
    await keep()
    it.clock.advance(100 * DAY_MS)
    const { dropped } = await keep()
    expect([...dropped].sort()).toEqual(namesOf(...week).sort())
  })

  test('take with them what waited in vain, and say how many', async () => {
    const { it, keep } = await service()
    const account = await shopOf(it)
    await keep(1)
    for (const _sale of [1, 2, 3]) await it.given.paidSale(account)
    it.clock.advance(DAY_MS)
    const young = await it.given.paidSale(account)
    it.clock.advance(DAY_MS)
    expect(await keep(1)).toMatchObject({ undelivered: 3 })
    expect(await it.rows('select resource_id from notification_queue')).toEqual([{ resource_id: young.uuid }])
    expect(await it.violations()).toEqual([])
    expect(await keep(1)).toMatchObject({ dropped: [], undelivered: 0 })
  })
})

describe('rows in the default partition', () => {
  test('keep their own day from being made, no other, and nothing fails', async () => {
    const { it, keep } = await service()
    const account = await shopOf(it)
    const early = await it.given.paidSale(account)
    expect(await placesOf(it, 'notification')).toEqual([{ place: 'notification_default', n: 1 }])
    const made = namesOf(...week).filter((name) => name !== 'notification_20261116')
    expect(await keep()).toEqual({ made, dropped: [], undelivered: 0 })
    expect((await keep()).made).toEqual([])

    await it.given.paidSale(account)
    it.clock.advance(DAY_MS)
    await it.given.paidSale(account)
    expect(await placesOf(it, 'notification')).toEqual([
      { place: 'notification_20261117', n: 1 },
      { place: 'notification_default', n: 2 },
    ])
    expect((await account.api.get('/v1.1/notifications')).body.totalElements).toBe(3)
    expect(await attemptsOf(account, early)).toEqual([])
  })

  test('go when their time has come, with their attempts and what still waits', async () => {
    const { it, keep } = await service({ deliveries: true })
    const receiver = await startReceiver()
    onTestFinished(() => receiver.stop())
    const account = await shopOf(it, receiver.url)
    await it.given.paidSale(account)
    await it.deliver()
    receiver.answer(500)
    await it.given.paidSale(account)
    await it.deliver()
    await receiver.stop()
    await it.service.deliveries.stop()
    expect((await keep(1)).made).not.toContain('notification_20261116')
    expect(await placesOf(it, 'notification_attempt')).toEqual([{ place: 'notification_attempt_default', n: 2 }])
    // The first day that has partitions takes them along.
    it.clock.advance(3 * DAY_MS)
    expect(await keep(1)).toMatchObject({ undelivered: 1 })
    for (const table of ['notification', 'notification_attempt', 'notification_queue'])
      expect(await it.rows(`select 1 from ${table}`)).toEqual([])
  })
})

describe('when somebody else is there', () => {
  test('two at once share the work', async () => {
    const { it, keep } = await service()
    const kept = await Promise.all([keep(), keep()])
    const made = kept.flatMap((each) => each.made)
    expect(new Set(made).size).toBe(made.length)
    await keep()
    expect(await partitionsOf(it)).toEqual(namesOf(...week).sort())
  })

  test('a day that another process made meanwhile is no failure', async () => {
    const { it, keep } = await service()
    onStatement(it.service.db, 'notification_days', { after: () => keep() })
    expect(await keep()).toMatchObject({ undelivered: 0 })
    expect(await partitionsOf(it)).toEqual(namesOf(...week).sort())
  })

  test('a day that another process dropped meanwhile is no failure', async () => {
    const { it, keep } = await service()
    await keep()
    it.clock.advance(100 * DAY_MS)
    await keep(3_650)
    // Each table is looked at to make its days and again to drop them: it is the last look that is outrun.
    let looks = 0
    const other = { after: () => (++looks === 4 ? keep() : undefined) }
    onStatement(it.service.db, 'notification_days', other, 4)
    expect(await keep()).toMatchObject({ undelivered: 0 })
    expect((await partitionsOf(it)).some((name) => name.includes('202611'))).toBe(false)
  })

  test('a reader who holds the tables is not waited for; the next run does the rest', async () => {
    const { it, keep } = await service()
    const account = await shopOf(it)
    await keep()
    it.clock.advance(100 * DAY_MS)
    const holding = await reader(
      it,
      'select (select count(*) from notification), (select count(*) from notification_attempt)',
    )
    const meanwhile = Promise.all([keep(), it.given.paidSale(account), it.given.paidSale(account)])
    const [kept] = await meanwhile
    expect(kept).toMatchObject({ dropped: [], undelivered: 0 })
    // Nobody is left behind a lock that was asked for.
    expect((await it.given.paidSale(account)).uuid).toBeTruthy()
    await holding.leave()
    const after = await keep()
    expect([...after.dropped].sort()).toEqual(namesOf(...week).sort())
    expect((await it.rows('select 1 from notification')).length).toBe(3)
  })

  // A day's attempts go although its notifications stay: what was delivered then reads as FAILED without an attempt.
  test('a reader of one table keeps the whole day: notifications never stay without their attempts', async () => {
    const { it, keep } = await service({ deliveries: true })
    const receiver = await startReceiver()
    onTestFinished(() => receiver.stop())
    const account = await shopOf(it, receiver.url)
    await keep(1)
    await it.given.paidSale(account)
    await it.deliver()
    it.clock.advance(2 * DAY_MS)
    const holding = await reader(it, 'lock table notification in access share mode')
    await keep(1)
    await holding.leave()
    expect(await it.violations()).toEqual([])
    const { result } = (await account.api.get('/v1.1/notifications')).body
    expect(result).toMatchObject([{ state: 'DELIVERED', attempts: 1 }])
  })

  test('a reader of the rows that wait to be attached keeps only the making back', async () => {
    const { it, keep } = await service()
    const holding = await reader(it, 'lock table notification_default in access share mode')
    const { made } = await keep()
    expect(made).toEqual(week.map((day) => `notification_attempt_${day}`))
    await holding.leave()
    expect((await keep()).made).toEqual(week.map((day) => `notification_${day}`))
  })
})

describe('the worker’s job', () => {
  test('keeps the days of the setting and raises the alarm for what was given up', async () => {
    const { it } = await service({ env: { QUITADO_WEBHOOK_KEEP_DAYS: '3' } })
    const account = await shopOf(it)
    const alarmed = async () =>
      (await it.service.metrics.alarms.get()).values.reduce((sum, { value }) => sum + value, 0)
    await sweepNotificationDays(it.service.sweeps)
    expect(await partitionsOf(it)).toEqual(namesOf(...week).sort())
    for (const _sale of [1, 2]) await it.given.paidSale(account)
    it.clock.advance(3 * DAY_MS)
    await sweepNotificationDays(it.service.sweeps)
    expect([await alarmed(), await it.rows('select 1 from notification_queue')]).toMatchObject([0, { length: 2 }])
    it.clock.advance(DAY_MS)
    await sweepNotificationDays(it.service.sweeps)
    expect(await alarmed()).toBe(1)
    const line = it.logged.filter(({ alarm }) => alarm === true).at(-1)
    expect(line).toMatchObject({ level: 50, count: 2, msg: expect.stringContaining('given up') })
    expect(await it.rows('select 1 from notification_queue')).toEqual([])
  })

  test('is silent when everything was delivered', async () => {
    const { it } = await service({ env: { QUITADO_WEBHOOK_KEEP_DAYS: '1' } })
    await sweepNotificationDays(it.service.sweeps)
    it.clock.advance((5 * DAY_MS) as Instant)
    await sweepNotificationDays(it.service.sweeps)
    expect(it.logged.filter(({ alarm }) => alarm === true)).toEqual([])
  })
})
