import { type Static, Type } from 'typebox'
import { wireTimestamp } from '../../kernel/calendar.ts'
import { centsToWire } from '../../kernel/cents.ts'
import { maskDocument } from '../../kernel/documents.ts'
import { nullable } from '../../kernel/schema.ts'
import type { Conflict } from './conflicts.ts'

const conflictSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  rail: Type.String(),
  kind: Type.String({
    description: 'payment, mandate, collection, or the kind of an order: REFUND, REVERSAL, PAYOUT.',
  }),
  railId: Type.String({ description: 'The name that the rail has for it.' }),
  received: Type.String(),
  event: Type.Object({}, { additionalProperties: true, description: 'What the rail said.' }),
  first: nullable(
    Type.Object(
      {
        accountNumber: Type.Integer(),
        outcome: Type.String({ enum: ['APPLIED', 'REVERSED'] }),
        uuid: Type.String(),
        amount: nullable(Type.Number()),
        received: Type.String(),
      },
      { description: 'What was heard first under this name, and what became of it.' },
    ),
  ),
})

export const conflictListSchema = Type.Object({
  status: Type.Integer(),
  message: Type.String(),
  totalElements: Type.Integer(),
  totalPages: Type.Integer(),
  resultSize: Type.Integer(),
  result: Type.Array(conflictSchema),
})

export const conflictWire = ({ event, first, ...conflict }: Conflict): Static<typeof conflictSchema> => ({
  id: conflict.id,
  rail: conflict.rail,
  kind: conflict.kind,
  railId: conflict.railId,
  received: wireTimestamp(conflict.receivedAt),
  event: eventWire(event),
  first: first && {
    accountNumber: first.accountId,
    outcome: first.outcome,
    uuid: first.outcomeId,
    amount: first.amount === null ? null : centsToWire(first.amount),
    received: wireTimestamp(first.receivedAt),
  },
})

/** As it was said, in the units of the wire, with the documents of people masked. */
function eventWire({ kind: _kind, rail: _rail, ...said }: Conflict['event']): Record<string, unknown> {
  return {
    ...said,
    ...('amount' in said && { amount: centsToWire(said.amount) }),
    ...('settledAt' in said && { settledAt: wireTimestamp(said.settledAt) }),
    ...('payer' in said && said.payer && { payer: { ...said.payer, document: masked(said.payer.document) } }),
  }
}

const masked = (document: string | null): string | null => (document === null ? null : maskDocument(document))
