import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { AggregatorRegistry } from 'prom-client'
import type { FromProcess, ToProcess } from './messages.ts'

/** Deliveries on their way get 8 s, and then their records. */
const DRAIN_MS = 14_000
const RESTART_MS = 500

type Start = Omit<Extract<ToProcess, { type: 'start' }>, 'worker'>
export type Processes = { stop(): Promise<void> }

/** A process could not start; the line says which setting to look at. */
export class StartFailed extends Error {}

/** Starts the service processes and keeps them running: one that dies is replaced. */
export async function startProcesses({
  count,
  worker,
  start,
  onDeath,
}: {
  count: number
  worker: boolean
  start: Start
  onDeath: (sentence: string) => void
}): Promise<Processes> {
  // Handed over, a connection waits until the process has answered for the one before it, a turn of its event loop each:
  // under full load 500 new ones took five seconds. A process that is alone takes them itself.
  cluster.schedulingPolicy = count > 1 ? cluster.SCHED_RR : cluster.SCHED_NONE
  cluster.setupPrimary({ exec: fileURLToPath(new URL('./process.ts', import.meta.url)) })
  const metrics = new AggregatorRegistry()
  let stopping = false

  const fork = (index: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const child = cluster.fork()
      let ready = false
      child.on('message', (message: FromProcess) => {
        if (message.type === 'hello') send(child, { ...start, worker: worker && index === 0 })
        else if (message.type === 'metrics') void answerMetrics(metrics, child, message.id)
        else if (message.type === 'failed') {
          reject(new StartFailed(message.line))
          child.process.kill('SIGKILL')
        } else if (message.type === 'ready') {
          ready = true
          resolve()
        }
      })
      child.on('exit', (code, signal) => {
        if (stopping) return
        if (!ready) return reject(new StartFailed(`a service process ended while it started (${signal ?? code})`))
        onDeath(`A service process ended (${signal ?? code}); it is started again.`)
        respawn(index)
      })
    })

  const respawn = (index: number): void => {
    setTimeout(() => {
      if (stopping) return
      fork(index).catch((error: Error) => {
        onDeath(`A service process did not start: ${error.message}`)
        respawn(index)
      })
    }, RESTART_MS)
  }

  const processes = {
    async stop() {
      stopping = true
      const children = Object.values(cluster.workers ?? {}).filter((child) => child !== undefined)
      await Promise.all(children.map((child) => drain(child, onDeath)))
    },
  }
  try {
    await Promise.all(Array.from({ length: count }, (_, index) => fork(index)))
  } catch (error) {
    await processes.stop()
    throw error
  }
  return processes
}

const send = (child: Worker, message: ToProcess) => child.isConnected() && child.send(message, () => {})

async function answerMetrics(metrics: { clusterMetrics(): Promise<string> }, child: Worker, id: number) {
  const text = await metrics.clusterMetrics().catch(() => '')
  send(child, { type: 'metrics', id, text })
}

/** Asked first, killed after the time that a request may take. */
function drain(child: Worker, onDeath: (sentence: string) => void): Promise<void> {
  return new Promise((resolve) => {
    if (child.isDead()) return resolve()
    const timer = setTimeout(() => {
      onDeath('A service process did not end in time and was killed.')
      child.process.kill('SIGKILL')
    }, DRAIN_MS)
    child.on('exit', () => {
      clearTimeout(timer)
      resolve()
    })
    send(child, { type: 'stop' })
  })
}
