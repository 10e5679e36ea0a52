/** A failed assertion is a bug: it rolls back, is logged, and the caller learns nothing but "our fault". */
export function assert(condition: boolean, why = 'an invariant does not hold'): asserts condition {
  if (!condition) throw new Error(why)
}

export const assertNever = (value: never): never => {
  throw new Error(`unexpected ${JSON.stringify(value)}`)
}
