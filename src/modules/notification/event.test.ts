import { describe, expect, test } from 'vitest'
import type { NotificationSettings } from '../account/index.ts'
import { addressFor, appendQuery, type EventName, eventNames } from './event.ts'

type Group = keyof NotificationSettings

const everywhere: NotificationSettings = {
  payment: { url: 'https://shop.example/payment' },
  reversal: { url: 'https://shop.example/reversal', enabled: true },
  refund: { url: 'https://shop.example/refund', enabled: true },
  payout: { url: 'https://shop.example/payout', enabled: true },
}
const nowhere: NotificationSettings = {
  payment: { url: null },
  reversal: { url: null, enabled: false },
  refund: { url: null, enabled: false },
  payout: { url: null, enabled: false },
}

// biome-ignore format: a table
const events: readonly (readonly [EventName, Group, string])[] = [
  ['PAYMENT_CONFIRMATION',        'payment',  ''],
  ['REFUND_PAID',                 'refund',   '?refund=true&type=refund'],
  ['REVERSAL_CREATE',             'reversal', '?reversing=true&type=reversing'],
  ['REVERSAL_PAID',               'reversal', '?reversing=true&type=reversing'],
  ['REVERSAL_CANCEL',             'reversal', '?reversing=true&type=reversing'],
  ['PAYOUT_PAID',                 'payout',   '?type=payout'],
  ['PAYOUT_FAILED',               'payout',   '?payout=true'],
  ['RECURRENCE_AUTHORIZED',       'payment',  ''],
  ['RECURRENCE_REJECTED',         'payment',  ''],
  ['RECURRENCE_EXPIRED',          'payment',  ''],
  ['RECURRENCE_CANCELLED',        'payment',  ''],
  ['RECURRENCE_CONCLUDED',        'payment',  ''],
  ['RECURRENCE_CHARGE_SCHEDULED', 'payment',  ''],
  ['RECURRENCE_CHARGE_PAID',      'payment',  ''],
  ['RECURRENCE_CHARGE_FAILED',    'payment',  ''],
  ['TEST',                        'payment',  ''],
]
const own = 'https://order.example/hook'
const switchable = events.filter(([, group]) => group !== 'payment')
const always = events.filter(([, group]) => group === 'payment')

test('the events are exactly those of the contract, and the test that the panel sends', () => {
  expect([...eventNames].sort()).toEqual(events.map(([name]) => name).sort())
})

describe('an event goes', () => {
  test.each(events)('%s to the address of the group %s, with "%s" appended', (event, group, query) => {
    expect(addressFor(event, null, everywhere)).toBe(`https://shop.example/${group}${query}`)
  })

  test.each(events)(
    '%s to the resource’s own address before that of the group %s, with "%s"',
    (event, _group, query) => {
      expect(addressFor(event, own, everywhere)).toBe(own + query)
    },
  )

  test.each(always)('%s to its own address when the account has none', (event) => {
    expect(addressFor(event, own, nowhere)).toBe(own)
  })

  test.each(switchable)(
    '%s to its own address when the group %s is on, whatever the address of the group',
    (event, group, query) => {
      const settings = { ...nowhere, [group]: { url: null, enabled: true } }
      expect(addressFor(event, own, settings)).toBe(own + query)
    },
  )
})

describe('an event goes nowhere', () => {
  test.each(events)('%s when nothing is configured for the group %s', (event) => {
    expect(addressFor(event, null, nowhere)).toBeUndefined()
  })

  test.each(switchable)('%s while the group %s is off, although it has an address', (event, group) => {
    const settings = { ...everywhere, [group]: { url: 'https://shop.example/off', enabled: false } }
    expect(addressFor(event, null, settings)).toBeUndefined()
  })

  test.each(switchable)(
    '%s while the group %s is off, although the resource has an address of its own',
    (event, group) => {
      const settings = { ...everywhere, [group]: { url: 'https://shop.example/off', enabled: false } }
      expect(addressFor(event, own, settings)).toBeUndefined()
    },
  )

  test.each(switchable)('%s with a group %s that is on but leads nowhere', (event, group) => {
    expect(addressFor(event, null, { ...nowhere, [group]: { url: null, enabled: true } })).toBeUndefined()
  })

  test.each(switchable)('%s by the address of another group than %s', (event, group) => {
    const settings = { ...everywhere, [group]: { url: null, enabled: true } }
    expect(addressFor(event, null, settings)).toBeUndefined()
  })
})

describe('a query is appended', () => {
  // biome-ignore format: a table
  const addresses: readonly (readonly [string, string, string])[] = [
    ['to a path',                        'https://a.example/hook',               'https://a.example/hook?x=1&y=2'],
    ['to a path that ends in a slash',   'https://a.example/hook/',              'https://a.example/hook/?x=1&y=2'],
    ['to an address without a path',     'https://a.example',                    'https://a.example?x=1&y=2'],
    ['to an address with a port',        'http://127.0.0.1:9000',                'http://127.0.0.1:9000?x=1&y=2'],
    ['behind a query that is there',     'https://a.example/hook?shop=7',        'https://a.example/hook?shop=7&x=1&y=2'],
    ['behind two parameters',            'https://a.example/hook?a=1&b=2',       'https://a.example/hook?a=1&b=2&x=1&y=2'],
    ['behind a question mark',           'https://a.example/hook?',              'https://a.example/hook?x=1&y=2'],
    ['behind an ampersand',              'https://a.example/hook?shop=7&',       'https://a.example/hook?shop=7&x=1&y=2'],
    ['before a fragment, left out',      'https://a.example/hook#top',           'https://a.example/hook?x=1&y=2'],
    ['between query and fragment',       'https://a.example/hook?shop=7#top',    'https://a.example/hook?shop=7&x=1&y=2'],
    ['not into a fragment with a ?',     'https://a.example/hook#top?a=1',       'https://a.example/hook?x=1&y=2'],
    ['without decoding what is there',   'https://a.example/h%20k?q=%C3%A9+%26', 'https://a.example/h%20k?q=%C3%A9+%26&x=1&y=2'],
    ['also when the same name is there', 'https://a.example/hook?x=0',           'https://a.example/hook?x=0&x=1&y=2'],
    ['behind a second question mark',    'https://a.example/hook?a=b?c',         'https://a.example/hook?a=b?c&x=1&y=2'],
    ['with credentials as they are',     'https://u:p@a.example/hook',           'https://u:p@a.example/hook?x=1&y=2'],
  ]
  test.each(addresses)('%s: %s', (_where, address, expected) => {
    expect(appendQuery(address, 'x=1&y=2')).toBe(expected)
  })

  test.each([
    ['https://a.example/hook?shop=7&', 'https://a.example/hook?shop=7&'],
    ['https://a.example/hook?', 'https://a.example/hook?'],
    ['https://a.example/hook?a=1#top', 'https://a.example/hook?a=1'],
    ['https://a.example', 'https://a.example'],
  ])('an empty one changes nothing but the fragment: %s', (address, expected) => {
    expect(appendQuery(address, '')).toBe(expected)
  })
})
