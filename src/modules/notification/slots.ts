import type { AccountId } from '../../kernel/ids.ts'

/**
 * How many calls may be on their way at once, in all and for each account. A receiver that hangs gets fewer and fewer
 * at a time, and all that hang or are slow share a half of the slots, so they never take the last one from the others.
 */
export type Slots = {
  /** How many more calls the account may start now. */
  room(accountId: AccountId): number
  take(accountId: AccountId): void
  /** The slot was not used. */
  giveBack(accountId: AccountId): void
  /** The call is over and recorded. */
  free(accountId: AccountId, call: FinishedCall): void
  inFlight(): number
}

/** `hung`: there was no whole answer. A quick refusal by status takes no slot for long. */
export type FinishedCall = { readonly hung: boolean; readonly durationMs: number }

export type SlotLimits = {
  readonly all: number
  readonly accountStart: number
  readonly accountMin: number
  readonly accountMax: number
  readonly slowMs: number
}

export const slotLimits: SlotLimits = { all: 4_096, accountStart: 32, accountMin: 8, accountMax: 256, slowMs: 1_000 }

const CROWD_SHARE = 16

type Account = { limit: number; inFlight: number; slow: boolean }

export function createSlots(limits: SlotLimits = slotLimits): Slots {
  const accounts = new Map<AccountId, Account>()
  const slowMax = Math.floor(limits.all / 2)
  let all = 0
  let slow = 0

  const accountOf = (id: AccountId): Account => {
    const known = accounts.get(id)
    if (known) return known
    const fresh = { limit: limits.accountStart, inFlight: 0, slow: false }
    accounts.set(id, fresh)
    return fresh
  }
  const release = (account: Account): void => {
    account.inFlight -= 1
    all -= 1
    if (account.slow) slow -= 1
  }
  const setSlow = (account: Account, isSlow: boolean): void => {
    if (account.slow === isSlow) return
    account.slow = isSlow
    slow += isSlow ? account.inFlight : -account.inFlight
  }
  /** Whoever is well and idle needs no memory. */
  const forget = (id: AccountId, account: Account): void => {
    if (account.inFlight === 0 && !account.slow) accounts.delete(id)
  }

  return {
    room(id) {
      const account = accounts.get(id)
      const free = account?.slow ? Math.min(limits.all - all, slowMax - slow) : limits.all - all
      // The fewer are left, the fewer go to one account: many that begin to hang at once leave room for the others.
      const fair = Math.max(Math.floor(free / CROWD_SHARE), 1)
      const own = Math.min(account?.limit ?? limits.accountStart, fair) - (account?.inFlight ?? 0)
      return Math.max(0, Math.min(own, free))
    },
    take(id) {
      const account = accountOf(id)
      account.inFlight += 1
      all += 1
      if (account.slow) slow += 1
    },
    giveBack(id) {
      const account = accountOf(id)
      release(account)
      forget(id, account)
    },
    free(id, { hung, durationMs }) {
      const account = accountOf(id)
      release(account)
      setSlow(account, hung || durationMs > limits.slowMs)
      account.limit = hung
        ? Math.max(limits.accountMin, account.limit >> 1)
        : Math.min(limits.accountMax, account.limit + 1)
      forget(id, account)
    },
    inFlight: () => all,
  }
}
