import { onTestFinished, vi } from 'vitest'
import { createDeliveryCredentials } from '../../src/modules/account/index.ts'
import { createDispatcher, type Dispatcher } from '../../src/modules/notification/index.ts'
import type { Database } from '../../src/platform/database/database.ts'
import {
  createOutgoing,
  type Outgoing,
  type OutgoingAnswer,
  type OutgoingRequest,
} from '../../src/platform/outgoing/outgoing.ts'
import type { TestService } from './test-service.ts'

export type DispatcherOptions = {
  readonly outgoing?: Outgoing
  readonly timeoutMs?: number
  readonly jitter?: () => number
}

export type DispatcherBeside = Dispatcher & {
  /** Its own view of the database: faults put here hit nobody else. */
  readonly db: Database
  /** What it had trouble doing. */
  readonly troubles: string[]
  /** Delivers what is due now and waits until every result is recorded. */
  deliver(): Promise<void>
}

/** One more dispatcher, on the database and the clock of a service; it is running, until the test is over. */
export function dispatcherBeside(it: TestService, options: DispatcherOptions = {}): DispatcherBeside {
  const { timeoutMs = 10_000, jitter = () => 0 } = options
  const { outgoing = createOutgoing({ timeoutMs, allowPrivate: true }) } = options
  const db = { ...it.service.db }
  const troubles: string[] = []
  const dispatcher = createDispatcher({
    db,
    clock: it.clock,
    outgoing,
    credentials: createDeliveryCredentials(it.service.secrets),
    retry: { retrySeconds: 60, jitter },
    timeoutMs,
    observe: {
      attempted: () => {},
      handedOver: () => {},
      behind: () => {},
      trouble: (_error, doing) => void troubles.push(doing),
    },
  })
  dispatcher.start()
  onTestFinished(async () => {
    outgoing.stopAll()
    await dispatcher.stop()
  })
  return {
    ...dispatcher,
    db,
    troubles,
    async deliver() {
      await dispatcher.idle()
      await dispatcher.look()
      await dispatcher.idle()
    },
  }
}

/** What earlier tests left waiting is out of the way of the next one. */
export const setLeftoversAside = (it: TestService) =>
  it.rows(`update notification_queue set due_at = '2100-01-01T00:00:00Z', held = false`)

export type HeldPost = { readonly request: OutgoingRequest; answer(answer: Partial<OutgoingAnswer>): void }
export type HeldOutgoing = Outgoing & {
  readonly posts: HeldPost[]
  /** Resolves when so many calls were made in all. */
  posted(count: number): Promise<void>
}

/** Calls that never return, unless a test answers them: as of a process that died in the middle. */
export function heldOutgoing(): HeldOutgoing {
  const posts: HeldPost[] = []
  const whole: OutgoingAnswer = { status: 200, headers: {}, body: Buffer.alloc(0), truncated: false, failure: null }
  return {
    posts,
    posted: (count) => vi.waitUntil(() => posts.length >= count, { timeout: 20_000, interval: 5 }).then(() => {}),
    post: (request) =>
      new Promise((done) => posts.push({ request, answer: (answer) => done({ ...whole, ...answer }) })),
    stopAll() {
      for (const { answer } of posts) answer({ status: 0, failure: 'stopped' })
    },
    close: async () => {},
  }
}
