import { expect } from 'vitest'
import { dayOf, plusDays } from '../../src/kernel/calendar.ts'
import type { Cents } from '../../src/kernel/cents.ts'
import { applyRailEvents } from '../../src/modules/door/index.ts'
import type { CollectionNews, MandateNews, PaymentReceived, RailEvent } from '../../src/rail/rail.ts'
import type { Reply } from './api-client.ts'
import { shopper, type TestAccount } from './given.ts'
import { newEndToEnd } from './rail-payment.ts'
import type { TestService } from './test-service.ts'

type Json = Record<string, unknown>
export type TestMandate = {
  readonly idRec: string
  /** `response.uuid` of its checkout. */
  readonly uuid: string
  readonly id: number
  readonly planId: string
  readonly referenceCode: string
}
export type TestCharge = {
  readonly instructionId: string
  readonly amount: number
  readonly dueDate: string
  readonly status: string
  readonly sale: { readonly id: number; readonly uuid: string; readonly situation: string } | null
  readonly mandate: TestMandate
}
export type MandateState = MandateNews['state'] | 'CREATED'
export type ChargeState = 'PENDING_SCHEDULE' | 'SCHEDULED' | 'PAID' | 'FAILED' | 'RETRYING' | 'CANCELLED'

/** What differs from a monthly mandate of 49.90, due five days ahead, without retries. */
export type Terms = {
  readonly plan?: Json
  readonly checkout?: Json
  readonly recurrence?: Json
  readonly inDays?: number
}

export const SIM = '/v1.1/pix-automatic/sandbox/sim'
export const AUTHORIZATIONS = '/v1.1/pix-automatic/authorizations'
export const PAYMENTS = '/v1.1/pix-automatic/scheduled-payments'
/** A plan and a checkout that allow retries. */
export const withRetries: Terms = { plan: { retryPolicy: 'ACCEPT_3R_7D' }, recurrence: { retry: true } }
export const variable: Terms = {
  plan: { minimumRecurrenceAmount: 20 },
  recurrence: { amount: { valueType: 'VARIABLE' } },
}

let count = 0

export const planBody = (fields: Json = {}) => ({
  title: `Plano ${++count}`,
  frequency: 'MONTHLY',
  recurrenceAmount: 49.9,
  ...fields,
})

/** A recurrence checkout that is right in every field. */
export const recurrenceBody = (planId: string, initialDate: string, fields: Json = {}, recurrence: Json = {}) => ({
  currency: 'BRL',
  referenceCode: `subscription-${++count}`,
  shopper,
  recurrence: { planId, calendar: { initialDate }, ...recurrence },
  ...fields,
})

export const checkOut = ({ api }: TestAccount, body: unknown, headers = {}): Promise<Reply> =>
  api.post('/v1.1/checkout/pix-automatic', body, { headers })

export const authorizationOf = async ({ api }: TestAccount, { idRec }: Pick<TestMandate, 'idRec'>) =>
  (await api.get(`${AUTHORIZATIONS}/${idRec}`)).body.authorization

/** The charges of a mandate, newest cycle first. */
export const chargesOf = async (account: TestAccount, mandate: TestMandate): Promise<TestCharge[]> =>
  (await account.api.get(`${AUTHORIZATIONS}/${mandate.idRec}`)).body.paymentSchedules.map((charge: object) => ({
    ...charge,
    mandate,
  }))

/** As its query tells. */
export async function chargeAgain(account: TestAccount, { instructionId, mandate }: TestCharge): Promise<TestCharge> {
  const { paymentSchedule, sale } = (await account.api.get(`${PAYMENTS}/${instructionId}`)).body
  return { ...paymentSchedule, sale, mandate }
}

export const simulateMandate = ({ api }: TestAccount, { idRec }: Pick<TestMandate, 'idRec'>, action: string) =>
  api.post(`${SIM}/mandate/${idRec}/${action}`)
/** `run-due`, `fail/AM04`, `scenario/no-funds-3x`. */
export const simulateRecurrence = ({ api }: TestAccount, { idRec }: Pick<TestMandate, 'idRec'>, action: string) =>
  api.post(`${SIM}/recurrence/${idRec}/${action}`)
export const simulateCollection = ({ api }: TestAccount, txId: string | number, action: string) =>
  api.post(`${SIM}/collection/${txId}/${action}`)

export const cancelMandate = ({ api }: TestAccount, { idRec }: Pick<TestMandate, 'idRec'>, body?: unknown) =>
  api.put(`${AUTHORIZATIONS}/${idRec}/cancel`, body)
export const setCycleAmount = ({ api }: TestAccount, { idRec }: Pick<TestMandate, 'idRec'>, amount: unknown) =>
  api.put(`${AUTHORIZATIONS}/${idRec}/cycle-amount`, { amount })
export const cancelCharge = (
  { api }: TestAccount,
  { instructionId }: Pick<TestCharge, 'instructionId'>,
  body?: unknown,
) => api.put(`${PAYMENTS}/${instructionId}/cancel`, body)

/** The account's own clock: everything due on the way happens. */
export async function advanceTo({ api }: TestAccount, to: string): Promise<void> {
  const moved = await api.post('/v1.1/sandbox/clock/advance', { to })
  expect(moved.http, moved.text).toBe(200)
}

// ---- What the rail reports ----

export const mandateNews = (
  { idRec }: Pick<TestMandate, 'idRec'>,
  state: MandateNews['state'],
  payer: MandateNews['payer'] = null,
): MandateNews => ({ kind: 'mandate', rail: 'sandbox', idRec, state, payer })

export const collectionNews = (
  { instructionId }: Pick<TestCharge, 'instructionId'>,
  state: CollectionNews['state'],
  fields: Partial<CollectionNews> = {},
): CollectionNews => ({
  kind: 'collection',
  rail: 'sandbox',
  txid: instructionId,
  attempt: 0,
  state,
  code: null,
  ...fields,
})

export const chargePayment = (
  it: TestService,
  { instructionId, amount }: Pick<TestCharge, 'instructionId' | 'amount'>,
  fields: Partial<Omit<PaymentReceived, 'amount'>> & { amount?: number } = {},
): PaymentReceived => ({
  kind: 'payment',
  rail: 'sandbox',
  endToEnd: newEndToEnd(),
  txid: instructionId,
  settledAt: it.clock.now(),
  payer: { document: '52998224725', name: 'Maria da Silva', ispb: '99999004' },
  ...fields,
  amount: (fields.amount ?? Math.round(amount * 100)) as Cents,
})

/** One piece of news after the other, each of which must have an effect. */
export async function railSays(it: TestService, ...events: readonly RailEvent[]): Promise<void> {
  for (const event of events) expect(await it.service.door.apply([event])).toMatchObject([{ outcome: 'applied' }])
}

/** What the door makes of one piece of news, on its own. */
export async function hearOf(it: TestService, event: RailEvent): Promise<string> {
  const [outcome] = await applyRailEvents(it.service.doorContext, [event])
  return typeof outcome === 'object' ? outcome.outcome : 'deferred'
}

/** While the work goes on, banks take charges without a word. */
export async function whileBanksAreSilent<Value>({ service }: TestService, work: () => Promise<Value>): Promise<Value> {
  const { collect } = service.rail
  Object.assign(service.rail, { collect: async () => [] })
  try {
    return await work()
  } finally {
    Object.assign(service.rail, { collect })
  }
}

/** What the rail says until a mandate is in a state. */
const pathTo: Record<MandateState, readonly MandateNews['state'][]> = {
  CREATED: [],
  APPROVING: ['APPROVING'],
  APPROVED: ['APPROVED'],
  REJECTED: ['REJECTED'],
  EXPIRED: ['EXPIRED'],
  CANCELLING: ['APPROVED', 'CANCELLING'],
  CANCELLED: ['APPROVED', 'CANCELLED'],
  CONCLUDED: ['APPROVED', 'CONCLUDED'],
}
export const mandateStates = Object.keys(pathTo) as MandateState[]
export const newsTo = (mandate: Pick<TestMandate, 'idRec'>, state: MandateState): MandateNews[] =>
  pathTo[state].map((told) => mandateNews(mandate, told))

/** The world before a test: `given.mandate(account)`, `given.approvedMandate(account)`, `given.scheduledCharge(account)`. */
export function recurrences(it: TestService) {
  const inDays = (days: number): string => plusDays(dayOf(it.clock.now()), days)
  const given = {
    /** A day of the test's clock. */
    inDays,
    async plan(account: TestAccount, fields?: Json): Promise<string> {
      const made = await account.api.post('/v1.1/pix-automatic/plans', planBody(fields))
      expect(made.http, made.text).toBe(201)
      return made.body.id
    },
    async mandate(
      account: TestAccount,
      { plan, checkout, recurrence, inDays: days = 5 }: Terms = {},
    ): Promise<TestMandate> {
      const planId = await given.plan(account, plan)
      const asked = await checkOut(account, recurrenceBody(planId, inDays(days), checkout, recurrence))
      expect(asked.http, asked.text).toBe(200)
      const { uuid, idRec, referenceCode, authorization } = asked.body.response
      return { uuid, idRec, referenceCode, id: authorization.id, planId }
    },
    async mandateIn(account: TestAccount, state: MandateState, terms?: Terms): Promise<TestMandate> {
      const mandate = await given.mandate(account, terms)
      await railSays(it, ...newsTo(mandate, state))
      return mandate
    },
    approvedMandate: (account: TestAccount, terms?: Terms) => given.mandateIn(account, 'APPROVED', terms),
    /** The charge of the first cycle, planned. */
    async plannedCharge(account: TestAccount, terms?: Terms): Promise<TestCharge> {
      const mandate = await given.approvedMandate(account, terms)
      return (await chargesOf(account, mandate))[0]!
    },
    /** And at the payer's bank: it is a sale. */
    async scheduledCharge(account: TestAccount, terms?: Terms): Promise<TestCharge & { sale: object }> {
      const planned = await given.plannedCharge(account, terms)
      await it.sweep()
      const charge = await chargeAgain(account, planned)
      expect(charge.status).toBe('SCHEDULED')
      return { ...charge, sale: charge.sale! }
    },
    /** The payer's bank was asked and has not answered yet. */
    async reservedCharge(account: TestAccount, terms?: Terms): Promise<TestCharge & { sale: object }> {
      const planned = await given.plannedCharge(account, terms)
      await whileBanksAreSilent(it, it.sweep)
      const charge = await chargeAgain(account, planned)
      expect([charge.status, charge.sale?.situation]).toEqual(['PENDING_SCHEDULE', 'PENDING'])
      return { ...charge, sale: charge.sale! }
    },
    /** RETRYING is FAILED with a retry to come. */
    async chargeIn(account: TestAccount, state: ChargeState, terms: Terms = {}): Promise<TestCharge> {
      if (state === 'PENDING_SCHEDULE') return given.plannedCharge(account, terms)
      const charge = await given.scheduledCharge(account, state === 'RETRYING' ? { ...terms, ...withRetries } : terms)
      if (state === 'PAID') await railSays(it, chargePayment(it, charge))
      if (state === 'FAILED') await railSays(it, collectionNews(charge, 'FAILED', { code: 'AC03' }))
      if (state === 'RETRYING') await railSays(it, collectionNews(charge, 'FAILED', { code: 'AM04' }))
      if (state === 'CANCELLED') expect((await cancelCharge(account, charge)).http).toBe(200)
      return chargeAgain(account, charge)
    },
  }
  return given
}
