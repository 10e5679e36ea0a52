import { setTimeout as delay } from 'node:timers/promises'
import { type Identity, type ShutdownSignal, spawnTied, type TiedProcess } from './command.ts'
import { isReady, removeRemains } from './postmaster-file.ts'
import { binary, type Program } from './program.ts'
import { type Settings, settingArguments } from './settings.ts'

const POLL_MS = 2

/** One life of the server. */
export type Server = Readonly<{
  /** True when it accepts connections, false when it ended before. */
  ready: Promise<boolean>
  /** How it ended, in words. */
  ended: Promise<string>
  log(): string
  signal(name: ShutdownSignal): void
}>

export type ServerPlan = Readonly<{
  program: Program
  identity: Identity
  hasDeathSignal: boolean
  cluster: string
  socketFolder: string
  settings: Settings
  onProgress(sentence: string): void
}>

/** To be called only under the folder's lock, and when no other server of the cluster runs. */
export function spawnServer(plan: ServerPlan): Server {
  removeRemains(plan)
  const argv = [binary(plan.program.folder, 'postgres'), '-D', plan.cluster, ...settingArguments(plan.settings)]
  const server = spawnTied(argv, plan)
  const ended = server.ended.then(({ words }) => words)
  const ready = Promise.race([untilReady(server, plan), ended.then(() => false)])
  return { ready, ended, log: server.log, signal: server.signal }
}

async function untilReady(server: TiedProcess, { cluster, onProgress }: ServerPlan): Promise<true> {
  let recovers = false
  await new Promise<void>((resolve) => {
    server.onLog(() => {
      if (server.log().includes('ready to accept connections')) resolve()
      if (recovers || !server.log().includes('automatic recovery in progress')) return
      recovers = true
      onProgress('Recovering what was committed before the crash…')
    })
  })
  // The server says so a moment before it writes so, and others look only at the file.
  let ended = false
  void server.ended.then(() => {
    ended = true
  })
  while (!ended && !isReady(cluster)) await delay(POLL_MS)
  return true
}
