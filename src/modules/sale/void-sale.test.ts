import { describe, expect, test } from 'vitest'
import { pay, situationOf, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()

const cancel = (account: TestAccount, { uuid }: Pick<TestSale, 'uuid'>) =>
  account.api.put(`/v1.1/transactions/${uuid}/void`)
const query = async (account: TestAccount, { uuid }: TestSale) =>
  (await account.api.get(`/v1.1/transactions/${uuid}`)).body

const notPending = {
  status: 999,
  message: 'transaction not PENDING',
  errorCount: 1,
  errors: [{ field: 'transactionToken', message: 'invalid transaction situation' }],
}
const notFound = {
  status: 998,
  message: 'transaction not found',
  errorCount: 1,
  errors: [{ field: 'saleToken', message: 'non-existent transaction' }],
}

describe('void sale', () => {
  test('cancels a pending sale', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const { http, body } = await cancel(account, sale)
    expect([http, body]).toEqual([200, { status: 0, message: 'success' }])
    expect(await query(account, sale)).toMatchObject({ situation: 'CANCELLED', processingDate: null })
  })

  test('refuses a paid sale: it stays paid and keeps its money', async () => {
    const account = await it.given.account()
    const sale = await it.given.paidSale(account)
    const before = await query(account, sale)
    const { http, body } = await cancel(account, sale)
    expect([http, body]).toEqual([400, notPending])
    expect(await query(account, sale)).toEqual(before)
    expect((await account.api.get('/v1.1/balance')).body.balance).toBe(99.01)
  })

  test('refuses a sale that is cancelled already, by hand or by its age', async () => {
    const account = await it.given.account()
    const [voided, expired] = [await it.given.cancelledSale(account), await it.given.sale(account, { maxAge: 1 })]
    await account.api.post('/v1.1/sandbox/clock/advance', { minutes: 2 })
    for (const sale of [voided, expired]) {
      const { http, body } = await cancel(account, sale)
      expect([http, body]).toEqual([400, notPending])
    }
  })

  test('does not find a sale that does not exist, has no uuid, or is another’s', async () => {
    const [account, other] = [await it.given.account(), await it.given.account()]
    const theirs = await it.given.sale(other)
    for (const uuid of ['019a8d3c-0000-7000-8000-000000000001', 'x', '%00', theirs.uuid]) {
      const { http, body } = await cancel(account, { uuid })
      expect([http, body]).toEqual([404, notFound])
    }
    expect(await situationOf(other, theirs)).toBe('PENDING')
  })

  test('needs credentials', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    expect((await it.api.put(`/v1.1/transactions/${sale.uuid}/void`)).http).toBe(403)
    expect(await situationOf(account, sale)).toBe('PENDING')
  })

  test.each([
    ['nothing', undefined, 'application/json'],
    ['null', 'null', 'application/json'],
    ['an object', '{"reason":"x"}', 'application/json'],
    ['broken JSON', '{', 'application/json'],
    ['plain text', 'please', 'text/plain'],
    ['what claims no type', 'please', ''],
    ['what claims a strange type', 'please', 'strange'],
  ])('needs no body and takes %s', async (_, raw, type) => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const options = { headers: { 'content-type': type }, ...(raw === undefined ? {} : { raw }) }
    expect((await account.api.put(`/v1.1/transactions/${sale.uuid}/void/`, undefined, options)).http).toBe(200)
  })

  test('takes the uuid in capitals', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    expect((await cancel(account, { uuid: sale.uuid.toUpperCase() })).http).toBe(200)
  })

  test('succeeds once of many at once', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const replies = await Promise.all(Array.from({ length: 8 }, () => cancel(account, sale)))
    expect(replies.map(({ http }) => http).sort()).toEqual([200, ...Array(7).fill(400)])
  })

  test('and a payment at once: one of them wins, and no money is lost', async () => {
    const account = await it.given.account()
    for (let round = 0; round < 5; round += 1) {
      const sale = await it.given.sale(account)
      const [cancelled, paid] = await Promise.all([cancel(account, sale), pay(account, sale)])
      const won = cancelled.http === 200 ? 'CANCELLED' : 'PAID'
      expect(await situationOf(account, sale)).toBe(won)
      expect(paid.body.reversal?.reason).toBe(won === 'PAID' ? undefined : 'SALE_NOT_PENDING')
    }
  })
})

describe('a payment of a voided sale', () => {
  test('is not lost and not applied: it becomes a reversal', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    const { body } = await pay(account, sale)
    expect(body).toMatchObject({
      sale: { uuid: sale.uuid, situation: 'CANCELLED' },
      reversal: { status: 'PENDING', reason: 'SALE_NOT_PENDING', reversedAmount: 100 },
    })
    expect((await account.api.get('/v1.1/balance')).body.balance).toBe(0)
  })
})
