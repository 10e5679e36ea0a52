import { describe, expect, test } from 'vitest'
import { formatsOf } from './formats.ts'

const plain = (text: string) => text.replaceAll(/\s/g, ' ')

describe('formats', () => {
  test('money is reais, as each language writes them', () => {
    expect(plain(formatsOf('pt').money(1234.5))).toBe('R$ 1.234,50')
    expect(plain(formatsOf('en').money(1234.5))).toBe('R$1,234.50')
  })

  test('an amount begins a field as its reader would type it', () => {
    expect(formatsOf('pt').amount(1234.5)).toBe('1234,50')
    expect(formatsOf('en').amount(0.1 + 0.2)).toBe('0.30')
  })

  test('a wire timestamp is shown as it stands, an instant in São Paulo', () => {
    expect(formatsOf('pt').dateTime('2026-11-15 23:30:00')).toBe('15/11/2026, 23:30:00')
    expect(formatsOf('pt').dateTime(Date.UTC(2026, 10, 16, 2, 30))).toBe('15/11/2026, 23:30:00')
    expect(formatsOf('en').date('2026-11-15')).toBe('Nov 15, 2026')
  })

  test('a format is made once for each language', () => {
    expect(formatsOf('pt')).toBe(formatsOf('pt'))
    expect(formatsOf('pt')).not.toBe(formatsOf('en'))
  })
})
