import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CalendarDay,
  DAY_MS,
  dayOf,
  daysBetween,
  HOUR_MS,
  type Instant,
  plusDays,
  plusMs,
  startOfDay,
} from '../../kernel/calendar.ts'
import { type Cents, cents, type ShareUnits } from '../../kernel/cents.ts'
import type { AccountId, ChargeId, EndToEndId, IdRec, MandateId, NumberId, PlanId } from '../../kernel/ids.ts'
import type { CollectionNews, MandateNews } from '../../rail/rail.ts'
import { type Change, type Changing, changing, type Due, dueOfCharge, dueOfMandate } from './change.ts'
import { type Charge, isOpen, reasonCodes } from './charge.ts'
import { lastCycleOf, type Periodicity, periodicities } from './cycle.ts'
import { hearCollection, hearMandate, hearPayment } from './hear.ts'
import { isFinal, type Mandate } from './mandate.ts'

const RUNS = { numRuns: 10_000, seed: 20_261_116 }

/** Millions of these: `expect` would take minutes. */
function must(holds: boolean, what: string, ...seen: unknown[]): void {
  if (!holds) throw new Error(`${what}: ${seen.map((one) => JSON.stringify(one)).join(', ')}`)
}

// ---- What the specification says, counted here in another way ----

const monthsOf: Record<Exclude<Periodicity, 'WEEKLY'>, number> = {
  MONTHLY: 1,
  QUARTERLY: 3,
  SEMIANNUAL: 6,
  ANNUALLY: 12,
}
const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10) as CalendarDay

/** Cycle k is due k periods after the first day; a month without that day gives its last one. */
function dueDay(initialDate: CalendarDay, periodicity: Periodicity, cycle: number): CalendarDay {
  if (periodicity === 'WEEKLY') return dayAt(Date.parse(initialDate) + cycle * 7 * DAY_MS)
  const [year, month, date] = initialDate.split('-').map(Number) as [number, number, number]
  const months = year * 12 + month - 1 + cycle * monthsOf[periodicity]
  const last = new Date(Date.UTC(Math.floor(months / 12), (months % 12) + 1, 0)).getUTCDate()
  return dayAt(Date.UTC(Math.floor(months / 12), months % 12, Math.min(date, last)))
}
const retryDays = (periodicity: Periodicity) => (periodicity === 'WEEKLY' ? [0, 1, 3, 5] : [0, 2, 4, 6])
const windowDays = (periodicity: Periodicity) => (periodicity === 'WEEKLY' ? 5 : 7)
const helpedByRetry = ['FAIL', 'AM04', 'AB09', 'AC06', 'AM02', 'SL02']

// ---- A world of one mandate ----

type Start = {
  readonly initialDate: CalendarDay
  readonly periodicity: Periodicity
  readonly period: number
  readonly finalDate: CalendarDay | null
  readonly approvedAt: Instant
  readonly valueType: 'FIXED' | 'VARIABLE'
  readonly retries: boolean
  readonly price: number
  readonly minimum: number
}
type Told = { readonly event: string; readonly body: Record<string, unknown> }
type Sale = { readonly amount: number; state: 'PENDING' | 'PAID' | 'CANCELLED' }

/** What a bank does with an order, or on the day it is to collect. */
type Bank = { readonly says: 'yes' | 'no' | 'nothing'; readonly on: 'fail' | 'reject'; readonly code: string }
const pays: Bank = { says: 'yes', on: 'fail', code: '' }

/** Holds what the tables would hold, writes changes as the store does, and knows by itself what must be so. */
class World {
  mandate: Mandate
  readonly charges = new Map<string, Charge>()
  readonly dues = new Map<string, NonNullable<Due['next']>>()
  readonly sales = new Map<string, Sale>()
  readonly told: Told[] = []
  /** The days on which each charge was at the bank. */
  readonly sent = new Map<string, CalendarDay[]>()
  readonly start: Start
  readonly first: number
  /** Infinite when the mandate is open-ended. */
  readonly last: number
  now: Instant
  price: Cents
  oneOff: Cents | null = null
  concludedByRail = false
  private made = 0

  constructor(start: Start) {
    const { initialDate, periodicity, period, finalDate, valueType, retries, price, minimum } = start
    this.start = start
    this.now = start.approvedAt
    this.price = cents(price)
    this.mandate = {
      accountId: 1 as AccountId,
      id: 'mandate' as MandateId,
      number: 1 as NumberId,
      idRec: 'RR' as IdRec,
      planId: 'plan' as PlanId,
      version: 0,
      turns: 0,
      state: 'CREATED',
      valueType,
      amount: valueType === 'FIXED' ? cents(price) : null,
      minimum: valueType === 'VARIABLE' ? cents(minimum) : null,
      oneOff: null,
      initialDate,
      periodicity,
      finalDate,
      lastCycle: lastCycleOf({ initialDate, periodicity }, { period, finalDate })!,
      retries,
      immediate: false,
      nextCycle: null,
      openCharges: 0,
      referenceCode: 'r',
      callbackUrl: null,
      shopper: {} as Mandate['shopper'],
      payer: { document: '1', name: 'P', ispb: null },
      createdAt: this.now,
      updatedAt: this.now,
      expiresAt: plusMs(this.now, DAY_MS),
      approvedAt: null,
    }
    this.dues.set(this.mandate.id, dueOfMandate(this.mandate)!)
    this.first = this.cycleWhere((day) => daysBetween(dayOf(start.approvedAt), day) >= 2)
    const byDate = finalDate === null ? Number.POSITIVE_INFINITY : this.cycleWhere((day) => day > finalDate) - 1
    this.last = Math.min(byDate, period === 0 ? Number.POSITIVE_INFINITY : period - 1)
    this.decide((work) => hearMandate(work, { state: 'APPROVED', payer: null } as MandateNews))
    this.check()
  }

  private cycleWhere(holds: (day: CalendarDay) => boolean): number {
    let cycle = 0
    while (!holds(this.dayOfCycle(cycle))) cycle += 1
    return cycle
  }
  private readonly cycleDays: CalendarDay[] = []
  dayOfCycle(cycle: number): CalendarDay {
    this.cycleDays[cycle] ??= dueDay(this.start.initialDate, this.start.periodicity, cycle)
    return this.cycleDays[cycle]
  }
  private dayOfAttempt(dueDate: CalendarDay, attempt: number): CalendarDay {
    return plusDays(dueDate, retryDays(this.start.periodicity)[attempt]!)
  }

  get open(): Charge[] {
    return [...this.charges.values()].filter(isOpen)
  }

  /** `charges`: those that the decision is shown, as the store does; the mandate's decisions see all open ones. */
  decide<Value>(decision: (work: Changing) => Value, charges: readonly Charge[] = this.open): Value {
    const work = changing(
      { mandate: this.mandate, plan: { title: 't', description: null, recurrenceAmount: this.price }, charges },
      {
        at: this.now,
        account: { pixFee: { share: 9_900 as ShareUnits, fixed: cents(0) } },
        newId: () => `id-${String(++this.made).padStart(5, '0')}`,
        nextNumber: () => ++this.made as NumberId,
      },
    )
    const value = decision(work)
    if (value !== false && value !== 'conflict' && value !== 'duplicate') this.write(work.change())
    return value
  }

  private write(change: Change) {
    const { before, mandate } = change
    must(before === this.mandate, 'decided on the mandate as it is')
    must(mandate.version === before.version + 1, 'every change counts', mandate.version)
    must(mandate.turns === before.turns + change.news.length, 'every event has its turn', mandate.turns)
    for (const { event, body } of change.news) this.told.push({ event, body: body() as Told['body'] })
    for (const sale of change.newSales) {
      must(!this.sales.has(sale.id) && sale.amount === this.expectedPrice(), 'price', sale, this.expectedPrice())
      this.sales.set(sale.id, { amount: sale.amount, state: 'PENDING' })
      this.oneOff = null
    }
    for (const charge of change.charges) this.replace(this.charges.get(charge.id)!, charge)
    for (const charge of change.newCharges) {
      must(!this.charges.has(charge.id), 'a new charge is new')
      this.charges.set(charge.id, charge)
    }
    for (const id of change.cancelledSales) {
      must(this.sales.get(id)!.state === 'PENDING', 'a sale is cancelled once')
      this.sales.get(id)!.state = 'CANCELLED'
    }
    for (const { id, next } of change.dues)
      if (next === null) this.dues.delete(id)
      else this.dues.set(id, next)
    this.mandate = mandate
  }

  private replace(before: Charge, after: Charge) {
    this.charges.set(after.id, after)
    if (before === after) return
    must(isOpen(before), 'what has ended stays as it is', before, after)
    must(after.cycle === before.cycle && after.dueDate === before.dueDate, 'a charge keeps its cycle', before, after)
    if (before.amount !== null)
      must(after.amount === before.amount && after.saleId === before.saleId, 'it keeps its price', before, after)
    if (before.amount === null && after.state === 'CANCELLED') {
      must(after.amount === this.expectedPrice(), 'it keeps what it would have cost', after, this.expectedPrice())
      this.oneOff = null
    }
    if (after.state === 'PAID') this.sales.get(after.saleId!)!.state = 'PAID'
    const wasAtBank = before.state !== 'PENDING_SCHEDULE' && after.attempt === before.attempt
    const isAtBank = after.state !== 'PENDING_SCHEDULE' && after.state !== 'CANCELLED'
    if (isAtBank && !wasAtBank) this.isSent(after)
    if (after.state === 'FAILED' && !(wasAtBank && before.state === 'FAILED')) this.isRetriedRightly(after)
  }

  /** The due date and at most three retries, each on a day of its own, inside the window and before the next cycle. */
  private isSent({ id, dueDate, attempt, cycle }: Charge) {
    const day = this.dayOfAttempt(dueDate, attempt)
    const days = this.sent.get(id) ?? []
    must(days.length <= 3 && days.every((earlier) => earlier < day), 'each attempt has its day', days, day)
    must(daysBetween(dueDate, day) <= windowDays(this.start.periodicity), 'inside the window', dueDate, day)
    must(day < this.dayOfCycle(cycle + 1), 'before the next cycle', day)
    this.sent.set(id, [...days, day])
  }

  /** Policy, mandate, code, and a day that has not begun: all, or no retry. */
  private isRetriedRightly({ dueDate, attempt, nextAttempt, rejectionCode }: Charge) {
    const may = this.start.retries && this.mandate.state === 'APPROVED' && helpedByRetry.includes(rejectionCode!)
    const next = [1, 2, 3].find((one) => one > attempt && this.dayOfAttempt(dueDate, one) > dayOf(this.now))
    must(nextAttempt === (may ? (next ?? null) : null), 'retry', nextAttempt, next, may, rejectionCode)
  }

  private expectedPrice(): number {
    if (this.start.valueType === 'FIXED') return this.start.price
    return Math.max(this.oneOff ?? this.price, this.start.minimum)
  }

  private nextDue(to: Instant, done: ReadonlySet<string>): readonly [string, NonNullable<Due['next']>] | undefined {
    let found: readonly [string, NonNullable<Due['next']>] | undefined
    for (const [id, due] of this.dues) {
      if (due.at > to || done.has(`${id} ${due.kind} ${due.at}`)) continue
      const isBefore =
        !found ||
        due.at < found[1].at ||
        (due.at === found[1].at && `${due.kind} ${id}` < `${found[1].kind} ${found[0]}`)
      if (isBefore) found = [id, due]
    }
    return found
  }

  /** Everything due by then, in order. A jump does each at its time, an engine that comes late does all of it now. */
  run(to: Instant, bank: () => Bank, each: 'at its time' | 'late') {
    if (each === 'late') this.now = Math.max(this.now, to) as Instant
    const done = new Set<string>()
    for (let next = this.nextDue(to, done); next; next = this.nextDue(to, done)) {
      const [id, { kind, at }] = next
      // A bank that says nothing leaves it as it is.
      done.add(`${id} ${kind} ${at}`)
      this.now = Math.max(this.now, at) as Instant
      this.happen(id, kind, bank())
      this.check()
    }
    this.now = Math.max(this.now, to) as Instant
  }

  private happen(id: string, kind: string, bank: Bank) {
    const charge = () => this.charges.get(id)!
    if (kind === 'collect') {
      if (bank.says === 'yes') this.paid(charge())
      if (bank.says === 'no') this.hear(charge(), { ...bank, state: bank.on === 'fail' ? 'FAILED' : 'REJECTED' })
      return
    }
    const isOver = (attempt: number) => this.dayOfAttempt(charge().dueDate, attempt) < dayOf(this.now)
    if (kind === 'retry' && this.decide((work) => work.missRetry(id as ChargeId), [charge()])) {
      const { nextAttempt } = charge()
      return must(nextAttempt === null || !isOver(nextAttempt), 'put off to a day to come', charge(), this.now)
    }
    if (kind === 'register' && charge().saleId === null) this.decide((work) => work.reserve(id as ChargeId), [charge()])
    const attempt = charge().nextAttempt ?? charge().attempt
    if (kind === 'retry') must(!isOver(attempt), 'a retry is sent on its day at the latest', charge(), this.now)
    if (bank.says === 'yes') this.hear(charge(), { attempt, state: 'SCHEDULED' })
    if (bank.says === 'no') this.hear(charge(), { attempt, state: 'REJECTED', code: bank.code })
  }

  paid(charge: Charge, amount = charge.amount ?? cents(1)): boolean {
    const endToEnd = `e${++this.made}` as EndToEndId
    return this.decide((work) => hearPayment(work, charge, { amount, endToEnd }).ok, [charge])
  }

  hear(charge: Charge, news: { state: CollectionNews['state']; attempt?: number; code?: string }) {
    const whole = { attempt: charge.attempt, code: null, ...news } as CollectionNews
    return this.decide((work) => hearCollection(work, charge, whole), [charge])
  }

  /** All that must be so at any time. */
  check() {
    const { mandate, first, last } = this
    const charges = [...this.charges.values()]
    let [open, sold] = [0, 0]
    const waiting: number[] = []
    charges.forEach((charge, at) => {
      // They were made in order: no cycle is skipped, doubled or drifts.
      must(charge.cycle === first + at && charge.cycle <= last, 'cycle', charge, first, last)
      must(charge.dueDate === this.dayOfCycle(charge.cycle), 'due date', charge, this.dayOfCycle(charge.cycle))
      if (isOpen(charge)) open += 1
      if (charge.state === 'PENDING_SCHEDULE' && charge.saleId === null) waiting.push(charge.cycle)
      const due = isOpen(charge) ? dueOfCharge(charge, mandate) : null
      const has = this.dues.get(charge.id)
      must(due?.at === has?.at && due?.kind === has?.kind, 'a due row for what waits', charge, due, has)
      must(!isOpen(charge) || mandate.state !== 'APPROVED' || due !== null, 'what waits has its time', charge)
      if (charge.saleId === null) return
      sold += 1
      const expected = charge.state === 'PAID' ? 'PAID' : isOpen(charge) ? 'PENDING' : 'CANCELLED'
      must(this.sales.get(charge.saleId)!.state === expected, 'its sale stands as it stands', charge)
    })
    must(this.sales.size === sold, 'one sale a charge', this.sales.size, sold)
    must(mandate.turns === this.told.length, 'turns count the events', mandate.turns)
    must(mandate.openCharges === open, 'openCharges counts the open ones', mandate.openCharges, open)
    must(mandate.oneOff === this.oneOff, 'a price for once is used once', mandate.oneOff, this.oneOff)
    must(waiting.join() === `${mandate.nextCycle ?? ''}`, 'the next cycle waits', waiting, mandate.nextCycle)
    if (isFinal(mandate.state)) must(open === 0 && this.dues.size === 0, 'nothing is left open', open, [...this.dues])
    if (mandate.state === 'APPROVED') must(open > 0, 'who is in force waits for something')
    if (mandate.state === 'CONCLUDED' && !this.concludedByRail)
      must((charges.at(-1)?.cycle ?? last) === last || first > last, 'concluded with its last cycle', charges.at(-1))
  }

  /** Each charge’s story: SCHEDULED and its end for every attempt; a failure that is the last says so. */
  checkStories() {
    const stories = Map.groupBy(this.told, ({ body }) => body['saleToken'])
    for (const charge of this.charges.values()) {
      if (charge.saleId === null) continue
      const story = stories.get(charge.saleId) ?? []
      const letters = story.map(({ body }) => String(body['chargeStatus'])[0]).join('')
      // A retry that was put off until none was left is told as a failure once more.
      must(/^(S[FR]){0,4}(S[PC]?)?$|^(S[FR]){1,3}F$/.test(letters), 'story', letters, charge)
      must(
        story.every(({ body }) => body['chargeAmount'] === charge.amount! / 100),
        'one amount',
        story,
        charge,
      )
      const failures = story.filter(({ event }) => event === 'RECURRENCE_CHARGE_FAILED')
      for (const { body } of failures.slice(0, -1)) must(body['retryScheduled'] === true, 'there was another', letters)
      const end = failures.at(-1)?.body
      const wasLast = charge.state === 'FAILED' && this.mandate.state === 'APPROVED'
      if (end && wasLast) must(end['retryScheduled'] === isOpen(charge), 'the end is told', letters, charge)
    }
  }
}

// ---- Anything that can happen to it ----

const monthEnds = fc.constantFrom('2026-01-31', '2027-08-31', '2028-02-29', '2027-11-30', '2026-12-29', '2027-12-31')
const anyDay = fc.oneof(
  monthEnds as fc.Arbitrary<CalendarDay>,
  fc.nat(2_500).map((days) => plusDays('2025-06-01' as CalendarDay, days)),
)
const anyStart: fc.Arbitrary<Start> = fc
  .record({
    initialDate: anyDay,
    periodicity: fc.constantFrom(...periodicities, 'WEEKLY' as const, 'MONTHLY' as const),
    period: fc.constantFrom(0, 0, 0, 1, 2, 3, 5, 8),
    finalAfter: fc.option(fc.nat(500), { nil: null, freq: 2 }),
    approvedDaysBefore: fc.oneof(fc.integer({ min: -90, max: 60 }), fc.integer({ min: -2, max: 12 })),
    approvedMs: fc.nat(DAY_MS - 1),
    valueType: fc.constantFrom('FIXED' as const, 'VARIABLE' as const),
    retries: fc.constantFrom(true, true, true, false),
    price: fc.integer({ min: 1, max: 500 }),
    minimum: fc.integer({ min: 1, max: 500 }),
  })
  .map(({ finalAfter, approvedDaysBefore, approvedMs, ...rest }) => ({
    ...rest,
    finalDate: finalAfter === null ? null : plusDays(rest.initialDate, finalAfter),
    approvedAt: plusMs(startOfDay(plusDays(rest.initialDate, -approvedDaysBefore)), approvedMs),
  }))

const anyCode = fc.constantFrom(...reasonCodes, ...helpedByRetry, ...helpedByRetry, ...helpedByRetry, 'XX99')
const anyBank: fc.Arbitrary<Bank> = fc.record({
  says: fc.constantFrom(
    'yes' as const,
    'yes' as const,
    'yes' as const,
    'no' as const,
    'no' as const,
    'nothing' as const,
  ),
  on: fc.constantFrom('fail' as const, 'reject' as const),
  code: anyCode,
})

type Step =
  | { readonly do: 'jump' | 'late' | 'away'; readonly hours: number; readonly banks: readonly Bank[] }
  | { readonly do: 'cancel' | 'retry'; readonly which: number }
  | { readonly do: 'price' | 'once'; readonly amount: number }
  | {
      readonly do: 'news'
      readonly which: number
      readonly attempt: number
      readonly state: CollectionNews['state']
      readonly code: string
    }
  | { readonly do: 'pay'; readonly which: number; readonly wrong: boolean }
  | { readonly do: 'mandate'; readonly state: MandateNews['state'] }
const which = fc.nat(30)
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constantFrom('jump' as const, 'jump' as const, 'late' as const, 'away' as const),
      hours: fc.oneof(fc.nat(48), fc.nat(24 * 70)),
      banks: fc.array(anyBank, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('cancel' as const, 'retry' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('price' as const, 'once' as const),
      amount: fc.integer({ min: 1, max: 500 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('news' as const),
      which,
      attempt: fc.nat(3),
      state: fc.constantFrom('SCHEDULED' as const, 'FAILED' as const, 'REJECTED' as const, 'CANCELLED' as const),
      code: anyCode,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pay' as const), which, wrong: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('mandate' as const),
      state: fc.constantFrom(
        ...([
          'APPROVING',
          'APPROVED',
          'REJECTED',
          'EXPIRED',
          'CANCELLING',
          'CANCELLING',
          'CANCELLED',
          'CONCLUDED',
        ] as const),
      ),
    }),
  },
)

function take(world: World, step: Step): void {
  const pick = (at: number): Charge | undefined => [...world.charges.values()][at % Math.max(world.charges.size, 1)]
  const charge = 'which' in step ? pick(step.which) : undefined
  switch (step.do) {
    case 'away':
      world.now = plusMs(world.now, step.hours * HOUR_MS)
      break
    case 'jump':
    case 'late': {
      let asked = 0
      const bank = () => step.banks[asked++ % step.banks.length]!
      world.run(plusMs(world.now, step.hours * HOUR_MS), bank, step.do === 'jump' ? 'at its time' : 'late')
      break
    }
    case 'price':
      world.price = cents(step.amount)
      break
    case 'once':
      if (world.mandate.valueType !== 'VARIABLE' || isFinal(world.mandate.state)) break
      world.decide((work) => work.setOneOff(cents(step.amount)))
      world.oneOff = cents(step.amount)
      break
    case 'mandate':
      world.concludedByRail ||= step.state === 'CONCLUDED' && world.mandate.state === 'APPROVED'
      world.decide((work) => hearMandate(work, { state: step.state, payer: null } as MandateNews))
      break
    case 'cancel':
      // Merchants are shown open charges only.
      if (charge && isOpen(charge)) world.decide((work) => work.cancel(charge.id, 'r'))
      break
    case 'retry':
      if (charge?.nextAttempt) world.hear(charge, { attempt: charge.nextAttempt, state: 'SCHEDULED' })
      break
    case 'news':
      if (charge) world.hear(charge, step)
      break
    case 'pay': {
      if (!charge) break
      const takes = isOpen(charge) && charge.saleId !== null && !step.wrong
      must(world.paid(charge, step.wrong ? cents(501) : undefined) === takes, 'open charges take their money', charge)
    }
  }
  world.check()
}

describe('a mandate, whatever happens to it', () => {
  test('charges every cycle once, retries by the rules, counts what is open and ends with its last cycle', () => {
    const seen: Record<string, number> = {}
    const count = (what: string) => {
      seen[what] = (seen[what] ?? 0) + 1
    }
    fc.assert(
      fc.property(anyStart, fc.array(anyStep, { maxLength: 24, size: 'large' }), (start, steps) => {
        const world = new World(start)
        for (const step of steps) take(world, step)
        world.checkStories()
        // From here on every bank pays.
        const far = plusMs(world.now, (Number.isFinite(world.last) ? 4_000 : 200) * DAY_MS)
        const wasInForce = world.mandate.state === 'APPROVED'
        world.run(far, () => pays, 'at its time')
        world.checkStories()
        count(world.mandate.state)
        for (const days of world.sent.values()) count(`at the bank ${days.length} times`)
        for (const { state, attempt } of world.charges.values()) count(`${state} ${attempt}`)
        if (!wasInForce) return
        must(world.mandate.state === (Number.isFinite(world.last) ? 'CONCLUDED' : 'APPROVED'), 'the end', world.mandate)
        if (Number.isFinite(world.last))
          must(world.charges.size === world.last - world.first + 1, 'every cycle was charged', world.charges.size)
      }),
      RUNS,
    )
    // Nothing of this is proved where it did not happen.
    for (const what of [
      ...['APPROVED', 'CONCLUDED', 'CANCELLED', 'CANCELLING'],
      ...[1, 2, 3, 4].map((times) => `at the bank ${times} times`),
      ...['PAID', 'FAILED'].flatMap((state) => [0, 1, 2, 3].map((attempt) => `${state} ${attempt}`)),
      'CANCELLED 0',
    ])
      expect(seen[what], what).toBeGreaterThan(100)
  })

  test('a time that passes in pieces is the same time: the same events at the same instants', () => {
    const anyPieces = fc.array(fc.oneof(fc.nat(30), fc.nat(24 * 40)), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(anyStart, fc.array(anyBank, { minLength: 1, maxLength: 9 }), anyPieces, (start, banks, hours) => {
        const [whole, pieces] = [new World(start), new World(start)]
        const answers = (world: World) => {
          let asked = 0
          // A bank that says nothing is asked again by whoever comes next: here all of them speak.
          const speaking = banks.map((bank) => (bank.says === 'nothing' ? pays : bank))
          return { world, bank: () => speaking[asked++ % speaking.length]! }
        }
        const [one, many] = [answers(whole), answers(pieces)]
        for (const some of hours) many.world.run(plusMs(many.world.now, some * HOUR_MS), many.bank, 'at its time')
        one.world.run(many.world.now, one.bank, 'at its time')
        must(
          JSON.stringify(one.world.told) === JSON.stringify(many.world.told),
          'events',
          one.world.told,
          many.world.told,
        )
        const charges = ({ charges }: World) => JSON.stringify([...charges.values()])
        must(charges(one.world) === charges(many.world), 'charges')
        must(one.world.now === many.world.now, 'the time')
      }),
      RUNS,
    )
  })

  test('an engine that was away charges the same cycles in the end as one that never was', () => {
    const anyWay = fc.array(fc.tuple(fc.constantFrom('late' as const, 'at its time' as const), fc.nat(24 * 90)), {
      minLength: 1,
      maxLength: 6,
    })
    fc.assert(
      fc.property(anyStart, anyWay, (start, way) => {
        const [late, punctual] = [new World(start), new World(start)]
        for (const [how, hours] of way) late.run(plusMs(late.now, hours * HOUR_MS), () => pays, how)
        punctual.run(late.now, () => pays, 'at its time')
        const story = ({ charges, mandate, told }: World) => [
          mandate.state,
          told.length,
          [...charges.values()].map(({ cycle, dueDate, state, amount }) => [cycle, dueDate, state, amount]),
        ]
        must(JSON.stringify(story(late)) === JSON.stringify(story(punctual)), 'story', story(late), story(punctual))
      }),
      RUNS,
    )
  })
})
