import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

export type Follower<Line> = {
  /** Lines that came since the last call, whole ones only. */
  fresh(): Line[]
  close(): void
}

/** Reads a file of JSON lines that other processes append to. */
export function followLines<Line>(path: string): Follower<Line> {
  const file = openSync(path, 'a+')
  let position = 0
  let rest = ''
  return {
    fresh() {
      const bytes = Buffer.alloc(fstatSync(file).size - position)
      position += readSync(file, bytes, 0, bytes.length, position)
      const lines = (rest + bytes.toString('latin1')).split('\n')
      rest = lines.pop()!
      return lines.map((line) => JSON.parse(line) as Line)
    },
    close: () => closeSync(file),
  }
}
