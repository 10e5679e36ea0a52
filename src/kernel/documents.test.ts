import { isValidCnpj } from '@brazilian-utils/brazilian-utils/is-valid-cnpj'
import { isValidCpf } from '@brazilian-utils/brazilian-utils/is-valid-cpf'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpfOf, hasCnpjShape, hasCpfShape, isCnpj, isCpf, maskDocument, normalizeDocument } from './documents.ts'

const RUNS = { numRuns: 10_000 }
const PROPERTY = { timeout: 60_000 }

const endings = Array.from({ length: 100 }, (_, ending) => String(ending).padStart(2, '0'))

describe('normalized for reading', () => {
  test.each([
    ['529.982.247-25', '52998224725'],
    [' 529 982 247 25 ', '52998224725'],
    ['12.abc.345/01de-35', '12ABC34501DE35'],
    ['ab\u0131\u017f', 'AB\u0131\u017f'],
    ['AB_123', 'AB_123'],
  ])('%j becomes %j', (text, normalized) => {
    expect(normalizeDocument(text)).toBe(normalized)
  })
})

describe('CPF', () => {
  test('is made of nine digits', () => {
    expect(cpfOf('529982247')).toBe('52998224725')
    expect(cpfOf('000000001')).toBe('00000000191')
    fc.assert(
      fc.property(fc.stringMatching(/^[0-8]{8}9$/), (digits) => isCpf(cpfOf(digits)) && isValidCpf(cpfOf(digits))),
      RUNS,
    )
  })

  test.each(['52998224725', '11144477735', '12345678909', '00000000191', '99887766593'])('%s is one', (text) => {
    expect(isCpf(text)).toBe(true)
  })

  test.each(['52998224724', '1234567890', '123456789099', '45164632481', '529.982.247-25', '٥٢٩٩٨٢٢٤٧٢٥', ''])(
    '%j is not',
    (text) => {
      expect(isCpf(text)).toBe(false)
    },
  )

  test.each(Array.from('0123456789', (digit) => digit.repeat(11)))('%s was never issued', (text) => {
    expect(isCpf(text)).toBe(false)
  })

  test('the shape is 11 digits, whatever they check to', () => {
    expect(['45164632481', '11111111111'].every(hasCpfShape)).toBe(true)
    expect(['1234567890', '123456789099', '5299822472A', '52998224725\n'].some(hasCpfShape)).toBe(false)
  })

  test('another program finds the same check digits', PROPERTY, () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{9}$/), (root) => {
        const mine = endings.filter((ending) => isCpf(root + ending))
        expect(mine).toEqual(endings.filter((ending) => isValidCpf(root + ending)))
        expect(mine.length).toBe(/^(.)\1+$/.test(root) ? 0 : 1)
      }),
      RUNS,
    )
  })
})

describe('CNPJ', () => {
  test.each([
    '11222333000181',
    '12345678000195',
    '00000000000191',
    '12ABC34501DE35',
    'A1B2C3D4E5F668',
    '0A0A0A0A0A0A90',
    '1345C3A5000106',
    'R55231B3000757',
    'AB0000CD000400',
  ])('%s is one', (text) => {
    expect(isCnpj(text)).toBe(true)
  })

  test.each([
    '12ABC34501DE36',
    '12abc34501de35',
    '12ABC34501DEA5',
    '11222333000180',
    '1122233300018',
    '00000000000000',
    '11.222.333/0001-81',
    '112223330001810',
    '',
  ])('%j is not', (text) => {
    expect(isCnpj(text)).toBe(false)
  })

  // The worked sums of the tax office's rule: a letter counts as its ASCII code less 48.
  test.each([
    { root: '12ABC34501DE', sum1: 459, digit1: 3, sum2: 424, digit2: 5 },
    { root: '112223330001', sum1: 102, digit1: 8, sum2: 120, digit2: 1 },
  ])('$root has the digits $digit1 and $digit2, and no others', ({ root, sum1, digit1, sum2, digit2 }) => {
    const sum = (text: string, weights: number[]) =>
      weights.reduce((total, weight, at) => total + weight * (text.charCodeAt(at) - 48), 0)
    expect(sum(root, [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2])).toBe(sum1)
    expect(sum(`${root}${digit1}`, [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2])).toBe(sum2)
    expect(endings.filter((ending) => isCnpj(root + ending))).toEqual([`${digit1}${digit2}`])
  })

  test('in lower case no digits make it one', () => {
    expect(endings.filter((ending) => isCnpj(`12abc34501de${ending}`))).toEqual([])
  })

  test('the shape is 12 letters or digits and 2 digits, whatever they check to', () => {
    expect(['12ABC34501DE36', '00000000000000'].every(hasCnpjShape)).toBe(true)
    expect(['12ABC34501DEA5', '12abc34501de35', '1122233300018', '11222333000181\n'].some(hasCnpjShape)).toBe(false)
  })

  test('another program finds the same check digits', PROPERTY, () => {
    const roots = fc.oneof(fc.stringMatching(/^[0-9A-Z]{12}$/), fc.stringMatching(/^[0-9]{12}$/))
    fc.assert(
      fc.property(roots, (root) => {
        const mine = endings.filter((ending) => isCnpj(root + ending))
        expect(mine).toEqual(endings.filter((ending) => isValidCnpj(root + ending, { version: 2 })))
        expect(mine.length).toBe(root === '000000000000' ? 0 : 1)
      }),
      RUNS,
    )
  })
})

describe('masked', () => {
  test.each([
    ['52998224725', '***.982.247-**'],
    ['529.982.247-25', '***.982.247-**'],
    ['11222333000181', '11.222.***/0001-**'],
    ['12.abc.345/01de-35', '12.ABC.***/01DE-**'],
    ['AB123456', '******56'],
    ['AB1', '*B1'],
    ['AB', '**'],
    ['A', '*'],
    ['', ''],
    ['X😀Y', '*😀Y'],
  ])('%j becomes %j', (document, masked) => {
    expect(maskDocument(document)).toBe(masked)
  })

  test('no other document shows more than its last two characters', PROPERTY, () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-Z]{1,25}$/), (document) => {
        fc.pre(!hasCpfShape(document) && !hasCnpjShape(document))
        expect(maskDocument(document)).toBe(
          document.length > 2 ? document.slice(-2).padStart(document.length, '*') : '*'.repeat(document.length),
        )
      }),
      RUNS,
    )
  })
})
