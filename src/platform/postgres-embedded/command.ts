import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { messageOf } from './error.ts'

/** As whom a command runs: behind a prefix such as `unshare …`, or as another account, or as we are. */
export type Identity = Readonly<{ prefix: readonly string[]; account: { uid: number; gid: number } | null }>

export const ourselves: Identity = { prefix: [], account: null }

export type ShutdownSignal = 'INT' | 'QUIT'

type Ending = Readonly<{ ok: boolean; words: string }>

/** A process that cannot outlive us. */
export type TiedProcess = Readonly<{
  ended: Promise<Ending>
  /** The end of what it wrote to standard error. */
  log(): string
  onLog(listener: () => void): void
  signal(name: ShutdownSignal): void
}>

const LOG_KEPT_CHARS = 4096

/**
 * Grandchildren that inherited standard error may keep it open after the process itself ended; its last words have
 * arrived long before this.
 */
const LAST_WORDS_MS = 200

/** Neither our secrets nor the caller's PG… variables belong in the environment of a database server. */
const environment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

/** The kernel is asked to signal us after our parent dies, which says nothing if it died before: so look once. */
const checkParent = '[ "$PPID" = "$0" ] || exit 1; exec "$@" </dev/null'

/**
 * For systems without setpriv. Our end of the pipe closes when we die, however we die; until then it carries the
 * names of signals. The server is not the leader here, so it cannot be signalled by the pid that we know.
 */
const watchParent = `
exec 3<&0
"$@" 3<&- </dev/null &
server=$!
{ while read -r name <&3; do kill -s "$name" "$server"; done; kill -s INT "$server"; } >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$server"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"`

/** Runs a short command to its end. */
export function run(argv: readonly string[], identity = ourselves): Promise<{ ok: boolean; output: string }> {
  const [command = '', ...rest] = [...identity.prefix, ...argv]
  const options = { env: environment, cwd: '/', ...identity.account }
  return new Promise((resolve) => {
    try {
      execFile(command, rest, options, (error, stdout, stderr) =>
        resolve(error ? { ok: false, output: stderr || error.message } : { ok: true, output: stdout }),
      )
    } catch (thrown) {
      resolve({ ok: false, output: messageOf(thrown) })
    }
  })
}

/**
 * Starts a command that ends when we do. It leads a process group of its own: a terminal's Ctrl-C reaches us, and we
 * decide when the server stops.
 */
export function spawnTied(
  argv: readonly string[],
  { identity, hasDeathSignal }: { identity: Identity; hasDeathSignal: boolean },
): TiedProcess {
  const tie = hasDeathSignal
    ? // The death signal must come last in the chain: a change of user would clear it. It is bound to the thread that
      // spawns, which is right: when a worker thread ends, its supervisor is gone as well.
      ['setpriv', '--pdeathsig', 'INT', '--', 'sh', '-c', checkParent, String(process.pid)]
    : ['sh', '-c', watchParent, 'sh']
  try {
    return follow(spawnDetached([...identity.prefix, ...tie, ...argv], identity), hasDeathSignal)
  } catch (thrown) {
    // Out of processes, memory or file handles: a supervisor treats it as a server that ended at once.
    const ended = Promise.resolve({ ok: false, words: messageOf(thrown) })
    return { ended, log: () => '', onLog: () => {}, signal: () => {} }
  }
}

function spawnDetached([command = '', ...rest]: readonly string[], identity: Identity) {
  return spawn(command, rest, {
    env: environment,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    ...identity.account,
  })
}

function follow(child: ReturnType<typeof spawnDetached>, hasDeathSignal: boolean): TiedProcess {
  // First of all: an error event without a listener would end this process too.
  const ended = endOf(child)
  // Writing to a process that has just ended is no news: its end is reported by itself.
  child.stdin.on('error', () => {})
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-LOG_KEPT_CHARS)
  })
  return {
    ended,
    log: () => log,
    onLog: (listener) => child.stderr.on('data', listener),
    signal: (name) => void (hasDeathSignal ? child.kill(`SIG${name}`) : child.stdin.write(`${name}\n`)),
  }
}

function endOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    // Without a pid it never began; with one, the event only says that a signal could not be sent.
    child.on('error', ({ message }) => child.pid === undefined && resolve({ ok: false, words: message }))
    child.once('exit', (code, signal) => {
      const ending = { ok: code === 0, words: signal ? `signal ${signal}` : `exit code ${code}` }
      child.once('close', () => resolve(ending))
      setTimeout(resolve, LAST_WORDS_MS, ending)
    })
  })
}
