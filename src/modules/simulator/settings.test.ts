import { describe, expect, onTestFinished, test } from 'vitest'
import { checkoutBody, type TestAccount } from '../../../test/harness/given.ts'
import { startTestService, testService } from '../../../test/harness/test-service.ts'

const it = testService()
const PATH = '/v1.1/sandbox/account'
const change = (account: TestAccount, settings: unknown) => account.api.put(PATH, settings)

async function feeOf(account: TestAccount, amount: number | string): Promise<number> {
  const { uuid } = await it.given.sale(account, { amount })
  return (await account.api.get(`/v1.1/transactions/${uuid}`)).body.appliedRate
}

describe('settings of a sandbox account', () => {
  test.each([
    { splitEnabled: true },
    { uniqueReferenceCode: true },
    { autoSettle: false },
    { overdraftLimit: 1_000.55 },
    { fees: { PIX: { percent: 1.2345, fixed: 0.35 }, PAYOUT: { fixed: 2 } } },
    { boleto: { enabled: true, fee: 3.49 } },
  ])('%j changes that and nothing else', async (settings) => {
    const account = await it.given.account()
    const before = (await account.api.get(PATH)).body
    const changed = await change(account, settings)
    expect([changed.http, changed.body]).toEqual([200, { ...before, ...settings }])
    expect((await account.api.get(PATH)).body).toEqual({ ...before, ...settings })
  })

  test('one fee changes and the others stay', async () => {
    const account = await it.given.account({ fees: { PIX: { percent: 2, fixed: 0.1 } }, boleto: { fee: 1 } })
    await change(account, { fees: { PIX: { fixed: 0.2 } }, boleto: { enabled: true } })
    expect((await account.api.get(PATH)).body).toMatchObject({
      fees: { PIX: { percent: 2, fixed: 0.2 }, PAYOUT: { fixed: 0 } },
      boleto: { enabled: true, fee: 1 },
    })
  })

  test('amounts are taken as text too, and what is null or unknown is left alone', async () => {
    const account = await it.given.account()
    const changed = await change(account, {
      overdraftLimit: '12.50',
      fees: { PIX: { percent: '0.5' } },
      splitEnabled: null,
      status: 'CLOSED',
      rateLimitPerSecond: 1,
    })
    expect(changed.body).toMatchObject({ overdraftLimit: 12.5, fees: { PIX: { percent: 0.5 } }, splitEnabled: false })
    expect((await account.api.get(PATH)).http).toBe(200)
    expect((await account.api.get(PATH)).http).toBe(200)
  })

  test('wrong values are all named, in order, and nothing changes', async () => {
    const account = await it.given.account()
    const before = (await account.api.get(PATH)).body
    const answer = await change(account, {
      splitEnabled: 'true',
      uniqueReferenceCode: 1,
      autoSettle: {},
      overdraftLimit: -1,
      fees: { PIX: { percent: 100.0001, fixed: 0.001 }, PAYOUT: { fixed: '1,50' } },
      boleto: { enabled: 'no', fee: -0.01 },
    })
    expect(answer.http).toBe(400)
    expect(answer.body.errors.map(({ field }: { field: string }) => field)).toEqual([
      'splitEnabled',
      'uniqueReferenceCode',
      'autoSettle',
      'overdraftLimit',
      'fees.PIX.percent',
      'fees.PIX.fixed',
      'fees.PAYOUT.fixed',
      'boleto.enabled',
      'boleto.fee',
    ])
    expect((await account.api.get(PATH)).body).toEqual(before)
  })

  test.each([0, 0.0001, 33.3333, 100])('a percentage of %d is taken: up to four decimals', async (percent) => {
    const account = await it.given.account()
    expect((await change(account, { fees: { PIX: { percent } } })).body.fees.PIX.percent).toBe(percent)
  })

  test.each([0.00001, 33.33333, 100.0001, -1, '1e1', ' 1', true])('a percentage of %j is a 400', async (percent) => {
    const account = await it.given.account()
    const answer = await change(account, { fees: { PIX: { percent } } })
    expect(answer.http).toBe(400)
    expect(answer.body.errors).toEqual([
      { field: 'fees.PIX.percent', message: 'must be from 0 to 100 with at most four decimals' },
    ])
  })

  test('the next checkout pays the new fee; a sale made before keeps its own', async () => {
    const account = await it.given.account()
    const before = await it.given.sale(account, { amount: 100 })
    expect(await feeOf(account, '100.00')).toBe(0.99)
    await change(account, { fees: { PIX: { percent: 1.2345, fixed: 0.35 } } })
    expect(await feeOf(account, 100)).toBe(1.58)
    expect((await account.api.get(`/v1.1/transactions/${before.uuid}`)).body.appliedRate).toBe(0.99)
    await change(account, { fees: { PIX: { percent: 0, fixed: 0 } } })
    expect(await feeOf(account, 100)).toBe(0)
    await change(account, { fees: { PIX: { percent: 0.0001 } } })
    expect(await feeOf(account, 1)).toBe(0.01)
    await change(account, { fees: { PIX: { percent: 100, fixed: 5 } } })
    expect(await feeOf(account, 20)).toBe(20)
  })

  test('unique reference codes count from the moment the setting is on', async () => {
    const account = await it.given.account()
    const checkout = () => account.api.post('/v1.1/checkout/transparent', checkoutBody({ referenceCode: 'same' }))
    expect([(await checkout()).http, (await checkout()).http]).toEqual([200, 200])
    await change(account, { uniqueReferenceCode: true })
    expect((await checkout()).http).toBe(200)
    const second = await checkout()
    expect([second.http, second.body.errors[0].code]).toEqual([400, 'referenceCode.duplicated'])
    await change(account, { uniqueReferenceCode: false })
    expect((await checkout()).http).toBe(200)
  })

  test('an overdraft limit below present use is a 400, and the limit stays', async () => {
    // Nothing a merchant can do yet overdraws an account, so the book is set by hand, in a service of its own.
    const own = await startTestService()
    onTestFinished(() => own.stop())
    const account = await own.given.account({ overdraftLimit: 100 })
    await own.rows(
      `update book set available_dr = available_dr + 5000, adjust_cr = adjust_cr + 5000
       where account_id = (select id from account where uuid = $1)`,
      [account.id],
    )
    const refused = await account.api.put(PATH, { overdraftLimit: 49.99, splitEnabled: true })
    expect(refused.http).toBe(400)
    expect(refused.body).toEqual({
      status: -1,
      message: 'field validation failure',
      errorCount: 1,
      errors: [{ field: 'overdraftLimit', message: 'must cover what the account uses already' }],
    })
    expect((await account.api.get(PATH)).body).toMatchObject({ overdraftLimit: 100, splitEnabled: false })
    expect((await account.api.put(PATH, { overdraftLimit: 50 })).body.overdraftLimit).toBe(50)
  })
})
