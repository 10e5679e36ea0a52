import { HOUR_MS, type Instant, MINUTE_MS, plusMs, SECOND_MS } from '../../kernel/calendar.ts'
import type { Txid } from '../../kernel/txid.ts'
import type { OutflowKind, OutflowSettled, Rail } from '../../rail/rail.ts'
import type { AccountTerms } from '../account/index.ts'

/** After so much account time the sandbox settles what goes out, unless the account wants to do it itself. */
const SETTLES_AFTER_MS = 2 * SECOND_MS

export const settlesAt = (account: Pick<AccountTerms, 'autoSettle'>, at: Instant): Instant | null =>
  account.autoSettle ? plusMs(at, SETTLES_AFTER_MS) : null

const FIRST_MS = SECOND_MS
const MOST_MS = 10 * MINUTE_MS

/** An order without an answer is sent again, each time after twice as long. */
export const sendAgainAt = (now: Instant, tries: number): Instant =>
  plusMs(now, Math.min(FIRST_MS * 2 ** (tries - 1), MOST_MS))

const SILENCE_MS = 15 * MINUTE_MS
const SILENCE_MS_MOST = 6 * HOUR_MS

/** Of an order that the rail has and says nothing of, it is asked; each time after twice as long. */
export const askAt = (now: Instant, asked = 0): Instant =>
  plusMs(now, Math.min(SILENCE_MS * 2 ** asked, SILENCE_MS_MOST))

/** What the door hears when the rail has let go of an order. */
export const withdrawn = (
  rail: Pick<Rail, 'name'>,
  { kind, reference }: { readonly kind: OutflowKind; readonly reference: Txid },
  settledAt: Instant,
): OutflowSettled => ({
  kind: 'outflow',
  rail: rail.name,
  order: kind,
  reference,
  outcome: 'CANCELLED',
  error: null,
  settledAt,
})
