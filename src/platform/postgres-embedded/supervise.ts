import { setTimeout as delay } from 'node:timers/promises'
import { EmbeddedPostgresError } from './error.ts'
import { type Server, type ServerPlan, spawnServer } from './server.ts'

const RETRY_MS_FIRST = 100
const RETRY_MS_MAX = 2_000
/** A server that lived this long did not fail at its start: the next retry is quick again. */
const STEADY_MS = 30_000
/** How long the first start waits for what a killed server left running. */
const REMAINS_MS = 10_000
const FAST_SHUTDOWN_MS = 3_000

/** Backends that outlived their postmaster end by themselves, after the query that they are in. */
const HELD_BY_REMAINS = /pre-existing shared memory block|lock file ".*" already exists/

const longer = (delayMs: number) => Math.min(delayMs * 2, RETRY_MS_MAX)

/** The first start: a reason that does not pass by itself is the operator's to see, at once. */
export async function startServer(plan: ServerPlan): Promise<Server> {
  const begin = performance.now()
  for (let delayMs = RETRY_MS_FIRST; ; delayMs = longer(delayMs)) {
    const server = spawnServer(plan)
    if (await server.ready) return server
    const words = await server.ended
    const passes = HELD_BY_REMAINS.test(server.log()) && performance.now() - begin < REMAINS_MS
    if (!passes) throw new EmbeddedPostgresError(`PostgreSQL did not start (${words}): ${server.log().trim()}`)
    await delay(delayMs)
  }
}

/** Starts the server again whenever it ends, for ever, until the returned function has been called. */
export function keepRunning(first: Server, plan: ServerPlan, onCrash: (sentence: string) => void) {
  const stopping = new AbortController()
  let server = first

  async function supervise(): Promise<void> {
    let delayMs = RETRY_MS_FIRST
    for (;;) {
      const begin = performance.now()
      const words = await server.ended
      if (stopping.signal.aborted) return
      if (performance.now() - begin > STEADY_MS) delayMs = RETRY_MS_FIRST
      onCrash(`PostgreSQL ended unexpectedly (${words})${trouble(server.log())}. Starting it again…`)
      for (;;) {
        await delay(delayMs, undefined, { signal: stopping.signal }).catch(() => {})
        if (stopping.signal.aborted) return
        delayMs = longer(delayMs)
        server = spawnServer(plan)
        if (await server.ready) break
        if (stopping.signal.aborted) return
        onCrash(`PostgreSQL does not start yet (${await server.ended})${trouble(server.log())}. Trying again…`)
      }
      plan.onProgress(`PostgreSQL ${plan.program.version} is running again.`)
    }
  }

  const supervised = supervise()
  return async function stop(): Promise<void> {
    stopping.abort()
    server.signal('INT')
    const escalation = setTimeout(() => server.signal('QUIT'), FAST_SHUTDOWN_MS)
    await supervised
    await server.ended
    clearTimeout(escalation)
  }
}

/** The last trouble that the server named, without its time and pid; hints that follow it do not fit in one line. */
function trouble(log: string): string {
  const named = [...log.matchAll(/(?:ERROR|FATAL|PANIC): +(.+)/g)].at(-1)?.[1]
  return named ? `: ${named}` : ''
}
