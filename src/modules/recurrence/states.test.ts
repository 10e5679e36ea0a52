import { describe, expect, test } from 'vitest'
import { printMoves } from '../../kernel/moves.ts'
import { chargeMoves, chargeStates, isOpen, mayRetryAfter, reasonCodes } from './charge.ts'
import { awaitsPayer, isFinal, mandateMoves, mandateStates } from './mandate.ts'

const lines = (text: string) => text.trim().replaceAll(/\n +/g, '\n')

describe('the states', () => {
  test('of a mandate are those of the contract', () => {
    expect(printMoves(mandateStates, mandateMoves)).toBe(
      lines(`
        CREATED present→APPROVING reject→REJECTED expire→EXPIRED cancel→CANCELLED
        APPROVING approve→APPROVED reject→REJECTED expire→EXPIRED cancel→CANCELLED
        APPROVED askCancel→CANCELLING cancel→CANCELLED conclude→CONCLUDED
        REJECTED
        EXPIRED
        CANCELLING cancel→CANCELLED
        CANCELLED
        CONCLUDED`),
    )
    expect(mandateStates.filter(isFinal)).toEqual(['REJECTED', 'EXPIRED', 'CANCELLED', 'CONCLUDED'])
    expect(mandateStates.filter(awaitsPayer)).toEqual(['CREATED', 'APPROVING'])
  })

  test('of a charge are those of the contract', () => {
    expect(printMoves(chargeStates, chargeMoves)).toBe(
      lines(`
        PENDING_SCHEDULE schedule→SCHEDULED cancel→CANCELLED
        SCHEDULED pay→PAID fail→FAILED reject→FAILED cancel→CANCELLED
        PAID
        FAILED retry→SCHEDULED
        CANCELLED`),
    )
    const open = chargeStates.filter((state) => isOpen({ state, nextAttempt: null }))
    expect(open).toEqual(['PENDING_SCHEDULE', 'SCHEDULED'])
    expect(isOpen({ state: 'FAILED', nextAttempt: 1 })).toBe(true)
  })

  test('a failed charge is tried again for six of the twelve reasons, and never for one that nobody knows', () => {
    expect(reasonCodes).toEqual([
      'FAIL',
      'AM04',
      'AC06',
      'AC03',
      'AC01',
      'MD01',
      'SL02',
      'AG03',
      'AB09',
      'SLCR',
      'AM09',
      'AM02',
    ])
    expect(reasonCodes.filter(mayRetryAfter)).toEqual(['FAIL', 'AM04', 'AC06', 'SL02', 'AB09', 'AM02'])
    expect(mayRetryAfter('ZZ99')).toBe(false)
  })
})
