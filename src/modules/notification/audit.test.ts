import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startReceiver } from '../../../test/harness/receiver.ts'
import { type StartedService, startTestService } from '../../../test/harness/test-service.ts'
import { notificationChecks } from './audit.ts'

let it: StartedService

/** One that was delivered, one that failed to its end, one that waits after two attempts, one that waits for its first. */
beforeAll(async () => {
  it = await startTestService({ deliveries: true })
  const receiver = await startReceiver()
  const account = await it.given.account()
  await account.api.put('/v1.1/account/notifications', { payment: { url: receiver.url } })
  const attempt = async () => {
    await it.deliver()
    it.clock.advance(63_000)
  }
  await it.given.paidSale(account, { referenceCode: 'delivered' })
  await attempt()
  receiver.answer(500)
  await it.given.paidSale(account, { referenceCode: 'failed' })
  for (let count = 0; count < 6; count += 1) await attempt()
  await it.given.paidSale(account, { referenceCode: 'retried' })
  for (let count = 0; count < 2; count += 1) await attempt()
  await it.service.deliveries.stop()
  await receiver.stop()
  await it.given.paidSale(account, { referenceCode: 'waiting' })
})
afterAll(() => it.stop())

const the = (reference: string) =>
  `(select n.id from notification n join sale s on s.id = n.resource_id where s.reference_code = '${reference}')`
const [waitsOrEnded, countsRightly, gapless, ownTurns] = notificationChecks.map(({ name }) => name) as [
  string,
  string,
  string,
  string,
]
const nowhere = `'00000000-0000-7000-8000-0000000000ff'::uuid`

const corruptions: { what: string; sql: string; broken: string[] }[] = [
  {
    what: 'one that waited for its first attempt and was forgotten',
    sql: `delete from notification_queue where notification_id = ${the('waiting')}`,
    broken: [waitsOrEnded],
  },
  {
    what: 'one that waited for a retry and was forgotten',
    sql: `delete from notification_queue where notification_id = ${the('retried')}`,
    broken: [waitsOrEnded],
  },
  {
    what: 'one whose attempts were all lost',
    sql: `delete from notification_attempt where notification_id = ${the('delivered')}`,
    broken: [waitsOrEnded],
  },
  {
    what: 'one whose last attempt is not the last',
    sql: `update notification_attempt set last = false where notification_id = ${the('failed')} and number = 6`,
    broken: [waitsOrEnded],
  },
  {
    what: 'one whose last attempt was lost',
    sql: `delete from notification_attempt where notification_id = ${the('failed')} and number = 6`,
    broken: [waitsOrEnded],
  },
  {
    what: 'one that waits without being there',
    sql: `delete from notification where id = ${the('waiting')}`,
    broken: [countsRightly],
  },
  {
    what: 'one that waits in the place of another resource',
    sql: `update notification_queue set resource_id = ${nowhere} where notification_id = ${the('waiting')}`,
    broken: [waitsOrEnded, countsRightly],
  },
  {
    what: 'an attempt more than was counted',
    sql: `update notification_queue set attempts = attempts - 1 where notification_id = ${the('retried')}`,
    broken: [countsRightly],
  },
  {
    what: 'an attempt less than was counted',
    sql: `update notification_queue set attempts = attempts + 1 where notification_id = ${the('waiting')}`,
    broken: [countsRightly],
  },
  {
    what: 'a gap between attempts',
    sql: `delete from notification_attempt where notification_id = ${the('failed')} and number = 3`,
    broken: [gapless],
  },
  {
    what: 'a first attempt that is not number 1',
    sql: `update notification_attempt set number = 2 where notification_id = ${the('delivered')}`,
    broken: [gapless],
  },
  {
    what: 'attempts of a notification that is not there',
    sql: `delete from notification where id = ${the('delivered')}`,
    broken: [gapless],
  },
  {
    what: 'two with one turn',
    sql: `insert into notification_attempt select account_id, ${nowhere}, number, at, duration_ms, status, response_code, failure, last, url,
        request_headers, response_headers, response_body from notification_attempt where notification_id = ${the('delivered')};
      insert into notification select account_id, ${nowhere}, resource_id, turn, also_id, event, created_at, callback_url, url, payload
        from notification where id = ${the('delivered')};`,
    broken: [ownTurns],
  },
]

describe('the audit of notifications', () => {
  test('finds nothing wrong with those that are right', async () => expect(await it.brokenBy('select 1')).toEqual([]))

  test.each(corruptions)('finds $what', async ({ sql, broken }) => {
    expect((await it.brokenBy(sql)).sort()).toEqual([...broken].sort())
  })

  test('has a corruption here for each of its four rules', () => {
    expect(notificationChecks).toHaveLength(4)
    expect(new Set(corruptions.flatMap(({ broken }) => broken))).toEqual(
      new Set(notificationChecks.map(({ name }) => name)),
    )
  })
})
