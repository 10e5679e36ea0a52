import { expect, test } from 'vitest'
import { amountAsDigits, typed, typedAmount } from './typed.ts'

test.each([
  ['10', '10'],
  ['10.5', '10.5'],
  ['10,50', '10.50'],
  ['R$ 1.234,56', '1234.56'],
  ['1,234.56', '1234.56'],
  // One thousand or one and a bit: the service refuses three decimals.
  ['1.234', '1.234'],
  ['1.234.567', '1234.567'],
  ['-5', '-5'],
  ['R$ 1.049,90', '1049.90'],
  [' R$5 ', '5'],
  ['ten', 'ten'],
])('the amount %s is sent as %s', (text, sent) => expect(amountAsDigits(text)).toBe(sent))

test('an empty field is nothing', () => {
  const form = new FormData()
  form.set('blank', '   ')
  form.set('name', ' Maria ')
  expect(typed(form, 'blank')).toBeUndefined()
  expect(typed(form, 'missing')).toBeUndefined()
  expect(typed(form, 'name')).toBe('Maria')
  expect(typedAmount(form, 'blank')).toBeUndefined()
})
