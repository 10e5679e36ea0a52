import { expect, test } from 'vitest'
import { takesNoCharge } from './batches.ts'

const queue = (depth: number) => ({ depth: () => depth })

test.each([
  [100, [0, 0, 0], false],
  [100, [49, 0, 0], false],
  [100, [50, 0, 0], true],
  [100, [20, 20, 9], false],
  [100, [20, 20, 10], true],
  [1, [0, 0, 0], false],
  [1, [1, 0, 0], true],
  [0, [0, 0, 0], true],
])('room for %i, waiting %j; no new charge: %s', (queueMax, waiting, refuses) => {
  expect(takesNoCharge(waiting.map(queue), { lanes: 2, batchMax: 256, queueMax })()).toBe(refuses)
})
