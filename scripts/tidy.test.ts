import { describe, expect, test } from 'vitest'
import { untidy } from './tidy.ts'

describe('tidiness', () => {
  test.each([
    ['const at = new Date()', 'clock.now()'],
    ['Math.random()', 'RandomIds'],
    ['process.env.PORT', 'Config'],
    ['parseFloat(text)', 'kernel/cents.ts'],
    ['const x = y as any', 'a real type'],
    ['// TODO later', 'the finished thing'],
    ["export * from './x.ts'", 'the names'],
  ])('%s is refused in favour of %s', (line, instead) => expect(untidy('src/x.ts', line)[0]).toContain(instead))

  test('the one reader of the clock may read it', () =>
    expect(untidy('src/platform/clock.ts', 'Date.now()')).toEqual([]))
  test('a file has at most 400 lines', () => expect(untidy('src/x.ts', '\n'.repeat(400))[0]).toContain('401 lines'))
  test('clean code passes', () => expect(untidy('src/x.ts', 'const at = clock.now()')).toEqual([]))
})
