import { expect, test } from 'vitest'
import { reaisFrom } from './recurrence-types.ts'

test.each([
  ['49,90', '49.90'],
  ['49.9', '49.9'],
  ['10', '10'],
  ['1.234,50', '1234.50'],
  ['1,234.50', '1234.50'],
  ['R$ 1.049,90', '1049.90'],
  [' R$5 ', '5'],
  ['1,234', '1.234'],
  ['much', 'much'],
  ['', ''],
  [null, ''],
])('reais as a person types them: %j', (text, amount) => {
  expect(reaisFrom(text)).toBe(amount)
})
