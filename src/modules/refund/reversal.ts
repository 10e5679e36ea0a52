import { type Instant, wireTimestamp } from '../../kernel/calendar.ts'
import { type Cents, centsToWire } from '../../kernel/cents.ts'
import type { AccountId, EndToEndId, NumberId, ReversalId, SaleId } from '../../kernel/ids.ts'
import { type Queryable, statement } from '../../platform/database/database.ts'
import type { Posting } from '../ledger/index.ts'
import type { EventName, News } from '../notification/index.ts'
import type { PaymentMisfit, Sale } from '../sale/index.ts'

export type ReversalState = 'PENDING' | 'PAID' | 'CANCELLED'

/** A payment that fits no sale, on its way back to whoever sent it. */
export type Reversal = {
  readonly accountId: AccountId
  readonly id: ReversalId
  readonly number: NumberId
  readonly saleId: SaleId | null
  readonly endToEnd: EndToEndId
  readonly amount: Cents
  readonly reason: PaymentMisfit
  readonly state: ReversalState
  readonly createdAt: Instant
}

/** Held apart: the merchant never had it, so its balance does not move. */
export const postingsForReversal = (amount: Cents): readonly Posting[] => [{ kind: 'reversalHeld', leg: 0, amount }]

/**
 * Part of the door's statement: \`winners\` has account_id, sale_id, reversal_id, reversal_number, txid, end_to_end,
 * original_amount, amount, reason, event_at and effect.
 */
export const addReversalsCte = (winners: string): string => `
  insert into reversal (account_id, id, number, sale_id, txid, end_to_end, original_amount_cents, amount_cents, reason, created_at)
  select account_id, reversal_id, reversal_number, sale_id, txid, end_to_end, original_amount, amount, reason, event_at
  from ${winners} where effect = 'reverse'
  returning id`

const eventOf: Record<ReversalState, EventName> = {
  PENDING: 'REVERSAL_CREATE',
  PAID: 'REVERSAL_PAID',
  CANCELLED: 'REVERSAL_CANCEL',
}

type TellableReversal = Pick<Reversal, 'accountId' | 'id' | 'number' | 'amount' | 'reason' | 'state' | 'createdAt'>

/** Told when the reversal is made and when it ends. A reversal of money for no known sale is the operator's alone. */
export const reversalNews = (
  reversal: TellableReversal,
  sale: Pick<Sale, 'id' | 'number' | 'amount'>,
  at: Instant,
): News => ({
  accountId: reversal.accountId,
  event: eventOf[reversal.state],
  resourceId: sale.id,
  alsoId: reversal.id,
  callbackUrl: null,
  at,
  body: () => ({
    id: reversal.number,
    uuid: reversal.id,
    currency: 'BRL',
    originalAmount: centsToWire(sale.amount),
    reversedAmount: centsToWire(reversal.amount),
    status: reversal.state,
    bankDetails: { bank: '', branch: '', account: '' },
    sale: { id: sale.number, uuid: sale.id },
    creation: wireTimestamp(reversal.createdAt),
    receipt: null,
    reason: reversal.reason,
    date: wireTimestamp(at),
  }),
})

type Row = {
  account_id: number
  id: string
  number: number
  sale_id: string | null
  end_to_end: string
  amount_cents: number
  reason: PaymentMisfit
  state: ReversalState
  created_at: Instant
}

const findSql = statement<Row>(
  'reversal_find',
  `select account_id, id, number, sale_id, end_to_end, amount_cents, reason, state, created_at
   from reversal where account_id = $1 and id = $2`,
)

export async function findReversal(db: Queryable, accountId: AccountId, id: ReversalId): Promise<Reversal | undefined> {
  const [row] = await db.query(findSql, [accountId, id])
  return (
    row && {
      accountId: row.account_id as AccountId,
      id: row.id as ReversalId,
      number: row.number as NumberId,
      saleId: row.sale_id as SaleId | null,
      endToEnd: row.end_to_end as EndToEndId,
      amount: row.amount_cents as Cents,
      reason: row.reason,
      state: row.state,
      createdAt: row.created_at,
    }
  )
}
