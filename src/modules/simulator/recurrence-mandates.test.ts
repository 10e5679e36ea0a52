import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anotherService } from '../../../test/harness/faulty-database.ts'
import type { TestAccount } from '../../../test/harness/given.ts'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import {
  authorizationOf,
  chargesOf,
  type MandateState,
  mandateNews,
  mandateStates,
  railSays,
  recurrences,
  SIM,
  simulateMandate,
  simulateRecurrence,
  type TestMandate,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const given = recurrences(it)
const success = { status: 0, message: 'success' }
const notFound = {
  status: 998,
  message: 'authorization not found',
  errorCount: 1,
  errors: [{ field: 'idRec', message: 'non-existent authorization' }],
}
const final = {
  status: -1,
  message: 'field validation failure',
  errorCount: 1,
  errors: [{ field: 'idRec', message: 'authorization cannot be updated' }],
}
const stateOf = async (account: TestAccount, mandate: TestMandate) => (await authorizationOf(account, mandate)).status
const eventsOf = async (shop: Merchant): Promise<string[]> => {
  await settle()
  return shop.calls().map(({ body }) => body.eventType.replace('RECURRENCE_', ''))
}

/** The state it ends in and what is told on the way; `-` is refused. Every state has a row, every action a column. */
const table = `
              | approving | approved            | rejected          | expired         | cancelling            | cancelled
  CREATED     | APPROVING | APPROVED AUTHORIZED | REJECTED REJECTED | EXPIRED EXPIRED | CANCELLING AUTHORIZED | CANCELLED AUTHORIZED CANCELLED
  APPROVING   | APPROVING | APPROVED AUTHORIZED | REJECTED REJECTED | EXPIRED EXPIRED | CANCELLING AUTHORIZED | CANCELLED AUTHORIZED CANCELLED
  APPROVED    | -         | APPROVED            | -                 | -               | CANCELLING            | CANCELLED CANCELLED
  REJECTED    | -         | -                   | REJECTED          | -               | -                     | -
  EXPIRED     | -         | -                   | -                 | EXPIRED         | -                     | -
  CANCELLING  | -         | -                   | -                 | -               | CANCELLING            | CANCELLED CANCELLED
  CANCELLED   | -         | -                   | -                 | -               | -                     | CANCELLED
  CONCLUDED   | -         | -                   | -                 | -               | -                     | -`
const [head, ...rows] = table
  .trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
const actions = head!.slice(1)
const cells = rows.flatMap(([state, ...ends]) =>
  ends.map((end, index) => [state as MandateState, actions[index]!, end] as const),
)

describe('the payer of the sandbox', () => {
  test('has an answer for every state and every action', () => {
    expect(rows.map(([state]) => state)).toEqual(mandateStates)
    expect(cells).toHaveLength(8 * 6)
  })

  test.each(cells)('%s, %s: %s', async (state, action, end) => {
    const shop = await merchant()
    const mandate = await given.mandateIn(shop, state)
    const before = await eventsOf(shop)
    const { http, body } = await simulateMandate(shop, mandate, action)
    const told = (await eventsOf(shop)).slice(before.length)
    const [status, ...events] = end.split(' ')
    const { id, idRec } = mandate
    expect([http, body]).toEqual(
      end === '-' ? [400, final] : [200, { ...success, authorization: { id, idRec, status } }],
    )
    expect(await stateOf(shop, mandate)).toBe(end === '-' ? state : status)
    expect(told).toEqual(events)
  })

  test('who approves is known by a bank of the sandbox, and the next cycle is planned', async () => {
    const account = await it.given.account()
    const mandate = await given.mandate(account)
    await simulateMandate(account, mandate, 'approved')
    expect((await authorizationOf(account, mandate)).payer).toEqual({
      document: '52998224725',
      name: 'Maria da Silva',
      ispb: '99999004',
    })
    expect(await chargesOf(account, mandate)).toMatchObject([{ status: 'PENDING_SCHEDULE', sale: null }])
  })

  test('who looked at it from a bank approves it there', async () => {
    const account = await it.given.account()
    const mandate = await given.mandate(account)
    await railSays(it, mandateNews(mandate, 'APPROVING', { document: null, name: null, ispb: '12345678' }))
    await simulateMandate(account, mandate, 'approved')
    expect((await authorizationOf(account, mandate)).payer.ispb).toBe('12345678')
  })

  test('who approves when no cycle is left concludes it at once, whatever is asked for', async () => {
    for (const action of ['approved', 'cancelling', 'cancelled']) {
      const shop = await merchant()
      // Tomorrow, and only then: too late to be registered.
      const mandate = await given.mandate(shop, { plan: { period: 1 }, inDays: 1 })
      const { http, body } = await simulateMandate(shop, mandate, action)
      expect([http, body.authorization?.status]).toEqual([200, 'CONCLUDED'])
      expect(await eventsOf(shop)).toEqual(['AUTHORIZED', 'CONCLUDED'])
      expect(await chargesOf(shop, mandate)).toEqual([])
      // Nothing is reported of it after its end, which would be a contradiction.
      expect(await it.rows('select 1 from inbox_conflict where rail_id = $1', [mandate.idRec])).toEqual([])
    }
  })

  test('answers many at once as one after the other', async () => {
    const shop = await merchant()
    const mandate = await given.mandate(shop)
    const answers = await Promise.all(Array.from({ length: 5 }, () => simulateMandate(shop, mandate, 'approved')))
    expect(answers.map(({ http, body }) => [http, body.authorization?.status])).toEqual(
      Array.from({ length: 5 }, () => [200, 'APPROVED']),
    )
    expect(await eventsOf(shop)).toEqual(['AUTHORIZED'])
    expect(await chargesOf(shop, mandate)).toHaveLength(1)
  })
})

describe('run-due', () => {
  const runDue = (account: TestAccount, mandate: Pick<TestMandate, 'idRec'>) =>
    simulateRecurrence(account, mandate, 'run-due')
  const nothing = { ...success, generated: 0, collections: [] }

  test('registers the next charge, which is a sale then', async () => {
    it.clock.set('2026-11-16 12:00:00')
    const shop = await merchant()
    const mandate = await given.approvedMandate(shop)
    const { http, body } = await runDue(shop, mandate)
    const [, charge] = await chargesOf(shop, mandate)
    expect([http, body]).toEqual([
      200,
      {
        ...success,
        generated: 1,
        collections: [
          {
            txId: charge!.instructionId,
            instructionId: charge!.instructionId,
            saleToken: charge!.sale!.uuid,
            amount: 49.9,
            dueDate: '2026-11-21 00:00:00',
            status: 'SCHEDULED',
          },
        ],
      },
    ])
    expect(charge).toMatchObject({ status: 'SCHEDULED', sale: { situation: 'PENDING' } })
    expect(await eventsOf(shop)).toEqual(['AUTHORIZED', 'CHARGE_SCHEDULED'])
    expect((await runDue(shop, mandate)).body).toEqual(nothing)
    expect(await eventsOf(shop)).toHaveLength(2)
  })

  test.each([
    ['2026-11-16 23:59:59', 999, 11, 0],
    ['2026-11-17 00:00:00', 0, 10, 1],
    ['2026-11-20 12:00:00', 0, 7, 1],
    ['2026-11-25 23:59:59', 999, 2, 1],
    ['2026-11-26 00:00:00', 0, 1, 0],
    ['2026-11-27 00:00:00', 0, 0, 0],
  ])('at %s.%d, %d days before the due date, generates %d', async (at, ms, _days, generated) => {
    it.clock.set('2026-11-16 12:00:00')
    const account = await it.given.account()
    const mandate = await given.approvedMandate(account, { inDays: 11 })
    it.clock.set(at)
    it.clock.advance(ms)
    expect((await runDue(account, mandate)).body.generated).toBe(generated)
    const [charge] = (await chargesOf(account, mandate)).slice(-1)
    expect(charge!.status).toBe(generated ? 'SCHEDULED' : 'PENDING_SCHEDULE')
    it.clock.set('2026-11-16 12:00:00')
  })

  test('goes by the account’s own clock', async () => {
    it.clock.set('2026-11-16 12:00:00')
    const account = await it.given.account()
    const mandate = await given.mandate(account, { inDays: 20, checkout: { maxAge: 43_200 } })
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 12 })
    await simulateMandate(account, mandate, 'approved')
    expect((await runDue(account, mandate)).body.generated).toBe(1)
  })

  test('registers one cycle after the other where several lie in the window', async () => {
    const account = await it.given.account()
    const mandate = await given.approvedMandate(account, { plan: { frequency: 'WEEKLY' }, inDays: 2 })
    const generated = [await runDue(account, mandate), await runDue(account, mandate), await runDue(account, mandate)]
    expect(generated.map(({ body }) => body.generated)).toEqual([1, 1, 0])
    expect((await chargesOf(account, mandate)).map(({ status }) => status)).toEqual([
      'PENDING_SCHEDULE',
      'SCHEDULED',
      'SCHEDULED',
    ])
  })

  test.each(mandateStates.filter((state) => state !== 'APPROVED'))(
    'generates nothing for a mandate that is %s',
    async (state) => {
      const account = await it.given.account()
      const mandate = await given.mandateIn(account, state)
      const { http, body } = await runDue(account, mandate)
      expect([http, body]).toEqual([200, nothing])
      for (const { status } of await chargesOf(account, mandate)) expect(status).not.toBe('SCHEDULED')
    },
  )
})

const paths = [
  ...actions.map((action) => `mandate/:idRec/${action}`),
  'recurrence/:idRec/run-due',
  'recurrence/:idRec/fail/AM04',
  ...['approve-and-settle', 'no-funds-3x', 'approve-reject', 'cancel-by-payer'].map(
    (name) => `recurrence/:idRec/scenario/${name}`,
  ),
  ...['active', 'concluded', 'failed', 'canceled', 'reject/AM04', 'retry'].map(
    (action) => `collection/:txId/${action}`,
  ),
]

describe('the routes of the simulator', () => {
  const ofMandates = paths.filter((path) => path.includes(':idRec'))

  test.each(ofMandates)('%s: no mandate that is not there, nor another’s', async (path) => {
    const account = await it.given.account()
    const theirs = await given.approvedMandate(await it.given.account())
    for (const idRec of [theirs.idRec, 'RN9999900420261116AbCdEfGhIjK', randomUUID(), 'x']) {
      const { http, body } = await account.api.post(`${SIM}/${path.replace(':idRec', idRec)}`)
      expect([http, body]).toEqual([404, notFound])
    }
  })

  test.each(ofMandates)('%s: whatever body it gets, once under one key', async (path) => {
    const account = await it.given.account()
    const state = path.endsWith('AM04') ? 'APPROVED' : 'CREATED'
    const { idRec } = await given.mandateIn(account, state)
    const send = (raw: string) =>
      account.api.post(`${SIM}/${path.replace(':idRec', idRec)}`, undefined, {
        raw,
        headers: { 'idempotency-key': 'one', 'content-type': 'application/json' },
      })
    const first = await send('{"state": 7, ')
    expect(first.http, first.text).toBe(200)
    const again = await send('{"state": 7, ')
    expect([again.http, again.text, again.headers['idempotency-replayed']]).toEqual([200, first.text, 'true'])
    expect((await send('null')).http).toBe(422)
  })

  test('are fifteen, and none of them exists in production or without credentials', async () => {
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account)
    const production = await anotherService(it, { env: 'production' })
    onTestFinished(() => production.close())
    const api = production.api.as({ 'x-api-key': account.apiKey, 'x-api-token': account.apiToken })
    const kinds = new Set(paths.map((path) => path.replace(/(scenario)\/.*/, '$1')))
    expect(kinds.size).toBe(15)
    for (const path of paths) {
      const here = path.replace(':idRec', charge.mandate.idRec).replace(':txId', charge.instructionId)
      expect([path, (await api.post(`${SIM}/${here}`)).http]).toEqual([path, 404])
      expect([path, (await it.api.post(`${SIM}/${here}`)).http]).toEqual([path, 403])
    }
    expect(await stateOf(account, charge.mandate)).toBe('APPROVED')
  })
})
