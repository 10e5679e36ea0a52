export type Row = Readonly<Record<string, string | number>>

/** Proofs print what they saw as a table. */
export function printTable(title: string, rows: readonly Row[]): void {
  const names = Object.keys(rows[0] ?? {})
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => String(row[name]).length)))
  const line = (cells: readonly string[]) => `  ${cells.map((cell, index) => cell.padEnd(widths[index]!)).join('  ')}`
  console.log(`\n${title}`)
  console.log(line(names))
  console.log(line(widths.map((width) => '-'.repeat(width))))
  for (const row of rows) console.log(line(names.map((name) => String(row[name]))))
}

/** Repeatable randomness (mulberry32): the seed is printed and can be given again. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
