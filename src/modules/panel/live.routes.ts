import { PassThrough } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { MINUTE_MS, SECOND_MS } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'
import type { Database } from '../../platform/database/database.ts'
import { RequestUnusable } from '../../platform/http/refusals.ts'
import type { Session, Sessions } from '../account/index.ts'
import { type Change, createWatch } from './watch.ts'

export type LiveContext = {
  readonly db: Database
  readonly sessions: Pick<Sessions, 'living'>
  readonly trouble: (error: unknown, doing: string) => void
}

const LOOK_MS = 400
const BEAT_MS = 15 * SECOND_MS
/** Then the browser opens another: streams spread over the processes again. */
const STREAM_MS = 30 * MINUTE_MS
const STREAMS_OF_ACCOUNT_MAX = 20
const STREAMS_MAX = 1_000
/** A reader that takes nothing is let go. */
const UNREAD_BYTES_MAX = 64 * 1024

type Stream = { readonly accountId: AccountId; readonly session: Session; readonly out: PassThrough }

const eventText = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/**
 * Server-sent events: `ready` when nothing can be missed any more, then `change`. They say what to look at again, never
 * what it holds. A stream is no use of its session, and ends with it.
 */
export function liveRoutes({ db, sessions, trouble }: LiveContext) {
  const streams = new Set<Stream>()
  const watch = createWatch({
    db,
    everyMs: LOOK_MS,
    before: endOrphans,
    trouble: (error) => trouble(error, 'look for changes'),
  })

  async function endOrphans(): Promise<void> {
    const living = await sessions.living([...streams].map(({ session }) => session))
    for (const { session, out } of streams) if (!living.has(session)) out.end(eventText('signedOut', {}))
  }

  function write({ out }: Stream, text: string): void {
    if (out.writableEnded || out.destroyed) return
    if (out.writableLength > UNREAD_BYTES_MAX) out.destroy()
    else out.write(text)
  }

  function admit(accountId: AccountId): void {
    const ofAccount = [...streams].filter((stream) => stream.accountId === accountId).length
    if (ofAccount >= STREAMS_OF_ACCOUNT_MAX) throw new RequestUnusable(429, 'too many pages are open')
    if (streams.size >= STREAMS_MAX) throw new RequestUnusable(503, 'too many pages are open: try again shortly')
  }

  return async (app: FastifyInstance) => {
    app.addHook('preClose', async () => {
      for (const { out } of streams) out.end()
    })

    // A HEAD has no stream to follow.
    app.get('/live', { exposeHeadRoute: false }, async (request, reply) => {
      const { accountId } = request
      admit(accountId)
      const stream: Stream = { accountId, session: { ...request.session!, accountId }, out: new PassThrough() }
      streams.add(stream)
      const timers = [
        setInterval(() => write(stream, ': beat\n\n'), BEAT_MS),
        setTimeout(() => stream.out.end(), STREAM_MS),
      ]
      let stop = () => {}
      stream.out.once('close', () => {
        streams.delete(stream)
        for (const timer of timers) clearTimeout(timer)
        stop()
      })
      try {
        stop = await watch.listen(accountId, (change: Change) => write(stream, eventText('change', change)))
      } catch (error) {
        stream.out.destroy()
        throw error
      }
      if (stream.out.destroyed) stop()
      write(stream, `retry: 1000\n${eventText('ready', {})}`)
      return reply.type('text/event-stream').header('x-accel-buffering', 'no').send(stream.out)
    })
  }
}
