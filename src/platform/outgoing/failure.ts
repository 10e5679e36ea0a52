import { errors } from 'undici'

/** Why an answer is missing, or not whole. */
export type OutgoingFailure =
  | 'timeout'
  | 'refused'
  | 'unreachable'
  | 'reset'
  | 'name'
  | 'tls'
  | 'forbidden'
  | 'invalid'
  | 'stopped'

/** A failure that is ours to name. */
export class CallFailure extends Error {
  readonly failure: OutgoingFailure
  constructor(failure: OutgoingFailure, why: string) {
    super(why)
    this.failure = failure
  }
}

const failureOfCode: Readonly<Record<string, OutgoingFailure>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EAFNOSUPPORT: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
  EINVAL: 'unreachable',
  EMFILE: 'unreachable',
  ENFILE: 'unreachable',
  ENOBUFS: 'unreachable',
  EPROTO: 'tls',
  UND_ERR_INVALID_ARG: 'invalid',
  UND_ERR_NOT_SUPPORTED: 'invalid',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'invalid',
  UND_ERR_HEADERS_OVERFLOW: 'invalid',
  UND_ERR_CLOSED: 'stopped',
  UND_ERR_DESTROYED: 'stopped',
}

export type Progress = { readonly secure: boolean; readonly connected: boolean; readonly status: number }

export function failureOf(error: unknown, progress: Progress): OutgoingFailure {
  if (error instanceof CallFailure) return error.failure
  // It has no code, and also says so of an answer that was cut off.
  if (error instanceof errors.HTTPParserError) return error.message.includes('EOF') ? 'reset' : 'invalid'
  const decisive = decisiveError(error)
  const code = String(decisive?.code)
  // Something came that is no answer: a protocol switch nobody asked for.
  if (code === 'UND_ERR_SOCKET' && decisive?.message?.startsWith('bad ')) return 'invalid'
  // Also said of a head that cannot be read after its length was.
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return progress.status === 0 ? 'invalid' : 'reset'
  const known = failureOfCode[code]
  if (known !== undefined) return known
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'tls'
  if (progress.connected) return 'reset'
  // A certificate's faults have some thirty codes of their own.
  return progress.secure ? 'tls' : 'unreachable'
}

type Coded = { code?: unknown; message?: string; cause?: unknown; errors?: readonly Coded[] }

/** Of several addresses tried, one that refused says most; else the last, which had all the time there was. */
function decisiveError(error: unknown): Coded | undefined {
  const outer = error as Coded | undefined
  const errors = outer?.errors ?? (outer?.cause as Coded | undefined)?.errors
  if (errors === undefined) return outer
  return errors.find(({ code }) => code === 'ECONNREFUSED') ?? errors.at(-1) ?? outer
}
