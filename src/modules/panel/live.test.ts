import { describe, expect, onTestFinished, test } from 'vitest'
import { type EventStream, openStream } from '../../../test/harness/event-stream.ts'
import { pay } from '../../../test/harness/given.ts'
import { merchants } from '../../../test/harness/merchants.ts'
import { asPage, cookieOf, PASSWORD, type SignedIn, signedIn } from '../../../test/harness/pages.ts'
import { recurrences, simulateMandate, simulateRecurrence } from '../../../test/harness/recurrences.ts'
import { startTestService, type TestService, testService } from '../../../test/harness/test-service.ts'
import { HOUR_MS } from '../../kernel/calendar.ts'
import type { Change, Topic } from './watch.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const given = recurrences(it)

async function cookieFor(shop: SignedIn, service: TestService = it): Promise<string> {
  return cookieOf(await asPage(service.api).post('/panel/api/session', { email: shop.email, password: PASSWORD }))
}

async function listen(cookie: string, service: TestService = it): Promise<EventStream> {
  const stream = await openStream(service, '/panel/api/live', { cookie })
  onTestFinished(() => stream.close())
  if (stream.http === 200) expect((await stream.next()).event).toBe('ready')
  return stream
}

/** Changes until all of these topics have come, in one or in several; with the lines of all of them. */
async function heard(stream: EventStream, ...topics: Topic[]): Promise<Change['transfers']> {
  const missing = new Set(topics)
  const transfers: Change['transfers'][number][] = []
  while (missing.size > 0) {
    const { event, data } = await stream.next()
    expect(event).toBe('change')
    const change = data as Change
    for (const topic of change.topics) missing.delete(topic)
    transfers.push(...change.transfers)
  }
  return transfers
}

describe('live', () => {
  test('a charge, its payment, the attempt to tell of it and a refund are heard of', async () => {
    const shop = await signedIn(it)
    const receiver = await merchant()
    await shop.api.put('/v1.1/account/notifications', { payment: { url: receiver.hook } })
    const stream = await listen(await cookieFor(shop))
    const sale = await it.given.sale(shop)
    await heard(stream, 'sales')
    await pay(shop, sale)
    expect(await heard(stream, 'sales', 'money', 'deliveries')).toContainEqual({ kind: 'salePaid', source: sale.uuid })
    await settle()
    await shop.api.put(`/v1.1/transactions/${sale.uuid}/refund`, { amount: 1 })
    expect((await heard(stream, 'money')).map(({ kind }) => kind)).toEqual(['refundHeld'])
  })

  test('a mandate, its approval and its charge are heard of, with nobody to be told', async () => {
    const shop = await signedIn(it)
    const stream = await listen(await cookieFor(shop))
    const mandate = await given.mandate(shop)
    await heard(stream, 'recurrence')
    expect((await simulateMandate(shop, mandate, 'approved')).http).toBe(200)
    await heard(stream, 'recurrence')
    expect((await simulateRecurrence(shop, mandate, 'fail/AC03')).http).toBe(200)
    await heard(stream, 'recurrence')
  })

  test('a jump of the clock and its way back are heard of, though nothing was due', async () => {
    const shop = await signedIn(it)
    const stream = await listen(await cookieFor(shop))
    expect((await shop.api.post('/v1.1/sandbox/clock/advance', { days: 3 })).http).toBe(200)
    await heard(stream, 'clock')
    expect((await shop.api.post('/v1.1/sandbox/clock/reset')).http).toBe(200)
    await heard(stream, 'clock')
  })

  test('what another process writes is heard of too', async () => {
    const shop = await signedIn(it)
    const stream = await listen(await cookieFor(shop))
    // Nothing of this process knows of it: it is in the database, and that is all.
    const sale = await it.given.sale(shop)
    await heard(stream, 'sales')
    await it.rows(
      'update sale_hour set pending = pending - 1, cancelled = cancelled + 1 where account_id = (select account_id from sale where id = $1)',
      [sale.uuid],
    )
    await heard(stream, 'sales')
    await it.rows(
      'update sale_hour set pending = pending + 1, cancelled = cancelled - 1 where account_id = (select account_id from sale where id = $1)',
      [sale.uuid],
    )
  })

  test('nothing of another account is heard of', async () => {
    const [one, two] = [await signedIn(it), await signedIn(it)]
    const stream = await listen(await cookieFor(one))
    await it.given.paidSale(two)
    const own = await it.given.paidSale(one)
    const transfers = await heard(stream, 'money')
    expect(new Set(transfers.map(({ source }) => source))).toEqual(new Set([own.uuid]))
  })

  test('ends with the session: when somebody signs out, and when it is over', async () => {
    const shop = await signedIn(it)
    const cookie = await cookieFor(shop)
    const [one, two] = [await listen(cookie), await listen(await cookieFor(shop))]
    expect((await asPage(it.api).send('DELETE', '/panel/api/session', undefined, { headers: { cookie } })).http).toBe(
      200,
    )
    expect((await one.next()).event).toBe('signedOut')
    await one.ended
    // A stream is no use: the session ends although it is open.
    it.clock.advance(2 * HOUR_MS)
    expect((await two.next()).event).toBe('signedOut')
    await two.ended
  })

  test('needs a session, and an account has twenty at most', async () => {
    expect((await openStream(it, '/panel/api/live', {})).http).toBe(401)
    const cookie = await cookieFor(await signedIn(it))
    const streams = await Promise.all(Array.from({ length: 20 }, () => listen(cookie)))
    expect((await listen(cookie)).http).toBe(429)
    streams[0]!.close()
    await expect.poll(async () => (await listen(cookie)).http).toBe(200)
  })

  test('ends with the service, which does not wait for it', async () => {
    const own = await startTestService()
    const shop = await signedIn(own)
    const stream = await listen(await cookieFor(shop, own), own)
    const [stopped] = await Promise.all([own.stop().then(() => 'stopped'), stream.ended])
    expect(stopped).toBe('stopped')
  })
})
