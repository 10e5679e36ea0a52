import { expect, onTestFinished } from 'vitest'
import type { CollectionNews, CollectionOrder, Rail } from '../../src/rail/rail.ts'
import type { Reply } from './api-client.ts'
import type { TestAccount } from './given.ts'
import { shopper } from './given.ts'
import type { TestService } from './test-service.ts'

const SIM = '/v1.1/pix-automatic/sandbox/sim'
const AUTHORIZATIONS = '/v1.1/pix-automatic/authorizations'
let count = 0

export type TestMandate = { readonly account: TestAccount; readonly idRec: string; readonly uuid: string }

/** Events of its mandates are written; nobody delivers them, unless the test does. */
export async function listeningAccount(it: TestService, settings?: Record<string, unknown>): Promise<TestAccount> {
  const account = await it.given.account(settings)
  const told = await account.api.put('/v1.1/account/notifications', { payment: { url: 'http://127.0.0.1:9/hook' } })
  expect(told.http, told.text).toBe(200)
  return account
}

/** A plan of 100.00 a month that accepts retries. */
export async function givenPlan({ api }: TestAccount, fields: Record<string, unknown> = {}): Promise<string> {
  const plan = { title: 'Clube', frequency: 'MONTHLY', recurrenceAmount: 100, retryPolicy: 'ACCEPT_3R_7D', ...fields }
  const made = await api.post('/v1.1/pix-automatic/plans', plan)
  expect(made.http, made.text).toBe(201)
  return made.body.id
}

export type MandateFields = {
  readonly planId: string
  readonly initialDate: string
  readonly finalDate?: string
  readonly amount?: Record<string, unknown>
  readonly retry?: boolean
  readonly immediatePayment?: boolean
  readonly checkout?: Record<string, unknown>
}

/** It waits for its payer. */
export async function givenMandate(account: TestAccount, fields: MandateFields): Promise<TestMandate> {
  const { planId, initialDate, finalDate, amount = {}, retry = true, immediatePayment = false } = fields
  const made = await account.api.post('/v1.1/checkout/pix-automatic', {
    currency: 'BRL',
    referenceCode: `subscription-${++count}`,
    shopper,
    recurrence: { planId, immediatePayment, retry, amount, calendar: { initialDate, finalDate } },
    ...fields.checkout,
  })
  expect(made.http, made.text).toBe(200)
  return { account, idRec: made.body.idRec, uuid: made.body.response.uuid }
}

export async function approvedMandate(account: TestAccount, fields: MandateFields): Promise<TestMandate> {
  const mandate = await givenMandate(account, fields)
  await done(simMandate(mandate, 'approved'))
  return mandate
}

/** The answer's body, of what must succeed. */
export async function done(asked: Promise<Reply>) {
  const { http, body, text } = await asked
  expect(http, text).toBe(200)
  return body
}

export const simMandate = ({ account, idRec }: TestMandate, action: string) =>
  account.api.post(`${SIM}/mandate/${idRec}/${action}`)
export const simRecurrence = ({ account, idRec }: TestMandate, action: string) =>
  account.api.post(`${SIM}/recurrence/${idRec}/${action}`)
export const simCharge = ({ account }: TestMandate, instructionId: string, action: string) =>
  account.api.post(`${SIM}/collection/${instructionId}/${action}`)

export const cancelMandate = ({ account, idRec }: TestMandate) => account.api.put(`${AUTHORIZATIONS}/${idRec}/cancel`)
export const setCycleAmount = ({ account, idRec }: TestMandate, amount: number) =>
  account.api.put(`${AUTHORIZATIONS}/${idRec}/cycle-amount`, { amount })
export const cancelCharge = ({ account }: TestMandate, instructionId: string) =>
  account.api.put(`/v1.1/pix-automatic/scheduled-payments/${instructionId}/cancel`)

/** The account's clock jumps: by so much, or to a time of São Paulo. */
export const advance = ({ api }: TestAccount, by: Record<string, unknown> | string) =>
  done(api.post('/v1.1/sandbox/clock/advance', typeof by === 'string' ? { to: by } : by))

export const authorizationOf = async ({ account, idRec }: TestMandate) =>
  (await done(account.api.get(`${AUTHORIZATIONS}/${idRec}`))).authorization

export type TestCharge = {
  readonly instructionId: string
  readonly status: string
  readonly dueDate: string
  readonly amount: number
  readonly endToEnd: string | null
  readonly rejectionCode: string | null
  readonly sale: { readonly uuid: string; readonly situation: string } | null
}

/** First cycle first. */
export const chargesOf = async ({ account, idRec }: TestMandate): Promise<TestCharge[]> =>
  (await done(account.api.get(`${AUTHORIZATIONS}/${idRec}`))).paymentSchedules.toSorted(
    (a: TestCharge, b: TestCharge) => a.dueDate.localeCompare(b.dueDate),
  )
export const chargeDue = async (mandate: TestMandate, day: string): Promise<TestCharge> =>
  (await chargesOf(mandate)).find(({ dueDate }) => dueDate.startsWith(day))!

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
export type TestEvent = any

/** What the merchant is told of a mandate, in the order of its turns, of which none may be missing. */
export async function eventsOf(it: TestService, { uuid }: Pick<TestMandate, 'uuid'>): Promise<TestEvent[]> {
  const rows = await it.rows<{ turn: number; payload: string }>(
    'select turn, payload from notification where resource_id = $1 order by turn',
    [uuid],
  )
  const turns = rows.map(({ turn }) => turn).filter((turn) => turn < 1_000_000)
  expect(turns).toEqual(turns.map((_, at) => at + 1))
  return rows.filter(({ turn }) => turn < 1_000_000).map(({ payload }) => JSON.parse(payload))
}

// ---- The bank's side ----

/** What is sent to the bank from now on; the sandbox's bank answers, unless another is given. */
export function watchRail(
  rail: Rail,
  answer?: (orders: readonly CollectionOrder[]) => Promise<readonly CollectionNews[]>,
) {
  const ask = rail.collect
  const orders: CollectionOrder[] = []
  rail.collect = async (asked) => {
    orders.push(...asked)
    return (answer ?? ask)(asked)
  }
  onTestFinished(() => {
    rail.collect = ask
  })
  return orders
}

/** What the payer's bank says of an attempt. */
export const railNews = (
  txid: string,
  state: CollectionNews['state'],
  { attempt = 0, code = null }: { attempt?: number; code?: string | null } = {},
): CollectionNews => ({
  kind: 'collection',
  rail: 'sandbox',
  txid: txid as CollectionNews['txid'],
  attempt,
  state,
  code,
})

/** Day and state of each charge, first cycle first. */
export const statesOf = async (mandate: TestMandate): Promise<string[]> =>
  (await chargesOf(mandate)).map(({ dueDate, status }) => `${dueDate.slice(0, 10)} ${status}`)

/** The due dates of the charges of which an event was told, in the order of telling. */
export const daysTold = async (it: TestService, mandate: TestMandate, event: string): Promise<string[]> =>
  (await eventsOf(it, mandate))
    .filter(({ eventType }) => eventType === `RECURRENCE_${event}`)
    .map(({ chargeDueDate }) => chargeDueDate.slice(0, 10))

/** What earlier tests left to be done is out of the way of the next one. */
export const setDuesAside = (it: TestService) => it.rows(`update recurrence_due set leased_until = '${ASIDE}'`)
/** What is left to be done by now. */
export const dueNow = (it: TestService) =>
  it.rows<{ kind: string }>(
    `select kind, due_at from recurrence_due where due_at <= $1 and leased_until is distinct from '${ASIDE}'`,
    [new Date(it.clock.now()).toISOString()],
  )
const ASIDE = '2100-01-01T00:00:00Z'
