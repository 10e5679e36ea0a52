/** Database trouble gets its meaning in one place. */
export type Trouble = 'again' | 'lost' | 'lockWait' | 'other'

const again = new Set(['40001', '40P01'])
const lockWait = '55P03'
const lostCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT', 'ETIMEDOUT', 'ENOTFOUND'])
// pg reports a cut connection and its own time-outs without a code.
const lostWords =
  /Connection terminated|connection timeout|Query read timeout|timeout exceeded when trying to connect|not queryable/i

export function troubleOf(error: unknown): Trouble {
  const { code, message } = error as { code?: string; message?: string }
  if (code !== undefined && again.has(code)) return 'again'
  if (code === lockWait) return 'lockWait'
  // Classes 08 and 57P: the connection or the server went away, so the outcome is unknown.
  if (
    code !== undefined &&
    (code.startsWith('08') || code.startsWith('57P') || code === '53300' || code === '3D000' || lostCodes.has(code))
  )
    return 'lost'
  return message !== undefined && lostWords.test(message) ? 'lost' : 'other'
}

export const isUniqueViolation = (error: unknown): boolean => (error as { code?: string }).code === '23505'
export const constraintOf = (error: unknown): string | undefined => (error as { constraint?: string }).constraint
