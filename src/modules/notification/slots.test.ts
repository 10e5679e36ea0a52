import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AccountId } from '../../kernel/ids.ts'
import { createSlots, type SlotLimits, type Slots, slotLimits } from './slots.ts'

const [anna, bela, caio] = [101, 102, 103] as AccountId[] as [AccountId, AccountId, AccountId]
const wide: SlotLimits = { all: 100_000, accountStart: 32, accountMin: 8, accountMax: 256, slowMs: 1_000 }
const quick = { hung: false, durationMs: 10 }
const slow = { hung: false, durationMs: 1_001 }
const hung = { hung: true, durationMs: 10_000 }
/** Nobody listens there: no answer either, but at once. */
const refused = { hung: true, durationMs: 2 }

const take = (slots: Slots, id: AccountId, count: number) => {
  for (let taken = 0; taken < count; taken += 1) slots.take(id)
}
/** One call of the account that ends like this. */
const call = (slots: Slots, id: AccountId, how: typeof quick) => {
  slots.take(id)
  slots.free(id, how)
}
/** Takes what there is room for. */
const fill = (slots: Slots, id: AccountId): number => {
  const room = slots.room(id)
  take(slots, id, room)
  return room
}

describe('one account', () => {
  test('may start 32 calls at first', () => {
    const slots = createSlots(wide)
    expect(slots.room(anna)).toBe(32)
    take(slots, anna, 31)
    expect(slots.room(anna)).toBe(1)
    slots.take(anna)
    expect([slots.room(anna), slots.inFlight()]).toEqual([0, 32])
  })

  test('gets one more for every answer, however it answers, up to 256', () => {
    const slots = createSlots(wide)
    slots.take(anna)
    for (let answers = 1; answers <= 300; answers += 1) {
      call(slots, anna, quick)
      expect(slots.room(anna) + 1).toBe(Math.min(256, 32 + answers))
    }
  })

  test('gets half as many for every call that hangs, down to eight', () => {
    const slots = createSlots(wide)
    const rooms = Array.from({ length: 5 }, () => {
      call(slots, anna, hung)
      return slots.room(anna)
    })
    expect(rooms).toEqual([16, 8, 8, 8, 8])
  })

  test('grows again, one by one, when it answers again', () => {
    const slots = createSlots(wide)
    slots.take(anna)
    for (let calls = 0; calls < 4; calls += 1) call(slots, anna, hung)
    expect(slots.room(anna) + 1).toBe(8)
    for (let calls = 0; calls < 4; calls += 1) call(slots, anna, quick)
    expect(slots.room(anna) + 1).toBe(12)
  })

  test('never has less than no room, also with more on the way than it may have', () => {
    const slots = createSlots(wide)
    take(slots, anna, 32)
    for (let calls = 0; calls < 8; calls += 1) slots.free(anna, hung)
    expect([slots.inFlight(), slots.room(anna)]).toEqual([24, 0])
  })

  test('that gives a slot back unused has learned nothing', () => {
    const slots = createSlots(wide)
    for (let calls = 0; calls < 2; calls += 1) call(slots, anna, hung)
    slots.take(anna)
    slots.giveBack(anna)
    expect([slots.inFlight(), slots.room(anna)]).toEqual([0, 8])
  })

  test('that gives its last slot back is forgotten as well', () => {
    const slots = createSlots(wide)
    slots.take(anna)
    for (let calls = 0; calls < 50; calls += 1) call(slots, anna, quick)
    expect(slots.room(anna)).toBe(81)
    slots.giveBack(anna)
    expect(slots.room(anna)).toBe(32)
  })

  test('that is well and idle is forgotten: it begins anew', () => {
    const slots = createSlots(wide)
    for (let calls = 0; calls < 50; calls += 1) call(slots, anna, quick)
    expect(slots.room(anna)).toBe(32)
  })

  test('that hangs is remembered while idle, and forgotten when it is well again', () => {
    const slots = createSlots(wide)
    for (let calls = 0; calls < 5; calls += 1) call(slots, anna, hung)
    expect(slots.room(anna)).toBe(8)
    call(slots, anna, quick)
    expect(slots.room(anna)).toBe(32)
  })

  test('does not pay for another one', () => {
    const slots = createSlots(wide)
    for (let calls = 0; calls < 5; calls += 1) call(slots, anna, hung)
    expect(slots.room(bela)).toBe(32)
  })
})

describe('all accounts together', () => {
  // Few enough to count: the share of one account is a sixteenth of what is free, at least one.
  const few: SlotLimits = { ...wide, all: 64, accountStart: 32 }

  test('never have more on the way than there are slots', () => {
    const slots = createSlots(few)
    let started = 0
    for (let id = 1; id <= 200; id += 1) started += fill(slots, id as AccountId)
    expect([started, slots.inFlight()]).toEqual([64, 64])
    expect([1, 7, 500].map((id) => slots.room(id as AccountId))).toEqual([0, 0, 0])
  })

  test('get fewer each the fewer are left, and always one while there is one', () => {
    const slots = createSlots(few)
    const rooms = Array.from({ length: 64 }, (_, at) => fill(slots, (at + 1) as AccountId))
    expect(rooms[0]).toBe(4)
    expect([...rooms].sort((one, other) => other - one)).toEqual(rooms)
    expect(rooms.filter((room) => room === 0).length).toBe(64 - rooms.filter((room) => room > 0).length)
    expect(rooms.reduce((sum, room) => sum + room, 0)).toBe(64)
  })

  test('an account that has its share waits while others have none', () => {
    const slots = createSlots(few)
    expect(fill(slots, anna)).toBe(4)
    expect(slots.room(anna)).toBe(0)
    expect(slots.room(bela)).toBe(3)
  })

  test('the last slot is for whoever has none', () => {
    const slots = createSlots({ ...few, all: 2 })
    slots.take(anna)
    expect([slots.room(anna), slots.room(bela)]).toEqual([0, 1])
  })
})

describe('those that hang or are slow', () => {
  const few: SlotLimits = { ...wide, all: 64, accountMin: 8 }

  /** Makes the accounts slow one after the other. */
  const slowed = (slots: Slots, count: number, how = hung) => {
    const ids = Array.from({ length: count }, (_, at) => (1_000 + at) as AccountId)
    for (const id of ids) call(slots, id, how)
    return ids
  }

  test.each([
    ['hang', hung],
    ['refuse at once', refused],
    ['take more than a second', slow],
  ])('share a half of the slots: those that %s', (_what, how) => {
    const slots = createSlots(few)
    const started = slowed(slots, 100, how).reduce((sum, id) => sum + fill(slots, id), 0)
    expect([started, slots.inFlight()]).toEqual([32, 32])
    let others = 0
    for (let id = 1; id <= 100; id += 1) others += fill(slots, id as AccountId)
    expect(others).toBe(32)
  })

  test('a second is not slow, a millisecond more is', () => {
    const slots = createSlots({ ...few, all: 2 })
    call(slots, anna, { hung: false, durationMs: 1_000 })
    call(slots, bela, slow)
    take(slots, caio, 1)
    expect(slots.room(anna)).toBe(1)
    call(slots, caio, slow)
    // One slow call is on its way: a half of two is one.
    expect([slots.room(anna), slots.room(bela)]).toEqual([1, 0])
  })

  test('a slow one that answers keeps its number of calls and more: only the half bounds it', () => {
    const slots = createSlots(wide)
    slots.take(anna)
    for (let calls = 0; calls < 10; calls += 1) call(slots, anna, slow)
    expect(slots.room(anna) + 1).toBe(42)
  })

  test('calls that were on the way when the account became slow count as slow', () => {
    const slots = createSlots({ ...few, all: 320 })
    take(slots, anna, 20)
    call(slots, bela, slow)
    expect(slots.room(bela)).toBe(10)
    slots.free(anna, slow)
    // 19 of the 160 for slow ones are taken: a sixteenth of the other 141.
    expect(slots.room(bela)).toBe(8)
    slots.free(anna, quick)
    expect(slots.room(bela)).toBe(10)
  })

  test('when they end, every slot is back', () => {
    const slots = createSlots(few)
    const ids = slowed(slots, 100)
    const taken = ids.map((id) => [id, fill(slots, id)] as const)
    for (const [id, count] of taken) for (let calls = 0; calls < count; calls += 1) slots.free(id, quick)
    expect(slots.inFlight()).toBe(0)
    expect(slots.room(anna)).toBe(4)
    expect(ids.map((id) => slots.room(id)).every((room) => room >= 2)).toBe(true)
  })
})

test('the limits of the service: 4,096 in all, 32 at first, 8 to 256 for an account, slow above a second', () => {
  expect(slotLimits).toEqual({ all: 4_096, accountStart: 32, accountMin: 8, accountMax: 256, slowMs: 1_000 })
  expect(createSlots().room(anna)).toBe(32)
})

/** The same rules over a plain list of calls. */
function naiveSlots(limits: SlotLimits) {
  type Known = { limit: number; slow: boolean }
  const known = new Map<AccountId, Known>()
  const calls: AccountId[] = []
  const countOf = (id: AccountId) => calls.filter((each) => each === id).length
  const of = (id: AccountId): Known => known.get(id) ?? { limit: limits.accountStart, slow: false }
  const end = (id: AccountId) => {
    calls.splice(calls.indexOf(id), 1)
    if (countOf(id) === 0 && !of(id).slow) known.delete(id)
  }
  return {
    calls,
    limitOf: (id: AccountId) => of(id).limit,
    slowCalls: () => calls.filter((id) => of(id).slow).length,
    isSlow: (id: AccountId) => of(id).slow,
    room(id: AccountId) {
      const free = limits.all - calls.length
      const open = of(id).slow ? Math.min(free, Math.floor(limits.all / 2) - this.slowCalls()) : free
      const own = Math.min(of(id).limit, Math.max(1, Math.floor(open / 16))) - countOf(id)
      return Math.max(0, Math.min(own, open))
    },
    take: (id: AccountId) => void calls.push(id),
    giveBack: end,
    free(id: AccountId, how: typeof quick) {
      const { limit } = of(id)
      known.set(id, {
        slow: how.hung || how.durationMs > limits.slowMs,
        limit: how.hung ? Math.max(limits.accountMin, Math.floor(limit / 2)) : Math.min(limits.accountMax, limit + 1),
      })
      end(id)
    },
  }
}

const operation = fc.record({
  account: fc.integer({ min: 1, max: 8 }),
  kind: fc.constantFrom('fill', 'take', 'take', 'free', 'free', 'giveBack'),
  how: fc.constantFrom(quick, quick, slow, hung, refused),
})
const smallLimits = fc.record({
  all: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constant(2_000)),
  accountMin: fc.integer({ min: 1, max: 4 }),
  accountStart: fc.integer({ min: 4, max: 16 }),
  accountMax: fc.integer({ min: 16, max: 40 }),
  slowMs: fc.constant(1_000),
})

test('any order of calls: the same room as a plain list says, never above a limit, and every slot comes back', () => {
  fc.assert(
    fc.property(smallLimits, fc.array(operation, { maxLength: 120 }), (limits, operations) => {
      const slots = createSlots(limits)
      const naive = naiveSlots(limits)
      for (const { account, kind, how } of operations) {
        const id = account as AccountId
        const own = naive.calls.filter((each) => each === id).length
        const room = slots.room(id)
        expect(room).toBe(naive.room(id))
        expect(room).toBeGreaterThanOrEqual(0)
        const starts = kind === 'fill' ? room : kind === 'take' ? Math.min(1, room) : 0
        for (let started = 0; started < starts; started += 1) {
          slots.take(id)
          naive.take(id)
        }
        if (starts > 0) {
          expect(own + starts).toBeLessThanOrEqual(naive.limitOf(id))
          if (naive.isSlow(id)) expect(naive.slowCalls()).toBeLessThanOrEqual(Math.floor(limits.all / 2))
        }
        if (own > 0 && kind === 'free') {
          slots.free(id, how)
          naive.free(id, how)
        } else if (own > 0 && kind === 'giveBack') {
          slots.giveBack(id)
          naive.giveBack(id)
        }
        expect(slots.inFlight()).toBe(naive.calls.length)
        expect(slots.inFlight()).toBeLessThanOrEqual(limits.all)
      }
      for (const id of [...naive.calls]) slots.free(id, quick)
      expect(slots.inFlight()).toBe(0)
      // Whoever was slow and idle is asked once more; then nothing is left of the past.
      for (let id = 1; id <= 8; id += 1) {
        slots.take(id as AccountId)
        slots.free(id as AccountId, quick)
      }
      const fresh = createSlots(limits)
      for (let id = 1; id <= 8; id += 1) expect(slots.room(id as AccountId)).toBe(fresh.room(id as AccountId))
    }),
    { seed: 2026, numRuns: 5_000 },
  )
})
