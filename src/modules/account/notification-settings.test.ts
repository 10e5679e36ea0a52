import { describe, expect, test } from 'vitest'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()
const PATH = '/v1.1/account/notifications'
const off = { url: null, enabled: false }
const nothing = { payment: { url: null }, reversal: off, refund: off, payout: off }
const url = (name: string) => `https://shop.example/${name}`

describe('notification settings', () => {
  test('of a new account are empty and show its webhook secret', async () => {
    const account = await it.given.account()
    expect(account.webhookSecret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/)
    expect((await account.api.get(PATH)).body).toEqual({
      status: 0,
      message: 'success',
      ...nothing,
      webhookSecret: account.webhookSecret,
    })
  })

  test('groups that are sent are replaced, others stay', async () => {
    const { api, webhookSecret } = await it.given.account()
    const everything = {
      payment: { url: url('payment') },
      reversal: { url: url('reversal'), enabled: true },
      refund: { url: url('refund'), enabled: true },
      payout: { url: url('payout'), enabled: false },
    }
    const first = await api.put(PATH, everything)
    expect([first.http, first.body]).toEqual([200, { status: 0, message: 'success', ...everything, webhookSecret }])

    const second = await api.put(PATH, { refund: { url: url('other') }, payout: { enabled: true, url: url('payout') } })
    const expected = {
      ...everything,
      refund: { url: url('other'), enabled: false },
      payout: { url: url('payout'), enabled: true },
    }
    expect(second.body).toMatchObject(expected)
    expect((await api.get(PATH)).body).toMatchObject(expected)

    await api.put(PATH, { payment: { url: null }, reversal: {}, refund: {}, payout: {} })
    expect((await api.get(PATH)).body).toMatchObject(nothing)
  })

  test('a body without groups, or none at all, changes nothing', async () => {
    const { api } = await it.given.account()
    await api.put(PATH, { payment: { url: url('a') } })
    for (const body of [{}, { payment: null }, { unknown: 1 }, null, undefined]) {
      const answer = await api.put(PATH, body)
      expect([answer.http, answer.body.payment]).toEqual([200, { url: url('a') }])
    }
  })

  test('an enabled group needs an address: every one that lacks it is named, and nothing changes', async () => {
    const { api } = await it.given.account()
    const answer = await api.put(PATH, {
      payment: { url: url('payment') },
      reversal: { enabled: true },
      refund: { enabled: true, url: null },
      payout: { enabled: true, url: url('payout') },
    })
    expect(answer.http).toBe(400)
    expect(answer.body).toEqual({
      status: -1,
      message: 'field validation failure',
      errorCount: 2,
      errors: ['reversal.url', 'refund.url'].map((field) => ({ field, message: 'may not be null' })),
    })
    expect((await api.get(PATH)).body).toMatchObject(nothing)
  })

  test('wrong values are named all at once, in the order of the fields', async () => {
    const { api } = await it.given.account()
    const answer = await api.put(PATH, {
      payment: { url: 'shop.example/hook' },
      reversal: { url: 'ftp://shop.example', enabled: 'yes' },
      refund: 'https://shop.example',
      payout: { url: `https://shop.example/${'a'.repeat(255)}` },
    })
    expect(answer.http).toBe(400)
    expect(answer.body.errors.map(({ field }: { field: string }) => field)).toEqual([
      'payment.url',
      'reversal.url',
      'reversal.enabled',
      'refund',
      'payout.url',
    ])
    expect(answer.body.errorCount).toBe(5)
  })

  test('an address has at most 255 characters', async () => {
    const { api } = await it.given.account()
    const of = (length: number) => url('').padEnd(length, 'a')
    expect((await api.put(PATH, { payment: { url: of(255) } })).http).toBe(200)
    expect((await api.put(PATH, { payment: { url: of(256) } })).http).toBe(400)
  })

  test('are the account’s own', async () => {
    const [one, two] = [await it.given.account(), await it.given.account()]
    await one.api.put(PATH, { payment: { url: url('one') } })
    const answer = (await two.api.get(PATH)).body
    expect(answer).toMatchObject(nothing)
    expect(answer.webhookSecret).toBe(two.webhookSecret)
  })
})
