import { expect, test } from 'vitest'
import { changedSettings } from './settings-changes.ts'

const before = { on: true, off: false, 'fees.PIX.percent': '0.99', 'fees.PIX.fixed': '0', limit: '' }
const sent = (fields: Record<string, string>) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return changedSettings(before, form)
}

test('nothing that stayed as it was is sent', () => {
  expect(sent({ on: 'on', 'fees.PIX.percent': '0,99', 'fees.PIX.fixed': ' 0 ', limit: '' })).toEqual({})
})

test('switches, numbers as they are written here and there, and groups', () => {
  expect(sent({ off: 'on', 'fees.PIX.percent': '1,25', 'fees.PIX.fixed': '', limit: '7' })).toEqual({
    on: false,
    off: true,
    fees: { PIX: { percent: '1.25', fixed: '0' } },
    limit: '7',
  })
})
