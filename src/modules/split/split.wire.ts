import { type Static, type TSchema, Type } from 'typebox'
import { type Cents, centsToWire, shareToWire } from '../../kernel/cents.ts'
import { nullable } from '../../kernel/schema.ts'
import type { Leg } from './leg.store.ts'
import { type Settlement, settlements, splitTotal } from './split.ts'

const settlementSchema = Type.String({ enum: [...settlements] })

/** The parent's block and the recipient's are two shapes of one field. */
export const splitBlockSchema = Type.Object({
  feePayer: Type.Optional(Type.String({ description: 'Parent: always PARENT.' })),
  role: Type.Optional(Type.String({ description: 'Recipient-side transaction: RECIPIENT.' })),
  origin: Type.Optional(Type.String({ description: 'Recipient-side transaction: SPLIT.' })),
  refundLiability: Type.String({ description: 'Always PARENT.' }),
  grossAmount: Type.Optional(Type.Number()),
  parentAmount: Type.Optional(Type.Number({ description: 'grossAmount minus all legs, before fees.' })),
  amountReceived: Type.Optional(Type.Number()),
  settlementStatus: Type.Optional(settlementSchema),
  recipients: Type.Optional(
    Type.Array(
      Type.Object({
        recipientId: Type.String(),
        transactionId: Type.String(),
        amount: Type.Number(),
        percentage: nullable(Type.Number()),
        externalReference: nullable(Type.String()),
        settlementStatus: settlementSchema,
      }),
    ),
  ),
})
export type SplitBlock = Static<typeof splitBlockSchema>

type ShownLeg = Pick<Leg, 'recipientUuid' | 'transactionId' | 'amount' | 'share' | 'externalReference'>

export const parentBlock = (
  gross: Cents,
  legs: readonly ShownLeg[],
  settlementOf: (leg: ShownLeg) => Settlement,
): SplitBlock => ({
  feePayer: 'PARENT',
  refundLiability: 'PARENT',
  grossAmount: centsToWire(gross),
  parentAmount: centsToWire((gross - splitTotal(legs)) as Cents),
  recipients: legs.map((leg) => ({
    recipientId: leg.recipientUuid,
    transactionId: leg.transactionId,
    amount: centsToWire(leg.amount),
    percentage: leg.share === null ? null : shareToWire(leg.share),
    externalReference: leg.externalReference,
    settlementStatus: settlementOf(leg),
  })),
})

export const recipientBlock = (amount: Cents, settlement: Settlement): SplitBlock => ({
  role: 'RECIPIENT',
  origin: 'SPLIT',
  refundLiability: 'PARENT',
  amountReceived: centsToWire(amount),
  settlementStatus: settlement,
})

/** A leg in a checkout's request, for the OpenAPI document. */
export const splitRequestSchema: TSchema = Type.Array(
  Type.Object({
    recipientId: Type.String({ format: 'uuid' }),
    amount: Type.Optional(Type.Union([Type.Number(), Type.String()], { description: 'Or percentage; at least 0.01.' })),
    percentage: Type.Optional(
      Type.Union([Type.Number(), Type.String()], {
        description: 'Of the whole amount, rounded down; more than 0, at most 100, at most four decimals.',
      }),
    ),
    externalReference: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
  }),
  { description: 'Who gets a share. The rest, and the fee, are the parent’s.' },
)
