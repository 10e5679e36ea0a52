import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import type { Transaction } from '../../platform/database/database.ts'
import type { OutflowInstruction } from '../../rail/rail.ts'
import { PHONE_ISPB } from '../../rail/sandbox/sandbox-rail.ts'
import { findEntries, findPaymentBy, lockPhones, writeEntries } from './phone.store.ts'
import { append } from './phone.ts'
import { receiversTime } from './receivers-time.ts'

export type MoneyBack = {
  readonly accountId: AccountId
  /** Of the refund or the reversal. */
  readonly id: string
  readonly instruction: Pick<OutflowInstruction, 'amount' | 'endToEnd'>
  /** Real time. */
  readonly now: Instant
}

/** A refund or a reversal was paid: if a phone made the payment, the money is there again. */
export async function giveBackToPhone(tx: Transaction, { accountId, id, instruction, now }: MoneyBack): Promise<void> {
  const { endToEnd, amount } = instruction
  // The second part of the id is the payer's bank; most payments come from others.
  if (!endToEnd?.startsWith(`E${PHONE_ISPB}`)) return
  const payment = await findPaymentBy(tx, endToEnd)
  if (payment === undefined) return
  const settledAt = await receiversTime(tx, accountId, now)
  const [phone] = await lockPhones(tx, [payment.phoneId])
  const key = `back ${id}`
  if ((await findEntries(tx, payment.phoneId, [key])).length > 0) return
  const added = append(phone!, [
    {
      kind: 'GIVEN_BACK',
      key,
      amount,
      counterparty: payment.receiver,
      endToEnd,
      txid: null,
      settledAt,
      outcome: null,
    },
  ])
  await writeEntries(tx, added.phone, added.entries)
}
