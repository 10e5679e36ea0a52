import { describe, expect, test } from 'vitest'
import { situationOf, type TestAccount, type TestSale } from '../../../test/harness/given.ts'
import { railPayment } from '../../../test/harness/rail-payment.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { MINUTE_MS, plusMs } from '../../kernel/calendar.ts'
import { partsOfTxid, txidOf } from '../../kernel/txid.ts'
import type { PaymentReceived } from '../../rail/rail.ts'

const it = testService()

type World = { account: TestAccount; sale: TestSale }
type Misfit = { when: string; reason: string; situation: string; happened: (world: World) => Promise<PaymentReceived> }

const void_ = ({ account, sale }: World) => account.api.put(`/v1.1/transactions/${sale.uuid}/void`)
const expire = async () => {
  it.clock.advance(61 * MINUTE_MS)
  await it.sweep()
}
const paid = ({ sale }: World) => it.service.door.apply([railPayment(it.clock, sale)])

const misfits: Misfit[] = [
  {
    when: 'after a void',
    reason: 'SALE_NOT_PENDING',
    situation: 'CANCELLED',
    async happened(world) {
      await void_(world)
      return railPayment(it.clock, world.sale)
    },
  },
  {
    when: 'after the expiry',
    reason: 'SALE_NOT_PENDING',
    situation: 'CANCELLED',
    async happened({ sale }) {
      await expire()
      return railPayment(it.clock, sale)
    },
  },
  {
    when: 'settled before the expiry, but heard after the sweep',
    reason: 'SALE_NOT_PENDING',
    situation: 'CANCELLED',
    async happened({ sale }) {
      const payment = railPayment(it.clock, sale)
      await expire()
      return payment
    },
  },
  {
    when: 'settled a moment after the expiry, before any sweep',
    reason: 'SALE_NOT_PENDING',
    situation: 'PENDING',
    async happened({ sale }) {
      const settledAt = plusMs(it.clock.now(), 60 * MINUTE_MS + 1)
      return railPayment(it.clock, sale, { settledAt })
    },
  },
  {
    when: 'a second time',
    reason: 'ALREADY_PAID',
    situation: 'PAID',
    async happened(world) {
      await paid(world)
      return railPayment(it.clock, world.sale)
    },
  },
  {
    when: 'a second time with another amount',
    reason: 'ALREADY_PAID',
    situation: 'PAID',
    async happened(world) {
      await paid(world)
      return railPayment(it.clock, world.sale, { amount: 1 })
    },
  },
  {
    when: 'a cent too little',
    reason: 'AMOUNT_DIFFERS',
    situation: 'PENDING',
    happened: async ({ sale }) => railPayment(it.clock, sale, { amount: 9_999 }),
  },
  {
    when: 'a cent too much',
    reason: 'AMOUNT_DIFFERS',
    situation: 'PENDING',
    happened: async ({ sale }) => railPayment(it.clock, sale, { amount: 10_001 }),
  },
]

describe('a payment that does not fit its sale', () => {
  test.each(misfits)('$when becomes a reversal: $reason', async ({ reason, situation, happened }) => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 100, maxAge: 60 })
    const payment = await happened({ account, sale })
    const before = await standing(account)

    const [outcome] = await it.service.door.apply([payment])

    expect(outcome).toMatchObject({ outcome: 'reversed' })
    const [reversal] = await reversalsOf(payment)
    expect(reversal).toMatchObject({
      account: account.id,
      sale_id: sale.uuid,
      txid: sale.txid,
      end_to_end: payment.endToEnd,
      original_amount_cents: 10_000,
      amount_cents: payment.amount,
      reason,
      state: 'PENDING',
    })
    expect(await linesOf(reversal!.id)).toEqual([
      { account: account.id, code: 40, leg: 0, debit: 1, credit: 7, amount_cents: payment.amount, subject: sale.uuid },
    ])
    expect(await standing(account)).toEqual(before)
    expect(await situationOf(account, sale)).toBe(situation)
  })
})

const OPERATOR = '00000000-0000-7000-8000-000000000001'
const partsOf = (sale: TestSale) => partsOfTxid(sale.txid)!

describe('a payment for a charge that nobody knows', () => {
  test.each([
    ['without a txid', () => null],
    ['with a txid of another form', () => 'x'.repeat(26)],
    ['with a txid of an account that is not', (sale: TestSale) => txidOf({ ...partsOf(sale), accountId: 9 as never })],
    ['with a txid of no sale', (sale: TestSale) => `${sale.txid.slice(0, 6)}${'1'.repeat(22)}000`],
    ['with the txid of a renewal to come', (sale: TestSale) => txidOf({ ...partsOf(sale), renewals: 1 })],
  ])('%s waits in the book of the operator', async (_what, txidFor) => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 100 })
    const txid = txidFor(sale)
    const payment = railPayment(it.clock, sale, { txid })
    const before = await standing(account)
    const held = await operatorHolds()

    const [outcome] = await it.service.door.apply([payment])

    expect(outcome).toMatchObject({ outcome: 'reversed', accountId: 1 })
    const [reversal] = await reversalsOf(payment)
    expect(reversal).toMatchObject({
      account: OPERATOR,
      sale_id: null,
      txid,
      original_amount_cents: null,
      amount_cents: 10_000,
      reason: 'UNKNOWN_CHARGE',
      state: 'PENDING',
    })
    expect(await linesOf(reversal!.id)).toEqual([
      { account: OPERATOR, code: 40, leg: 0, debit: 1, credit: 7, amount_cents: 10_000, subject: null },
    ])
    expect(await operatorHolds()).toBe(held + 10_000)
    expect(await standing(account)).toEqual(before)
    expect(await situationOf(account, sale)).toBe('PENDING')
  })

  test("another account's txid pays that account's sale, whoever hears of it", async () => {
    const [one, other] = [await it.given.account(), await it.given.account()]
    const sale = await it.given.sale(other, { amount: 100 })
    const before = await standing(one)
    const [outcome] = await it.service.door.apply([railPayment(it.clock, sale)])
    expect(outcome).toMatchObject({ outcome: 'applied', saleId: sale.uuid })
    expect(await standing(one)).toEqual(before)
    expect((await standing(other)).available).toBe(99.01)
  })
})

describe('a payment that fits', () => {
  test('settled at the very expiry pays a PENDING sale, however late we hear of it', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { maxAge: 60 })
    const settledAt = plusMs(it.clock.now(), 60 * MINUTE_MS)
    it.clock.advance(5 * 60 * MINUTE_MS)
    const [outcome] = await it.service.door.apply([railPayment(it.clock, sale, { settledAt })])
    expect(outcome).toMatchObject({ outcome: 'applied', saleId: sale.uuid })
    expect(await situationOf(account, sale)).toBe('PAID')
  })

  test('every txid that a sale ever had pays it once it is renewed', async () => {
    const account = await it.given.account()
    for (const renewals of [0, 1, 2]) {
      const sale = await it.given.cancelledSale(account)
      await account.api.put(`/v1.1/checkout/transparent/${sale.uuid}`, {})
      await account.api.put(`/v1.1/transactions/${sale.uuid}/void`)
      await account.api.put(`/v1.1/checkout/transparent/${sale.uuid}`, {})
      const txid = txidOf({ ...partsOf(sale), renewals })
      const [outcome] = await it.service.door.apply([railPayment(it.clock, sale, { txid })])
      expect(outcome).toMatchObject({ outcome: 'applied', saleId: sale.uuid })
    }
  })
})

/** What a merchant sees of its money. */
async function standing(account: TestAccount) {
  const { balance, available, blocked } = (await account.api.get('/v1.1/balance')).body
  const { totalElements } = (await account.api.get('/v1.1/statement')).body
  return { balance, available, blocked, lines: totalElements }
}

const reversalsOf = ({ endToEnd }: PaymentReceived) =>
  it.rows<{ id: string; account: string }>(
    `select r.*, a.uuid as account from reversal r join account a on a.id = r.account_id where end_to_end = $1`,
    [endToEnd],
  )

const linesOf = (sourceId: string) =>
  it.rows(
    `select a.uuid as account, code, leg, debit, credit, amount_cents, subject_id as subject
     from transfer t join account a on a.id = t.account_id where source_id = $1`,
    [sourceId],
  )

const operatorHolds = async () =>
  (await it.rows<{ n: number }>('select reversal_due_cr - reversal_due_dr as n from book where account_id = 1'))[0]!.n
