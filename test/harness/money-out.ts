import { expect } from 'vitest'
import type { AccountId } from '../../src/kernel/ids.ts'
import { applyOutflowAlone, type OutflowOutcome } from '../../src/modules/door/index.ts'
import { referenceOf } from '../../src/modules/outflow/index.ts'
import type { OutflowKind, OutflowSettled } from '../../src/rail/rail.ts'
import type { Reply } from './api-client.ts'
import type { TestAccount, TestSale } from './given.ts'
import type { TestService } from './test-service.ts'

let count = 0

/** A payout that is right in every field. */
export const payoutBody = (fields: Record<string, unknown> = {}) => ({
  amount: 10,
  currency: 'BRL',
  referenceCode: `payout-${++count}`,
  beneficiary: { name: 'Fornecedor Ltda', bankDetails: { pixKey: 'fornecedor@example.com' } },
  ...fields,
})

export const refund = ({ api }: TestAccount, { uuid }: Pick<TestSale, 'uuid'>, body?: unknown): Promise<Reply> =>
  api.put(`/v1.1/transactions/${uuid}/refund`, body)
export const payOut = ({ api }: TestAccount, fields: Record<string, unknown> = {}): Promise<Reply> =>
  api.post('/v1.1/payout/create', payoutBody(fields))

/** The uuid of what was accepted. */
export async function accepted(asked: Promise<Reply>): Promise<string> {
  const { http, body, text } = await asked
  expect(http, text).toBe(200)
  return body.uuid
}

/** What the simulator says of it: `refund/…/paid`, `payout/…/failed/PE0001`. */
export const simulate = ({ api }: TestAccount, kind: string, uuid: string, how: string, headers = {}) =>
  api.post(`/v1.1/sandbox/sim/${kind}/${uuid}/${how}`, undefined, { headers })

export async function moneyOf({ api }: TestAccount): Promise<{ available: number; blocked: number }> {
  const { available, blocked, balance } = (await api.get('/v1.1/balance')).body
  expect(Math.round(balance * 100)).toBe(Math.round(available * 100) + Math.round(blocked * 100))
  return { available, blocked }
}

/** Types and amounts of the statement, newest first. */
export const linesOf = async ({ api }: TestAccount): Promise<[type: string, amount: number][]> =>
  (await api.get('/v1.1/statement')).body.result.map(({ type, amount }: { type: string; amount: number }) => [
    type,
    amount,
  ])

export const numberOf = async (it: TestService, { id }: Pick<TestAccount, 'id'>): Promise<AccountId> =>
  (await it.rows<{ id: number }>('select id from account where uuid = $1', [id]))[0]!.id as AccountId

/** How the rail says that an order has ended, straight through the door. */
export async function railReport(
  it: TestService,
  account: Pick<TestAccount, 'id'>,
  order: OutflowKind,
  uuid: string,
  fields: Partial<OutflowSettled> = {},
): Promise<OutflowSettled> {
  const reference = referenceOf(await numberOf(it, account), uuid)
  const settledAt = it.clock.now()
  return { kind: 'outflow', rail: 'sandbox', order, reference, outcome: 'PAID', error: null, settledAt, ...fields }
}

export const hear = async (it: TestService, report: OutflowSettled): Promise<OutflowOutcome['outcome']> =>
  (await applyOutflowAlone(it.service.doorContext, report)).outcome
