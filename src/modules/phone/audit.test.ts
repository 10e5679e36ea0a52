import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPhone } from '../../../test/harness/phones.ts'
import { type StartedService, startTestService } from '../../../test/harness/test-service.ts'
import { phoneChecks } from './audit.ts'

let it: StartedService

/** A phone that paid once, and once too often. */
beforeAll(async () => {
  it = await startTestService()
  const phone = await openPhone(it)
  const sale = await it.given.sale(await it.given.account(), { amount: 10 })
  const read = await phone.api.post('/phone/api/readings', { charge: sale.txid })
  await phone.pay(read.body.reading, { times: 2 })
})
afterAll(() => it.stop())

const [addsUp, reported] = phoneChecks.map(({ name }) => name) as [string, string]

describe('the audit of the phones', () => {
  test('finds nothing in a world that is right', async () => {
    expect(await it.brokenBy('select 1')).toEqual([])
  })

  test.each([
    ['money from nowhere', addsUp, 'update phone set balance_cents = balance_cents + 1'],
    ['a line that is not counted', addsUp, 'update phone set entries = entries + 1'],
    ['a wrong balance after a line', addsUp, 'update phone_entry set balance_after_cents = 1 where seq = 2'],
    ['a gap', addsUp, 'update phone_entry set seq = 9 where seq = 3'],
    ['a payment under another id', reported, "update phone_entry set end_to_end = 'E1' where seq = 2"],
    ['a payment for another charge', reported, "update phone_entry set txid = 'x' where seq = 2"],
    ['one that paid, said to have come back', reported, "update phone_entry set outcome = 'REVERSED' where seq = 2"],
    ['one that came back, said to have paid', reported, "update phone_entry set outcome = 'PAID' where seq = 3"],
  ])('finds %s', async (_what, rule, sql) => {
    expect(await it.brokenBy(sql)).toEqual([rule])
  })

  test('a payment that was sent and not yet reported is right', async () => {
    expect(await it.brokenBy("update phone_entry set outcome = 'SENT', end_to_end = 'E1' where seq = 3")).toEqual([])
  })
})
