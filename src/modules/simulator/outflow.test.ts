import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anotherService } from '../../../test/harness/faulty-database.ts'
import { pay, type TestAccount } from '../../../test/harness/given.ts'
import { accepted, hear, moneyOf, payOut, railReport, refund, simulate } from '../../../test/harness/money-out.ts'
import { testService } from '../../../test/harness/test-service.ts'
import type { OutflowKind } from '../../rail/rail.ts'

const it = testService()

/** 99.01 of a paid sale; nothing settles by itself. */
async function shop(): Promise<{ account: TestAccount; sale: { uuid: string } }> {
  const account = await it.given.account({ autoSettle: false })
  return { account, sale: await it.given.paidSale(account) }
}
const make: Record<string, (account: TestAccount, sale: { uuid: string }) => Promise<string>> = {
  refund: (account, sale) => accepted(refund(account, sale, { amount: 40 })),
  payout: (account) => accepted(payOut(account, { amount: 40 })),
  reversal: async (account, sale) => (await pay(account, sale, { amount: 40 })).body.reversal.uuid,
}
async function underWay(kind: string) {
  const { account, sale } = await shop()
  return { account, uuid: await make[kind]!(account, sale) }
}

const ends = [
  ['refund', 'paid', 'PAID', 59.01],
  ['refund', 'cancelled', 'CANCELLED', 99.01],
  ['reversal', 'paid', 'PAID', 99.01],
  ['reversal', 'cancelled', 'CANCELLED', 139.01],
  ['payout', 'paid', 'PAID', 59.01],
  ['payout', 'failed/PE0001', 'FAILED', 99.01],
  ['payout', 'failed/PE0002', 'FAILED', 99.01],
  ['payout', 'failed/PE0003', 'FAILED', 99.01],
  ['payout', 'failed/PE0004', 'FAILED', 99.01],
] as const

const unknown = {
  status: 998,
  message: 'transaction not found',
  errorCount: 1,
  errors: [{ field: 'uuid', message: 'non-existent transaction' }],
}
const final = {
  status: -1,
  message: 'field validation failure',
  errorCount: 1,
  errors: [{ field: 'uuid', message: 'payment cannot be updated' }],
}

describe('the bank of the sandbox', () => {
  test.each(ends)(
    '%s %s: it is %s and %d is available; the same again has no effect',
    async (kind, how, status, available) => {
      const { account, uuid } = await underWay(kind)
      const first = await simulate(account, kind, uuid, how)
      expect([first.http, first.body]).toEqual([200, { status: 0, message: 'success', [kind]: { uuid, status } }])
      expect(await moneyOf(account)).toEqual({ available, blocked: 0 })
      const again = await simulate(account, kind, uuid, how)
      expect([again.http, again.body]).toEqual([200, first.body])
      expect(await moneyOf(account)).toEqual({ available, blocked: 0 })
    },
  )

  test.each([
    ['refund', 'paid', 'cancelled'],
    ['refund', 'cancelled', 'paid'],
    ['reversal', 'paid', 'cancelled'],
    ['reversal', 'cancelled', 'paid'],
    ['payout', 'paid', 'failed/PE0001'],
    ['payout', 'failed/PE0001', 'paid'],
    ['payout', 'failed/PE0001', 'failed/PE0003'],
  ])('%s %s cannot become %s, and nobody is alarmed', async (kind, first, then) => {
    const { account, uuid } = await underWay(kind)
    await simulate(account, kind, uuid, first)
    const before = await moneyOf(account)
    const { http, body } = await simulate(account, kind, uuid, then)
    expect([http, body]).toEqual([400, final])
    expect(await moneyOf(account)).toEqual(before)
    expect(await it.rows('select 1 from inbox_conflict')).toEqual([])
  })

  test('cannot pay a payout that its merchant cancelled', async () => {
    const { account, uuid } = await underWay('payout')
    await account.api.put(`/v1.1/payout/${uuid}/cancel`)
    expect((await simulate(account, 'payout', uuid, 'paid')).body).toEqual(final)
  })

  test.each(['refund', 'reversal', 'payout'])(
    'knows no %s that is unknown, another’s, of another kind, or no uuid',
    async (kind) => {
      const { account } = await shop()
      const { uuid: foreign } = await underWay(kind)
      const otherKind = await make[kind === 'refund' ? 'payout' : 'refund']!(account, await it.given.paidSale(account))
      for (const uuid of [randomUUID(), foreign, otherKind, 'nothing']) {
        const { http, body } = await simulate(account, kind, uuid, 'paid')
        expect([http, body]).toEqual([404, unknown])
      }
    },
  )

  test.each(['PE0000', 'PE0005', 'pe0001', 'x'])('fails no payout with %s', async (code) => {
    const { account, uuid } = await underWay('payout')
    const { http, body } = await simulate(account, 'payout', uuid, `failed/${code}`)
    expect([http, body.errors]).toEqual([400, [{ field: 'code', message: 'invalid value' }]])
    expect(await moneyOf(account)).toEqual({ available: 59.01, blocked: 40 })
  })

  test('ignores whatever body it gets', async () => {
    const { account, uuid } = await underWay('refund')
    const path = `/v1.1/sandbox/sim/refund/${uuid}/paid`
    expect((await account.api.post(path, { amount: 'x', uuid: 7 })).http).toBe(200)
    expect((await account.api.post(path, null)).http).toBe(200)
  })

  test('answers one key with one answer', async () => {
    const { account, uuid } = await underWay('payout')
    const headers = { 'idempotency-key': randomUUID() }
    await simulate(account, 'payout', uuid, 'paid', headers)
    const again = await simulate(account, 'payout', uuid, 'paid', headers)
    expect([again.http, again.headers['idempotency-replayed']]).toEqual([200, 'true'])
  })

  test('speaks through the door: the rail’s own report of the same end is a duplicate, of another a conflict', async () => {
    const { account, uuid } = await underWay('refund')
    await simulate(account, 'refund', uuid, 'paid')
    const report = await railReport(it, account, 'REFUND' as OutflowKind, uuid)
    expect(await hear(it, report)).toBe('duplicate')
    expect(await hear(it, { ...report, outcome: 'CANCELLED' })).toBe('conflict')
    await it.rows('delete from inbox_conflict')
  })

  test('does not exist in production', async () => {
    const { account, uuid } = await underWay('payout')
    const production = await anotherService(it, { env: 'production' })
    onTestFinished(() => production.close())
    const api = production.api.as({ 'x-api-key': account.apiKey, 'x-api-token': account.apiToken })
    for (const path of [`refund/${uuid}/paid`, `reversal/${uuid}/cancelled`, `payout/${uuid}/failed/PE0001`])
      expect((await api.post(`/v1.1/sandbox/sim/${path}`)).http).toBe(404)
    expect((await api.get(`/v1.1/payout/${uuid}`)).body.situation).toBe('PENDING')
  })
})
