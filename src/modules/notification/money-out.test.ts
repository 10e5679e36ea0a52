import { describe, expect, test } from 'vitest'
import { pay } from '../../../test/harness/given.ts'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import { accepted, hear, payOut, railReport, refund, simulate } from '../../../test/harness/money-out.ts'
import { testService } from '../../../test/harness/test-service.ts'
import type { OutflowKind } from '../../rail/rail.ts'

const it = testService({ deliveries: true })
const { merchant, settle, exhaust, toNextRetry } = merchants(it)
const ACTIVE = { status: 'ACTIVE' }
const SUSPENDED = { status: 'SUSPENDED' }

async function shop(): Promise<{ shop: Merchant; sale: { uuid: string } }> {
  const account = await merchant((hook) => ({
    refund: { url: `${hook}/refund`, enabled: true },
    reversal: { url: `${hook}/reversal`, enabled: true },
    payout: { url: `${hook}/payout`, enabled: true },
  }))
  await account.api.put('/v1.1/sandbox/account', { autoSettle: false })
  return { shop: account, sale: await it.given.paidSale(account) }
}

type Case = readonly [event: string, kind: OutflowKind, how: string]
const cases: readonly Case[] = [
  ['REFUND_PAID', 'REFUND', 'paid'],
  ['REVERSAL_PAID', 'REVERSAL', 'paid'],
  ['REVERSAL_CANCEL', 'REVERSAL', 'cancelled'],
  ['PAYOUT_PAID', 'PAYOUT', 'paid'],
  ['PAYOUT_FAILED', 'PAYOUT', 'failed/PE0002'],
]
const make: Record<OutflowKind, (shop: Merchant, sale: { uuid: string }) => Promise<string>> = {
  REFUND: (account, sale) => accepted(refund(account, sale, { amount: 10 })),
  PAYOUT: (account) => accepted(payOut(account)),
  REVERSAL: async (account, sale) => (await pay(account, sale)).body.reversal.uuid,
}

/** Made and told of, and about to end; `news` is what comes after. */
async function underWay(kind: OutflowKind) {
  const { shop: account, sale } = await shop()
  const uuid = await make[kind](account, sale)
  await settle()
  const before = account.calls().length
  return { account, sale, uuid, news: () => account.calls().slice(before) }
}
const end = (account: Merchant, kind: OutflowKind, uuid: string, how: string) =>
  simulate(account, kind.toLowerCase(), uuid, how)
const redeliver = (account: Merchant, uuid: string) => account.api.post(`/v1.1/transactions/${uuid}/webhook/redeliver`)
const attemptsOf = async (account: Merchant, uuid: string, filters = '') =>
  (await account.api.get(`/v1.1/transactions/${uuid}/webhook${filters}`)).body.notifications as {
    eventType: string
    status: string
  }[]

describe.each(cases)('%s', (event, kind, how) => {
  test('is tried again after a failed attempt, with the same bytes, until it arrives', async () => {
    const { account, uuid, news } = await underWay(kind)
    account.answer(503)
    await end(account, kind, uuid, how)
    await settle()
    toNextRetry()
    account.answer(200)
    await settle()
    toNextRetry()
    await settle()
    expect(news().map(({ text }) => text)).toEqual([news()[0]!.text, news()[0]!.text])
    expect(new Set(news().map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    const statuses = (await attemptsOf(account, uuid, `?eventType=${event}`)).map(({ status }) => status)
    expect(statuses).toEqual(['SUCCESS', 'HTTP_STATUS_NOT_EQUALS_200'])
  })

  test('is given up after six attempts, and is then among those that failed', async () => {
    const { account, uuid, news } = await underWay(kind)
    account.answer(500)
    await end(account, kind, uuid, how)
    await exhaust()
    expect(news()).toHaveLength(6)
    const failed = (await account.api.get(`/v1.1/notifications?state=FAILED&eventType=${event}`)).body
    expect([failed.totalElements, failed.result[0].eventType]).toEqual([1, event])
  })

  test('is sent again by the uuid of what it tells of', async () => {
    const { account, uuid, news } = await underWay(kind)
    await end(account, kind, uuid, how)
    await settle()
    const { http, body } = await redeliver(account, uuid)
    expect([http, body]).toEqual([202, { status: 0, message: 'success', queued: 1 }])
    await settle()
    const [first, again] = news()
    expect([news().length, again!.text, again!.url]).toEqual([2, first!.text, first!.url])
    expect(again!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
  })

  test('is found by its name, under its own uuid, its sale’s and in the list', async () => {
    const { account, sale, uuid } = await underWay(kind)
    await end(account, kind, uuid, how)
    await settle()
    const names = async (of: string) =>
      (await attemptsOf(account, of, `?eventType=${event}`)).map(({ eventType }) => eventType)
    expect(await names(uuid)).toEqual([event])
    expect(await names(sale.uuid)).toEqual(kind === 'PAYOUT' ? [] : [event])
    const listed = (await account.api.get(`/v1.1/notifications?eventType=${event}`)).body.result
    expect(listed.map(({ eventType, state }: Record<string, string>) => [eventType, state])).toEqual([
      [event, 'DELIVERED'],
    ])
    const others = cases.map(([name]) => name).filter((name) => name !== event)
    for (const other of others) expect(await attemptsOf(account, uuid, `?eventType=${other}`)).toEqual([])
  })

  test('comes also when its account was suspended meanwhile, and the money moves', async () => {
    const { account, uuid, news } = await underWay(kind)
    const path = `/operator/v1/accounts/${account.id}`
    expect((await it.operator.send('PATCH', path, SUSPENDED)).http).toBe(200)
    expect((await account.api.get('/v1.1/balance')).http).toBe(403)
    const outcome = how === 'paid' ? 'PAID' : kind === 'PAYOUT' ? 'FAILED' : 'CANCELLED'
    const error = outcome === 'FAILED' ? 'PE0002' : null
    expect(await hear(it, await railReport(it, account, kind, uuid, { outcome, error }))).toBe('applied')
    await settle()
    expect(news()).toHaveLength(1)
    await it.operator.send('PATCH', path, ACTIVE)
    expect((await attemptsOf(account, uuid, `?eventType=${event}`)).length).toBe(1)
    expect((await account.api.get('/v1.1/balance')).body.blocked).toBe(0)
  })
})

describe('what settles by itself', () => {
  test.each(['REFUND', 'PAYOUT'] as const)('%s does so also when its account was suspended meanwhile', async (kind) => {
    const { shop: account, sale } = await shop()
    await account.api.put('/v1.1/sandbox/account', { autoSettle: true })
    const uuid = await make[kind](account, sale)
    const path = `/operator/v1/accounts/${account.id}`
    await it.operator.send('PATCH', path, SUSPENDED)
    it.clock.advance(2_000)
    await it.sweep()
    await it.operator.send('PATCH', path, ACTIVE)
    expect((await account.api.get(`/v1.1/transactions/${uuid}`)).body.situation).toBe('PAID')
  })
})
