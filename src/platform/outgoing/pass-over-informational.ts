import type { Socket } from 'node:net'

const HEAD_MAX = 16_384
const HEAD_END = '\r\n\r\n'
const BEGINNING = 'HTTP/1.1 1'

/**
 * Takes informational answers (100 Continue, 103 Early Hints) out of what the socket reads. RFC 9110 wants every client
 * to pass over them, asked for or not; undici breaks the connection at an unexpected 100.
 */
export function passOverInformational(socket: Socket): void {
  const read = socket.read
  let written = 0
  let begins = false
  let held: Buffer | null = null
  socket.read = function (size?: number): Buffer | null {
    let chunk: Buffer | null = read.call(this, size)
    if (chunk === null) return null
    // One request at a time: what comes first after bytes were written is the beginning of an answer.
    if (this.bytesWritten !== written) {
      written = this.bytesWritten
      begins = true
    }
    if (!begins) return chunk
    if (held !== null) chunk = Buffer.concat([held, chunk])
    held = null
    while (mayBeInformational(chunk)) {
      const end = chunk.indexOf(HEAD_END)
      if (end < 0) {
        if (chunk.length > HEAD_MAX) break
        held = chunk
        return null
      }
      chunk = chunk.subarray(end + HEAD_END.length)
      if (chunk.length === 0) return null
    }
    begins = false
    return chunk
  }
}

/** Begins like one, as far as it goes. 101 is none: it ends HTTP on the connection. */
function mayBeInformational(chunk: Buffer): boolean {
  const end = Math.min(chunk.length, BEGINNING.length)
  // From the end: the digit tells most answers apart.
  for (let at = end - 1; at >= 0; at -= 1) {
    // HTTP/1.0 has no such answers, yet some servers that name it send them.
    if (chunk[at] !== BEGINNING.charCodeAt(at) && !(at === 7 && chunk[at] === 0x30)) return false
  }
  return !(chunk[10] === 0x30 && chunk[11] === 0x31)
}
