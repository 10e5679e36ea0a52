import { describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import { moneyOf } from '../../../test/harness/money-out.ts'
import {
  authorizationOf,
  chargesOf,
  type MandateState,
  recurrences,
  simulateRecurrence,
  type Terms,
  type TestMandate,
  whileBanksAreSilent,
  withRetries,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const given = recurrences(it)
const NOON = '2026-11-16 12:00:00'
const names = ['approve-and-settle', 'no-funds-3x', 'approve-reject', 'cancel-by-payer'] as const
const invalid = (field: string, message: string) => ({
  status: -1,
  message: 'field validation failure',
  errorCount: 1,
  errors: [{ field, message }],
})

const play = (account: TestAccount, mandate: TestMandate, name: string) =>
  simulateRecurrence(account, mandate, `scenario/${name}`)

/** Every event in its order, with what it says of a charge. */
async function storyOf(shop: Merchant): Promise<string[]> {
  await settle()
  return shop.calls().map(({ body }) => {
    const { eventType, status, chargeStatus, rejectionCode, retryScheduled } = body
    const about = [chargeStatus, rejectionCode, retryScheduled].filter((said) => said !== undefined)
    return [eventType.replace('RECURRENCE_', ''), status, ...about].join(' ')
  })
}

const failedAndRetried = ['CHARGE_FAILED APPROVED FAILED AM04 true', 'CHARGE_SCHEDULED APPROVED SCHEDULED']

describe('a scenario', () => {
  test('approve-and-settle: approved, charged, paid and concluded', async () => {
    it.clock.set(NOON)
    const shop = await merchant()
    const mandate = await given.mandate(shop)
    const { http, body } = await play(shop, mandate, 'approve-and-settle')
    const [next, first] = await chargesOf(shop, mandate)
    expect([http, body]).toEqual([
      200,
      {
        status: 0,
        message: 'success',
        scenario: 'approve-and-settle',
        authorization: { id: mandate.id, idRec: mandate.idRec, status: 'CONCLUDED' },
        collections: [
          {
            txId: first!.instructionId,
            instructionId: first!.instructionId,
            saleToken: first!.sale!.uuid,
            amount: 49.9,
            dueDate: '2026-11-21 00:00:00',
            status: 'PAID',
          },
        ],
      },
    ])
    expect([first!.status, next!.status]).toEqual(['PAID', 'CANCELLED'])
    expect(await moneyOf(shop)).toEqual({ available: 49.41, blocked: 0 })
    expect(await storyOf(shop)).toEqual([
      'AUTHORIZED APPROVED',
      'CHARGE_SCHEDULED APPROVED SCHEDULED',
      'CHARGE_PAID APPROVED PAID',
      'CONCLUDED CONCLUDED',
    ])
  })

  test('no-funds-3x: the charge and its three retries fail', async () => {
    const shop = await merchant()
    const mandate = await given.mandate(shop, withRetries)
    const { http, body } = await play(shop, mandate, 'no-funds-3x')
    expect([http, body.scenario, body.authorization.status]).toEqual([200, 'no-funds-3x', 'APPROVED'])
    expect(body.collections).toMatchObject([{ status: 'FAILED' }])
    const [next, failed] = await chargesOf(shop, mandate)
    expect(failed).toMatchObject({ status: 'FAILED', rejectionCode: 'AM04', sale: { situation: 'CANCELLED' } })
    expect(next!.status).toBe('PENDING_SCHEDULE')
    expect(await storyOf(shop)).toEqual([
      'AUTHORIZED APPROVED',
      'CHARGE_SCHEDULED APPROVED SCHEDULED',
      ...failedAndRetried,
      ...failedAndRetried,
      ...failedAndRetried,
      'CHARGE_FAILED APPROVED FAILED AM04 false',
    ])
    expect(await moneyOf(shop)).toEqual({ available: 0, blocked: 0 })
  })

  test('no-funds-3x of a mandate without retries: it fails once and for all', async () => {
    const shop = await merchant()
    const mandate = await given.mandate(shop)
    expect((await play(shop, mandate, 'no-funds-3x')).body.collections).toMatchObject([{ status: 'FAILED' }])
    expect(await storyOf(shop)).toEqual([
      'AUTHORIZED APPROVED',
      'CHARGE_SCHEDULED APPROVED SCHEDULED',
      'CHARGE_FAILED APPROVED FAILED AM04 false',
    ])
  })

  test('approve-reject: the charge is rejected with AC06, the mandate stays', async () => {
    const shop = await merchant()
    const mandate = await given.mandate(shop)
    const { http, body } = await play(shop, mandate, 'approve-reject')
    expect([http, body.scenario, body.authorization.status]).toEqual([200, 'approve-reject', 'APPROVED'])
    expect(body.collections).toMatchObject([{ status: 'FAILED' }])
    expect((await chargesOf(shop, mandate)).at(-1)).toMatchObject({ status: 'FAILED', rejectionCode: 'AC06' })
    expect(await storyOf(shop)).toEqual([
      'AUTHORIZED APPROVED',
      'CHARGE_SCHEDULED APPROVED SCHEDULED',
      'CHARGE_FAILED APPROVED REJECTED AC06 false',
    ])
  })

  test('cancel-by-payer: approved, then cancelled, and nothing is charged', async () => {
    const shop = await merchant()
    const mandate = await given.mandate(shop)
    const { http, body } = await play(shop, mandate, 'cancel-by-payer')
    const { id, idRec } = mandate
    expect([http, body]).toEqual([
      200,
      {
        status: 0,
        message: 'success',
        scenario: 'cancel-by-payer',
        authorization: { id, idRec, status: 'CANCELLED' },
        collections: [],
      },
    ])
    expect((await chargesOf(shop, mandate)).map(({ status, sale }) => [status, sale])).toEqual([['CANCELLED', null]])
    expect(await storyOf(shop)).toEqual(['AUTHORIZED APPROVED', 'CANCELLED CANCELLED'])
  })

  test('with one cycle alone concludes once', async () => {
    const one: Terms = { plan: { period: 1 } }
    const shop = await merchant()
    const mandate = await given.mandate(shop, one)
    expect((await play(shop, mandate, 'approve-and-settle')).body.authorization.status).toBe('CONCLUDED')
    expect((await storyOf(shop)).filter((event) => event.startsWith('CONCLUDED'))).toHaveLength(1)
  })

  test.each([2, 5, 11, 400])('does not mind that the charge is due in %d days', async (inDays) => {
    const account = await it.given.account()
    const mandate = await given.mandate(account, { inDays })
    const { body } = await play(account, mandate, 'approve-and-settle')
    expect(body.collections).toMatchObject([{ status: 'PAID', dueDate: `${given.inDays(inDays)} 00:00:00` }])
  })

  test.each(['APPROVING', 'APPROVED'] as const)('goes on from %s', async (state) => {
    for (const [name, end] of [
      ['approve-and-settle', 'CONCLUDED'],
      ['no-funds-3x', 'APPROVED'],
      ['approve-reject', 'APPROVED'],
      ['cancel-by-payer', 'CANCELLED'],
    ] as const) {
      const shop = await merchant()
      const mandate = await given.mandateIn(shop, state, withRetries)
      expect((await play(shop, mandate, name)).body.authorization?.status).toBe(end)
      expect((await storyOf(shop)).filter((event) => event.startsWith('AUTHORIZED'))).toHaveLength(1)
    }
  })

  test('settles the charge that is at the bank already', async () => {
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account)
    const { body } = await play(account, charge.mandate, 'approve-and-settle')
    expect(body.collections).toMatchObject([{ instructionId: charge.instructionId, status: 'PAID' }])
  })

  const over: MandateState[] = ['REJECTED', 'EXPIRED', 'CANCELLING', 'CANCELLED', 'CONCLUDED']
  test.each(over)('is refused for a mandate that is %s', async (state) => {
    const shop = await merchant()
    const mandate = await given.mandateIn(shop, state)
    const before = await storyOf(shop)
    for (const name of names) {
      const { http, body } = await play(shop, mandate, name)
      expect([http, body]).toEqual([400, invalid('idRec', 'authorization cannot be updated')])
    }
    expect((await authorizationOf(shop, mandate)).status).toBe(state)
    expect(await storyOf(shop)).toEqual(before)
  })

  test.each(names)('that cannot be played to its end has no effect at all: %s', async (name) => {
    const shop = await merchant()
    const mandate = await given.mandate(shop, { plan: { period: 1 }, inDays: 1 })
    const { http } = await play(shop, mandate, name)
    expect([http, (await authorizationOf(shop, mandate)).status]).toEqual([400, 'CREATED'])
    expect(await storyOf(shop)).toEqual([])
  })

  test.each(names.filter((name) => name !== 'cancel-by-payer'))(
    'has no effect either when the bank does not take the charge: %s',
    async (name) => {
      const shop = await merchant()
      const mandate = await given.mandate(shop)
      const { http, body } = await whileBanksAreSilent(it, () => play(shop, mandate, name))
      expect([http, body]).toEqual([400, invalid('txId', 'payment cannot be updated')])
      expect((await authorizationOf(shop, mandate)).status).toBe('CREATED')
      expect(await storyOf(shop)).toEqual([])
    },
  )

  test.each(['approve', 'APPROVE-REJECT', 'constructor', '%20'])('is not called %s', async (name) => {
    const account = await it.given.account()
    const mandate = await given.mandate(account)
    const { http, body } = await play(account, mandate, name)
    expect([http, body]).toEqual([400, invalid('name', 'invalid value')])
    expect((await authorizationOf(account, mandate)).status).toBe('CREATED')
  })
})
