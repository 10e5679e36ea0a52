import { setTimeout as wait } from 'node:timers/promises'
import { assert } from '../kernel/assert.ts'
import { isUniqueViolation, type Trouble, troubleOf } from './database/trouble.ts'

/** The item's state changed under the batch: decide it again with the next one. */
export const DEFERRED = Symbol('deferred')

/** No room: said before any effect, so the caller may simply try again. */
export class Overloaded extends Error {}
/** The database stayed away: whether the effect exists is unknown until the same keys are sent again. */
export class Unavailable extends Error {}

export type BatcherOptions<Item, Outcome> = {
  readonly name: string
  /** Batches in flight at once. */
  readonly lanes: number
  readonly batchMax: number
  readonly queueMax: number
  /** Items with the same key never share a batch: a statement changes a row once. */
  readonly separate?: (item: Item) => string | undefined
  /** One outcome an item, in order. It must be repeatable: after an unknown outcome it runs again with the same items. */
  readonly run: (items: readonly Item[]) => Promise<readonly (Outcome | typeof DEFERRED)[]>
  readonly onBatch?: (size: number) => void
}

export type Batcher<Item, Outcome> = {
  submit(item: Item): Promise<Outcome>
  /** All of them are taken, or none: a caller who is told to come again must not have half of it done. */
  submitAll(items: readonly Item[]): Promise<Outcome[]>
  depth(): number
  /** Nothing more is taken at the moment. */
  isFull(): boolean
  /** Resolves when everything submitted has been answered. */
  drained(): Promise<void>
}

type Waiting<Item, Outcome> = {
  item: Item
  tries: number
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
}

const DEFERRALS_MAX = 100
const AGAIN_MAX = 5
const LOST_MAX = 8

/**
 * Gathers concurrent requests of one kind while the batches before them are in flight and commits them together, one
 * answer each. A lone request leaves at once. A poison item is bisected out and fails alone.
 */
export function createBatcher<Item, Outcome>(options: BatcherOptions<Item, Outcome>): Batcher<Item, Outcome> {
  let queue: Waiting<Item, Outcome>[] = []
  let inFlight = 0
  let planned = false
  let idle: (() => void)[] = []

  // After the events at hand: requests that arrived together leave together.
  const plan = () => {
    if (planned || inFlight >= options.lanes || queue.length === 0) return
    planned = true
    setImmediate(() => {
      planned = false
      while (inFlight < options.lanes && queue.length > 0) void send(takeBatch())
    })
  }

  function takeBatch(): Waiting<Item, Outcome>[] {
    const batch: Waiting<Item, Outcome>[] = []
    const left: Waiting<Item, Outcome>[] = []
    const seen = new Set<string>()
    for (const waiting of queue) {
      const key = batch.length < options.batchMax ? options.separate?.(waiting.item) : undefined
      if (batch.length >= options.batchMax || (key !== undefined && seen.has(key))) left.push(waiting)
      else {
        batch.push(waiting)
        if (key !== undefined) seen.add(key)
      }
    }
    queue = left
    return batch
  }

  async function send(batch: Waiting<Item, Outcome>[]): Promise<void> {
    inFlight += 1
    options.onBatch?.(batch.length)
    await settle(batch)
    inFlight -= 1
    plan()
    if (inFlight === 0 && queue.length === 0) {
      for (const done of idle) done()
      idle = []
    }
  }

  async function settle(batch: Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await persist(batch.map(({ item }) => item))
      assert(outcomes.length === batch.length, `${options.name}: an item has no outcome`)
      const again: Waiting<Item, Outcome>[] = []
      batch.forEach((waiting, index) => {
        const outcome = outcomes[index]!
        if (outcome !== DEFERRED) waiting.resolve(outcome as Outcome)
        else if (++waiting.tries < DEFERRALS_MAX) again.push(waiting)
        else waiting.reject(new Unavailable(`${options.name}: an item was deferred too often`))
      })
      queue.unshift(...again)
    } catch (error) {
      if (batch.length === 1 || error instanceof Unavailable) for (const waiting of batch) waiting.reject(error)
      else {
        const half = batch.length >> 1
        await settle(batch.slice(0, half))
        await settle(batch.slice(half))
      }
    }
  }

  /** Same batch, same keys, until the outcome is known or the trouble is of the batch's own making. */
  async function persist(items: readonly Item[]) {
    for (let tries = 0; ; tries += 1) {
      try {
        return await options.run(items)
      } catch (error) {
        const trouble = troubleOf(error)
        if (tries >= triesMax(trouble, error)) throw trouble === 'lost' ? new Unavailable(String(error)) : error
        await wait(trouble === 'lost' ? Math.min(100 * 2 ** tries, 2_000) : 5 * 2 ** tries)
      }
    }
  }

  const enqueue = (item: Item): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      queue.push({ item, tries: 0, resolve, reject })
      plan()
    })

  const isFull = () => queue.length >= options.queueMax
  return {
    isFull,
    submit(item) {
      if (isFull()) return Promise.reject(new Overloaded(options.name))
      return enqueue(item)
    },
    submitAll(items) {
      // More than the queue ever holds would never find room, so it passes when nothing waits.
      const crowded = queue.length > 0 && queue.length + items.length > options.queueMax
      return crowded ? Promise.reject(new Overloaded(options.name)) : Promise.all(items.map(enqueue))
    },
    depth: () => queue.length,
    drained: () =>
      inFlight === 0 && queue.length === 0 ? Promise.resolve() : new Promise((resolve) => idle.push(resolve)),
  }
}

/**
 * A lane each for some of the accounts, so that batches in flight at once never wait for each other's rows; `lanes` of
 * the options is how many there are.
 */
export function createLanes<Item, Outcome>(
  options: BatcherOptions<Item, Outcome> & { readonly accountOf: (item: Item) => number },
): Batcher<Item, Outcome> {
  // They share one limit, and that is kept here.
  const single = { ...options, lanes: 1, queueMax: Number.POSITIVE_INFINITY }
  const lanes = Array.from({ length: options.lanes }, () => createBatcher(single))
  const laneOf = (item: Item) => lanes[options.accountOf(item) % lanes.length]!
  const depth = () => lanes.reduce((sum, lane) => sum + lane.depth(), 0)
  const isFull = () => depth() >= options.queueMax
  return {
    depth,
    isFull,
    submit: (item) => (isFull() ? Promise.reject(new Overloaded(options.name)) : laneOf(item).submit(item)),
    submitAll(items) {
      const crowded = depth() > 0 && depth() + items.length > options.queueMax
      if (crowded) return Promise.reject(new Overloaded(options.name))
      return Promise.all(items.map((item) => laneOf(item).submit(item)))
    },
    drained: async () => void (await Promise.all(lanes.map((lane) => lane.drained()))),
  }
}

function triesMax(trouble: Trouble, error: unknown): number {
  if (trouble === 'again') return AGAIN_MAX
  if (trouble === 'lost') return LOST_MAX
  // Two batches raced for one key: read again, the other's row is visible now.
  return isUniqueViolation(error) ? 1 : 0
}
