import { createServer, type ServerResponse } from 'node:http'
import { seededRandom } from './table.ts'

/**
 * A merchant's endpoint in a process of its own: it outlives every kill and writes down each call, what it answered, and
 * whether the answer left. Every case has a path of its own.
 */
export type Manner =
  | { readonly how: 'accept'; readonly delayMs: number }
  | { readonly how: 'refuse' }
  /** Mostly well, sometimes slow, sometimes broken, sometimes silent. */
  | { readonly how: 'moody'; readonly seed: number }
  /**
   * Holds its first calls until there are so many of them. Then it kills, or answers them all, or does both; whoever
   * comes later is accepted at once.
   */
  | { readonly how: 'gather'; readonly count: number; readonly answer: boolean; readonly kill: readonly number[] }

export type ToReceiver =
  | { readonly type: 'behave'; readonly path: string; readonly manner: Manner }
  | { readonly type: 'report'; readonly path: string }
export type FromReceiver =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'behaves' }
  | { readonly type: 'gathered'; readonly path: string }
  | { readonly type: 'reported'; readonly calls: readonly LoggedCall[] }

/** `answered`: the status, once all of the answer had left; null when none did. */
export type LoggedCall = { readonly id: string; answered: number | null }

type Place = { calls: LoggedCall[]; answer: (reply: ServerResponse, call: LoggedCall) => void }

const places = new Map<string, Place>()
const tell = (message: FromReceiver) => void process.send?.(message)

function send(reply: ServerResponse, call: LoggedCall, status: number, left?: () => void): void {
  if (reply.destroyed) return
  reply.on('finish', () => {
    call.answered = status
    left?.()
  })
  reply.writeHead(status).end('ok')
}

function accepting(delayMs: number): Place['answer'] {
  return (reply, call) => void setTimeout(() => send(reply, call, 200), Math.random() * delayMs)
}

function moody(seed: number): Place['answer'] {
  const random = seededRandom(seed)
  return (reply, call) => {
    const mood = random()
    if (mood < 0.05) return
    const delayMs = mood < 0.15 ? 200 + random() * 600 : random() * 40
    setTimeout(() => send(reply, call, mood > 0.9 ? 500 : 200), delayMs)
  }
}

function gathering(path: string, { count, answer, kill }: Extract<Manner, { how: 'gather' }>): Place['answer'] {
  const held: [ServerResponse, LoggedCall][] = []
  let left = 0
  // In the very tick of the last arrival or of the last answer: whoever called has no chance to go on.
  const strike = () => {
    for (const pid of kill) process.kill(pid, 'SIGKILL')
    tell({ type: 'gathered', path })
  }
  return (reply, call) => {
    if (held.length === count) return send(reply, call, 200)
    held.push([reply, call])
    if (held.length < count) return
    if (!answer) return strike()
    for (const [waiting, its] of held)
      send(waiting, its, 200, () => {
        left += 1
        if (left === count) strike()
      })
  }
}

function behaviourOf(path: string, manner: Manner): Place['answer'] {
  if (manner.how === 'accept') return accepting(manner.delayMs)
  if (manner.how === 'refuse') return (reply, call) => send(reply, call, 500)
  return manner.how === 'moody' ? moody(manner.seed) : gathering(path, manner)
}

const server = createServer((request, reply) => {
  request.on('error', () => {})
  request.resume().on('end', () => {
    const place = places.get(request.url!)!
    const call: LoggedCall = { id: String(request.headers['webhook-id']), answered: null }
    place.calls.push(call)
    place.answer(reply, call)
  })
})
server.listen(0, '127.0.0.1', 1_024, () =>
  tell({ type: 'listening', port: (server.address() as { port: number }).port }),
)
process.on('disconnect', () => process.exit(0))
process.on('message', (message: ToReceiver) => {
  if (message.type === 'report') return tell({ type: 'reported', calls: places.get(message.path)?.calls ?? [] })
  const { path, manner } = message
  places.set(path, { calls: places.get(path)?.calls ?? [], answer: behaviourOf(path, manner) })
  tell({ type: 'behaves' })
})
