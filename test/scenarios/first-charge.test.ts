import { describe, expect, test } from 'vitest'
import { pay, situationOf } from '../harness/given.ts'
import { testService } from '../harness/test-service.ts'

const it = testService()

describe('a first charge', () => {
  test('is created, paid once, and its money is on the balance less the fee', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: '250.00' })
    expect(await situationOf(account, sale)).toBe('PENDING')

    const paid = await pay(account, sale)

    expect(paid.body).toMatchObject({ status: 0, sale: { uuid: sale.uuid, situation: 'PAID' }, reversal: null })
    expect((await account.api.get('/v1.1/balance')).body).toMatchObject({
      balance: 247.52,
      available: 247.52,
      blocked: 0,
    })
    const statement = (await account.api.get('/v1.1/statement')).body.result
    expect(statement.map((line: Record<string, unknown>) => [line['type'], line['amount'], line['balance']])).toEqual([
      ['FEE', -2.48, 247.52],
      ['SALE', 250, 250],
    ])
  })
})
