/** A state machine is a table in the shape of the specification's table. What is not in it is refused. */
export type Move<State, Trigger> = readonly [from: State, on: Trigger, to: State]

export function findMove<State, Trigger>(
  moves: readonly Move<State, Trigger>[],
  from: State,
  on: Trigger,
): Move<State, Trigger> | undefined {
  return moves.find(([moveFrom, moveOn]) => moveFrom === from && moveOn === on)
}

/** One line a state: tests compare a machine with its specification as text. */
export function printMoves<State extends string, Trigger extends string>(
  states: readonly State[],
  moves: readonly Move<State, Trigger>[],
): string {
  const line = (state: State) =>
    [state, ...moves.filter(([from]) => from === state).map(([, on, to]) => `${on}→${to}`)].join(' ')
  return states.map(line).join('\n')
}
