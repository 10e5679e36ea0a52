import { expect, test } from 'vitest'
import { amountFrom } from './phone-api.ts'

test.each([
  ['10', 10],
  ['10,5', 10.5],
  ['10.50', 10.5],
  ['1.234,50', 1234.5],
  ['R$ 99,99', 99.99],
  ['0,01', 0.01],
  ['', undefined],
  ['0', undefined],
  ['-1', undefined],
  ['10,505', undefined],
  ['1,234.50', 1234.5],
  ['ten', undefined],
  ['1e3', undefined],
])('reais as a person types them: %j', (text, amount) => {
  expect(amountFrom(text)).toBe(amount)
})
