import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import type { TestAccount } from './given.ts'
import { type Answering, type ReceivedCall, type Receiver, startReceiver } from './receiver.ts'
import type { TestService } from './test-service.ts'

/** An account with a webhook endpoint of its own. */
export type Merchant = TestAccount & {
  /** Its endpoint; whatever follows it arrives there too. */
  readonly hook: string
  /** What arrived there, in order. */
  calls(): ReceivedCall[]
  /** Resolves when so many have arrived in all. */
  received(count: number): Promise<void>
  /** From now on; a number answers that status. */
  answer(how: Answering | number): void
  /** Keeps callers waiting from now on; the answer to all of them is given by `release`. */
  hold(): { release(status?: number): void }
}

export type Merchants = {
  /** Payments are told to `hook`, unless other settings are given. */
  merchant(settings?: (hook: string) => Record<string, unknown>): Promise<Merchant>
  /** Delivers until nothing more is due now. */
  settle(): Promise<void>
  /** Lets every attempt that is still to come be made, one retry after the other. */
  exhaust(): Promise<void>
  /** To the time of the next retry, whatever its jitter. */
  toNextRetry(): void
}

const RETRY_AND_JITTER_MS = 63_000
const SERIES = 6

/** One receiver for a test file, with a path for each merchant; it answers 200 at first. */
export function merchants(it: TestService): Merchants {
  const answers = new Map<string, Answering>()
  let waiting: { holds: () => boolean; done: () => void }[] = []
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startReceiver()
    receiver.answer((reply, call, request) => {
      const answer = answers.get(placeOf(call))
      if (answer) answer(reply, call, request)
      else reply.end('ok')
      for (const { done } of waiting.filter(({ holds }) => holds())) done()
      waiting = waiting.filter(({ holds }) => !holds())
    })
  })
  afterAll(() => receiver.stop())

  const settle = async () => {
    for (;;) {
      await it.deliver()
      // One that is on its way is not done yet, and what comes after it is due only then.
      const [row] = await it.rows<{ n: number }>(
        'select count(*) as n from notification_queue where due_at <= $1 or held',
        [new Date(it.clock.now()).toISOString()],
      )
      if (row!.n === 0) return
    }
  }
  const toNextRetry = () => it.clock.advance(RETRY_AND_JITTER_MS)

  return {
    async merchant(settings = (hook) => ({ payment: { url: hook } })) {
      const account = await it.given.account()
      const place = `/${randomUUID()}`
      const hook = receiver.url + place
      const set = await account.api.put('/v1.1/account/notifications', settings(hook))
      expect(set.http, set.text).toBe(200)
      const answer: Merchant['answer'] = (how) =>
        void answers.set(place, typeof how === 'number' ? (reply) => void reply.writeHead(how).end() : how)
      const calls = () => receiver.calls.filter((call) => placeOf(call) === place)
      return {
        ...account,
        hook,
        calls,
        received(count) {
          const holds = () => calls().length >= count
          return holds() ? Promise.resolve() : new Promise((done) => waiting.push({ holds, done }))
        },
        answer,
        hold() {
          const held: Parameters<Answering>[0][] = []
          answer((reply) => void held.push(reply))
          return {
            release(status = 200) {
              answer(status)
              for (const reply of held) reply.writeHead(status).end()
            },
          }
        },
      }
    },
    settle,
    toNextRetry,
    async exhaust() {
      for (let attempt = 0; attempt < SERIES; attempt += 1) {
        await settle()
        toNextRetry()
      }
    },
  }
}

/** The first part of the path. */
const placeOf = ({ url }: ReceivedCall): string => /^\/[^/?]*/.exec(url)![0]
