import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import { linesOf, moneyOf } from '../../../test/harness/money-out.ts'
import {
  authorizationOf,
  type ChargeState,
  chargeAgain,
  chargesOf,
  mandateNews,
  mandateStates,
  railSays,
  recurrences,
  SIM,
  simulateCollection,
  simulateRecurrence,
  type TestCharge,
  withRetries,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const given = recurrences(it)
const success = { status: 0, message: 'success' }
const invalid = (field: string, message: string) => ({
  status: -1,
  message: 'field validation failure',
  errorCount: 1,
  errors: [{ field, message }],
})
const final = invalid('txId', 'payment cannot be updated')
const notFound = {
  status: 998,
  message: 'scheduled payment not found',
  errorCount: 1,
  errors: [{ field: 'instructionId', message: 'non-existent scheduled payment' }],
}
async function toldOf(shop: Merchant) {
  await settle()
  return shop.calls().map(({ body }) => body)
}
/** `SCHEDULED`, `PAID`, or of a failure its status: what a charge event says. */
const eventsOf = async (shop: Merchant): Promise<string[]> =>
  (await toldOf(shop)).flatMap(({ chargeStatus }) => chargeStatus ?? [])
const stateOf = async (account: TestAccount, charge: TestCharge) => (await chargeAgain(account, charge)).status

/** The state it ends in and what is told on the way; `-` is refused. RETRYING is FAILED with a retry to come. */
const table = `
                   | active              | concluded           | failed                  | canceled                      | reject/AC03               | retry
  PENDING_SCHEDULE | SCHEDULED SCHEDULED | PAID SCHEDULED PAID | FAILED SCHEDULED FAILED | CANCELLED SCHEDULED CANCELLED | FAILED SCHEDULED REJECTED | -
  SCHEDULED        | SCHEDULED           | PAID PAID           | FAILED FAILED           | CANCELLED CANCELLED           | FAILED REJECTED           | -
  PAID             | -                   | -                   | -                       | -                             | -                         | -
  FAILED           | -                   | -                   | -                       | -                             | -                         | -
  RETRYING         | -                   | -                   | -                       | -                             | -                         | SCHEDULED SCHEDULED
  CANCELLED        | -                   | -                   | -                       | -                             | -                         | -`
const [head, ...rows] = table
  .trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
const actions = head!.slice(1)
const cells = rows.flatMap(([state, ...ends]) =>
  ends.map((end, index) => [state as ChargeState, actions[index]!, end] as const),
)

describe('the payer’s bank of the sandbox', () => {
  test.each(cells)('%s, %s: %s', async (state, action, end) => {
    const shop = await merchant()
    const charge = await given.chargeIn(shop, state, { plan: { period: 2 } })
    const before = await eventsOf(shop)
    const { http, body } = await simulateCollection(shop, charge.instructionId, action)
    const told = (await eventsOf(shop)).slice(before.length)
    const after = await chargeAgain(shop, charge)
    if (end === '-') {
      expect([http, body, after, told]).toEqual([400, final, charge, []])
      return
    }
    const [status, ...events] = end.split(' ')
    const { instructionId, dueDate } = charge
    expect([http, body]).toEqual([
      200,
      {
        ...success,
        collection: {
          txId: instructionId,
          instructionId,
          saleToken: after.sale!.uuid,
          amount: 49.9,
          dueDate,
          status,
        },
      },
    ])
    expect([after.status, told]).toEqual([status, events])
    expect((await authorizationOf(shop, charge.mandate)).status).toBe('APPROVED')
  })

  test('credits the balance when it concludes, once', async () => {
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account)
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => simulateCollection(account, charge.instructionId, 'concluded')),
    )
    expect(answers.map(({ http }) => http).toSorted()).toEqual([200, 400, 400, 400])
    expect(await linesOf(account)).toEqual([
      ['FEE', -0.49],
      ['RECURRENCE', 49.9],
    ])
    expect(await moneyOf(account)).toEqual({ available: 49.41, blocked: 0 })
    const { endToEnd } = (await account.api.get(`/v1.1/pix-automatic/scheduled-payments/${charge.instructionId}`)).body
      .paymentSchedule
    const info = (await account.api.get(`/v1.1/transactions/${charge.sale.uuid}/payment_info`)).body
    expect([info.end_to_end, info.payer]).toEqual([endToEnd, { document: '52998224725', name: 'Maria da Silva' }])
    expect(endToEnd).toMatch(/^E99999004\d{12}\w{11}$/)
  })

  test.each(['concluded', 'failed', 'canceled', 'reject/MD01'])(
    'ends a mandate with its last charge: %s',
    async (action) => {
      const shop = await merchant()
      const charge = await given.plannedCharge(shop, { plan: { period: 1 } })
      await simulateCollection(shop, charge.instructionId, action)
      expect((await authorizationOf(shop, charge.mandate)).status).toBe('CONCLUDED')
      expect((await toldOf(shop)).at(-1)).toMatchObject({ eventType: 'RECURRENCE_CONCLUDED', status: 'CONCLUDED' })
    },
  )

  test.each(['active', 'concluded', 'failed', 'canceled', 'reject/AM04', 'retry'])(
    'registers and retries nothing of a mandate that is being cancelled: %s',
    async (action) => {
      const account = await it.given.account()
      const charge = await given.chargeIn(account, action === 'retry' ? 'RETRYING' : 'PENDING_SCHEDULE')
      await railSays(it, mandateNews(charge.mandate, 'CANCELLING'))
      const { http, body } = await simulateCollection(account, charge.instructionId, action)
      expect([http, body, await stateOf(account, charge)]).toEqual([400, final, charge.status])
    },
  )

  test('still collects what it has when the mandate is being cancelled', async () => {
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account)
    await railSays(it, mandateNews(charge.mandate, 'CANCELLING'))
    expect((await simulateCollection(account, charge.instructionId, 'concluded')).body.collection.status).toBe('PAID')
    expect((await authorizationOf(account, charge.mandate)).status).toBe('CANCELLING')
  })
})

describe('{txId}', () => {
  const names: [string, (charge: TestCharge) => string | number][] = [
    ['an instructionId', ({ instructionId }) => instructionId],
    ['the uuid of the sale', ({ sale }) => sale!.uuid],
    ['the number of the sale', ({ sale }) => sale!.id],
  ]

  test.each(names)('is %s', async (_what, nameOf) => {
    for (const action of ['active', 'concluded', 'failed', 'canceled', 'reject/SL02']) {
      const account = await it.given.account()
      const charge = await given.scheduledCharge(account)
      const { http, body } = await simulateCollection(account, nameOf(charge), action)
      expect([http, body.collection?.instructionId]).toEqual([200, charge.instructionId])
    }
    const account = await it.given.account()
    const retrying = await given.chargeIn(account, 'RETRYING')
    expect((await simulateCollection(account, nameOf(retrying), 'retry')).body.collection.status).toBe('SCHEDULED')
  })

  test.each(actions)('%s: none that is not there, nor another’s, nor of what is no charge', async (action) => {
    const account = await it.given.account()
    const theirs = await given.scheduledCharge(await it.given.account())
    const sale = await it.given.sale(account)
    const immediate = await given.mandate(account, { checkout: { amount: 5 }, recurrence: { immediatePayment: true } })
    const first = (await account.api.get(`/v1.1/transactions/${immediate.uuid}`)).body
    const own = await given.scheduledCharge(account)
    const unknown = [
      theirs.instructionId,
      theirs.sale.uuid,
      theirs.sale.id,
      sale.uuid,
      sale.id,
      sale.txid,
      first.uuid,
      first.id,
      immediate.idRec,
      randomUUID(),
      0,
      '9'.repeat(15),
      '9'.repeat(30),
      '-1',
      'x',
    ]
    for (const txId of unknown) {
      const { http, body } = await simulateCollection(account, txId, action)
      expect([txId, http, body]).toEqual([txId, 404, notFound])
    }
    expect([await stateOf(account, own), theirs.status]).toEqual(['SCHEDULED', 'SCHEDULED'])
  })
})

describe('a reason', () => {
  // biome-ignore format: a table
  const reasons: [code: string, means: string, mayRetry: boolean][] = [
    ['FAIL', "Insufficient funds in the payer's account.", true],
    ['AM04', "Insufficient funds in the payer's account.", true],
    ['AC06', "Payer's account is blocked.", true],
    ['AC03', 'Invalid payer account.', false],
    ['AC01', 'Invalid payer account.', false],
    ['MD01', 'Authorization missing or revoked.', false],
    ['SL02', 'Recurrence limit exceeded.', true],
    ['AG03', 'Operation not allowed for the account.', false],
    ['AB09', "Failure at the payer's provider.", true],
    ['SLCR', 'Cancellation requested.', false],
    ['AM09', 'Charge amount differs from the authorized fixed amount.', false],
    ['AM02', 'Charge exceeds the maximum the payer configured.', true],
  ]
  type Act = (account: TestAccount, charge: TestCharge, code: string) => ReturnType<typeof simulateCollection>
  const ways: [way: string, chargeStatus: string, act: Act][] = [
    [
      'reject',
      'REJECTED',
      (account, charge, code) => simulateCollection(account, charge.instructionId, `reject/${code}`),
    ],
    ['fail', 'FAILED', (account, { mandate }, code) => simulateRecurrence(account, mandate, `fail/${code}`)],
  ]
  const all = ways.flatMap(([way, chargeStatus, act]) =>
    reasons.map(([code, means, mayRetry]) => ({ way, chargeStatus, act, code, means, mayRetry })),
  )

  test.each(all)(
    '$way/$code: $chargeStatus, tried again: $mayRetry',
    async ({ act, code, means, mayRetry, chargeStatus }) => {
      const shop = await merchant()
      for (const allowed of [true, false]) {
        const charge = await given.scheduledCharge(shop, allowed ? withRetries : {})
        const { http, body } = await act(shop, charge, code)
        expect([http, body.collection.status, body.collection.txId]).toEqual([200, 'FAILED', charge.instructionId])
        const retryScheduled = allowed && mayRetry
        expect((await toldOf(shop)).at(-1)).toMatchObject({
          eventType: 'RECURRENCE_CHARGE_FAILED',
          saleToken: charge.sale.uuid,
          chargeStatus,
          rejectionCode: code,
          rejectionReason: means,
          retryScheduled,
        })
        expect(await chargeAgain(shop, charge)).toMatchObject({
          status: 'FAILED',
          rejectionCode: code,
          rejectionReason: means,
          sale: { situation: retryScheduled ? 'PENDING' : 'CANCELLED' },
        })
        const retried = await simulateCollection(shop, charge.instructionId, 'retry')
        expect(retried.http).toBe(retryScheduled ? 200 : 400)
      }
    },
  )

  test.each(['am04', 'AM99', 'X', 'toString'])('is not %s', async (code) => {
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account)
    for (const [, , act] of ways) {
      const { http, body } = await act(account, charge, code)
      expect([http, body]).toEqual([400, invalid('code', 'invalid value')])
    }
    const gone = await account.api.post(`${SIM}/collection/x/reject/${code}`)
    expect([gone.http, gone.body]).toEqual([404, notFound])
    expect(await stateOf(account, charge)).toBe('SCHEDULED')
  })

  test('of `failed` is that there is no money', async () => {
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account)
    await simulateCollection(account, charge.instructionId, 'failed')
    expect(await chargeAgain(account, charge)).toMatchObject({ rejectionCode: 'AM04' })
  })
})

describe('fail/{code}', () => {
  test('registers the next charge first, whatever day it is', async () => {
    const shop = await merchant()
    const charge = await given.plannedCharge(shop, { inDays: 200 })
    const { body } = await simulateRecurrence(shop, charge.mandate, 'fail/AG03')
    expect(body.collection).toMatchObject({ instructionId: charge.instructionId, status: 'FAILED' })
    expect(await eventsOf(shop)).toEqual(['SCHEDULED', 'FAILED'])
  })

  test('takes the charge that is due first, then the next one', async () => {
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account)
    for (const _ of [1, 2]) await simulateRecurrence(account, charge.mandate, 'fail/AG03')
    expect((await chargesOf(account, charge.mandate)).map(({ status }) => status)).toEqual([
      'PENDING_SCHEDULE',
      'FAILED',
      'FAILED',
    ])
  })

  test.each(mandateStates.filter((state) => !['APPROVED', 'CANCELLING'].includes(state)))(
    'finds no charge of a mandate that is %s',
    async (state) => {
      const account = await it.given.account()
      const { http, body } = await simulateRecurrence(account, await given.mandateIn(account, state), 'fail/AM04')
      expect([http, body]).toEqual([400, invalid('idRec', 'authorization cannot be updated')])
    },
  )

  test('of a mandate that is being cancelled: what waits cannot, what is at the bank can, and is not tried again', async () => {
    const shop = await merchant()
    const waiting = await given.plannedCharge(shop, { ...withRetries, inDays: 40 })
    await railSays(it, mandateNews(waiting.mandate, 'CANCELLING'))
    const refused = await simulateRecurrence(shop, waiting.mandate, 'fail/AM04')
    expect([refused.http, refused.body, await stateOf(shop, waiting)]).toEqual([400, final, 'PENDING_SCHEDULE'])
    const scheduled = await given.scheduledCharge(shop, withRetries)
    await railSays(it, mandateNews(scheduled.mandate, 'CANCELLING'))
    expect((await simulateRecurrence(shop, scheduled.mandate, 'fail/AM04')).body.collection.status).toBe('FAILED')
    expect((await toldOf(shop)).at(-1)).toMatchObject({ rejectionCode: 'AM04', retryScheduled: false })
  })
})

describe('retry', () => {
  test('is made three times, each told as scheduled, with the same amount; then no more', async () => {
    const shop = await merchant()
    const charge = await given.scheduledCharge(shop, withRetries)
    const { instructionId } = charge
    for (const _ of [1, 2, 3]) {
      await simulateCollection(shop, instructionId, 'failed')
      const { body } = await simulateCollection(shop, instructionId, 'retry')
      expect(body.collection).toMatchObject({ status: 'SCHEDULED', amount: 49.9, saleToken: charge.sale.uuid })
      expect((await chargeAgain(shop, charge)) as object).toMatchObject({ rejectionCode: null })
    }
    await simulateCollection(shop, instructionId, 'failed')
    const last = await simulateCollection(shop, instructionId, 'retry')
    expect([last.http, last.body, await stateOf(shop, charge)]).toEqual([400, final, 'FAILED'])
    const failures = (await toldOf(shop)).filter(({ eventType }) => eventType === 'RECURRENCE_CHARGE_FAILED')
    expect(failures.map(({ retryScheduled }) => retryScheduled)).toEqual([true, true, true, false])
    expect(await eventsOf(shop)).toEqual(Array.from({ length: 4 }, () => ['SCHEDULED', 'FAILED']).flat())
  })

  test('can be paid, under an end-to-end id of its own', async () => {
    const account = await it.given.account()
    const ids = new Set<string>()
    for (const retries of [0, 1, 2, 3]) {
      const { instructionId } = await given.scheduledCharge(account, withRetries)
      for (let made = 0; made < retries; made += 1) {
        await simulateCollection(account, instructionId, 'failed')
        await simulateCollection(account, instructionId, 'retry')
      }
      await simulateCollection(account, instructionId, 'concluded')
      const { paymentSchedule } = (await account.api.get(`/v1.1/pix-automatic/scheduled-payments/${instructionId}`))
        .body
      expect(paymentSchedule).toMatchObject({ status: 'PAID', amount: 49.9, rejectionCode: null })
      ids.add(paymentSchedule.endToEnd)
    }
    expect(ids.size).toBe(4)
    expect(await moneyOf(account)).toEqual({ available: 197.64, blocked: 0 })
  })
})
