/** What is under way and must end by its deadline. The links are the list's own. */
export type UnderWay = {
  deadline: number
  before: UnderWay | null
  after: UnderWay | null
  /** Removes itself. */
  end(why: 'timeout' | 'stopped'): void
}

export type InFlight = {
  add(one: UnderWay): void
  remove(one: UnderWay): void
  stopAll(): void
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
}

/**
 * All have the same time, so the first to come is the first to expire: a list in that order and one timer for its head
 * do for any number of calls.
 */
export function createInFlight(timeoutMs: number, now: () => number = () => performance.now()): InFlight {
  let first: UnderWay | null = null
  let last: UnderWay | null = null
  let timer: NodeJS.Timeout | null = null
  let waiting: (() => void)[] = []

  function expire() {
    timer = null
    const at = now()
    while (first !== null && first.deadline <= at) first.end('timeout')
    if (first !== null) timer = setTimeout(expire, Math.ceil(first.deadline - at))
  }

  function remove(one: UnderWay) {
    if (one.before === null) first = one.after
    else one.before.after = one.after
    if (one.after === null) last = one.before
    else one.after.before = one.before
    one.before = null
    one.after = null
    if (first === null) becomeIdle()
  }

  function becomeIdle() {
    // The timer stays for the next call, but keeps no process alive.
    timer?.unref()
    for (const done of waiting) done()
    waiting = []
  }

  return {
    add(one) {
      one.deadline = now() + timeoutMs
      one.before = last
      if (last === null) first = one
      else last.after = one
      last = one
      if (timer === null) timer = setTimeout(expire, timeoutMs)
      else if (first === one) timer.ref()
    },
    remove,
    stopAll() {
      while (first !== null) first.end('stopped')
    },
    idle: () => (first === null ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}
