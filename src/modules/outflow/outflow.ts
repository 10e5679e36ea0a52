import { type Instant, MINUTE_MS, plusMs, SECOND_MS } from '../../kernel/calendar.ts'
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
