import { describe, expect, test } from 'vitest'
import { findMove, type Move, printMoves } from './moves.ts'

const states = ['OPEN', 'SHUT', 'GONE'] as const
type Door = (typeof states)[number]
const moves: readonly Move<Door, 'push' | 'burn'>[] = [
  ['OPEN', 'push', 'SHUT'],
  ['SHUT', 'push', 'OPEN'],
  ['OPEN', 'burn', 'GONE'],
]

describe('a table of moves', () => {
  test('allows what is in it', () => {
    expect(findMove(moves, 'OPEN', 'burn')).toEqual(['OPEN', 'burn', 'GONE'])
    expect(findMove(moves, 'SHUT', 'push')).toEqual(['SHUT', 'push', 'OPEN'])
  })

  test('refuses what is not', () => {
    expect(findMove(moves, 'SHUT', 'burn')).toBeUndefined()
    expect(findMove(moves, 'GONE', 'push')).toBeUndefined()
  })

  test('prints one line a state, final ones too', () => {
    expect(printMoves(states, moves)).toBe('OPEN push→SHUT burn→GONE\nSHUT push→OPEN\nGONE')
  })
})
