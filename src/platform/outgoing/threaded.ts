import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { failed, type OutgoingAnswer } from './call.ts'
import type { Outgoing, OutgoingRequest } from './outgoing.ts'

type CallId = number
export type Asked = readonly (readonly [CallId, OutgoingRequest])[] | 'stop all' | 'close'
export type Answered = readonly [CallId, Omit<OutgoingAnswer, 'body'>, body: string]

/**
 * `createOutgoing` in a thread of its own: calls to strangers are an eighth of the work of a process that also answers
 * requests, and need nothing of it. What is asked for in one turn of the event loop travels together. The thread begins
 * with the first call. If it breaks, the process ends as it would if the calls were made here.
 */
export function createThreadedOutgoing(options: {
  readonly timeoutMs: number
  readonly allowPrivate: boolean
}): Outgoing {
  const waiting = new Map<CallId, (answer: OutgoingAnswer) => void>()
  let worker: Worker | undefined
  let asked: [CallId, OutgoingRequest][] = []
  let lastId = 0
  let closed = false
  let ended: Promise<unknown> | undefined

  function start(): Worker {
    const started = new Worker(new URL('./thread.ts', import.meta.url), {
      workerData: options,
      // What a call leaves behind is soon garbage: with the usual room it took 30 MB more and was no faster.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    })
    started.on('message', (answers: Answered[]) => {
      for (const [id, rest, body] of answers) {
        waiting.get(id)!({ ...rest, body: Buffer.from(body, 'latin1') })
        waiting.delete(id)
      }
    })
    started.on('error', (error) => {
      throw error
    })
    ended = once(started, 'exit')
    return started
  }

  function send(): void {
    if (asked.length === 0) return
    worker ??= start()
    worker.postMessage(asked satisfies Asked)
    asked = []
  }

  return {
    post(request) {
      if (closed) return Promise.resolve(failed('stopped'))
      lastId += 1
      asked.push([lastId, request])
      if (asked.length === 1) setImmediate(send)
      return new Promise((answer) => waiting.set(lastId, answer))
    },
    stopAll() {
      send()
      worker?.postMessage('stop all' satisfies Asked)
    },
    async close() {
      closed = true
      send()
      worker?.postMessage('close' satisfies Asked)
      await ended
    },
  }
}
