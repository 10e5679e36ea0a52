import { describe, expect, test } from 'vitest'
import { cents } from '../../kernel/cents.ts'
import { postingsForPayout } from '../payout/payout.ts'
import { postingsForReversal } from '../refund/index.ts'
import { postingsForRefund } from '../refund/refund.ts'
import { postingsForPaidCharge, postingsForPaidSale } from '../sale/index.ts'
import { bookAccounts, ruleOf, transferRules } from './chart.ts'
import { type Posting, postingColumns } from './posting.ts'

const printRules = () =>
  Object.entries(transferRules)
    .map(([kind, { code, from, to, type }]) => `${code} ${kind}: ${from} → ${to} (${type ?? 'no statement line'})`)
    .join('\n')

const printPostings = (postings: readonly Posting[]) =>
  postings
    .map(({ kind, leg, amount }) => {
      const { code, from, to } = transferRules[kind]
      return `${code}.${leg} ${from} → ${to} ${amount}`
    })
    .join('\n')

describe('the chart of accounts', () => {
  test('is the one of the design', () => {
    expect(
      Object.entries(bookAccounts)
        .map(([name, code]) => `${code} ${name}`)
        .join('\n'),
    ).toBe(
      [
        '1 clearing',
        '2 available',
        '4 refund_due',
        '5 fee',
        '6 payout_due',
        '7 reversal_due',
        '8 transit',
        '9 receivable',
        '10 adjust',
      ].join('\n'),
    )
  })
})

describe('posting rules', () => {
  test('are the table of the design', () => {
    expect(printRules()).toBe(
      [
        '9 chargePaid: clearing → available (RECURRENCE)',
        '10 salePaid: clearing → available (SALE)',
        '11 splitOut: clearing → transit (no statement line)',
        '12 saleFee: available → fee (FEE)',
        '21 splitIn: transit → available (SPLIT_CREDIT)',
        '30 refundHeld: available → refund_due (REFUND)',
        '31 refundPaid: refund_due → clearing (no statement line)',
        '32 refundReturned: refund_due → available (REFUND_CANCELLED)',
        '40 reversalHeld: clearing → reversal_due (no statement line)',
        '43 reversalPaid: reversal_due → clearing (no statement line)',
        '44 reversalKept: reversal_due → available (REVERSAL)',
        '50 payoutHeld: available → payout_due (PAYOUT)',
        '51 payoutFee: available → fee (PAYOUT_FEE)',
        '52 payoutPaid: payout_due → clearing (no statement line)',
        '53 payoutReturned: payout_due → available (PAYOUT_RETURNED)',
        '54 payoutFeeReturned: fee → available (PAYOUT_RETURNED)',
      ].join('\n'),
    )
  })

  test('each has its own code, two accounts, and a statement type exactly when it touches available', () => {
    const rules = Object.values(transferRules)
    expect(new Set(rules.map(({ code }) => code)).size).toBe(rules.length)
    for (const rule of rules) {
      expect(rule.from).not.toBe(rule.to)
      const touches = ([rule.from, rule.to] as string[]).includes('available')
      expect([rule.code, rule.type !== null]).toEqual([rule.code, touches])
      expect(ruleOf(rule.code)).toBe(rule)
    }
    expect(ruleOf(999)).toBeUndefined()
  })

  test('a paid sale: the whole amount to the merchant, then its fee', () => {
    expect(
      printPostings(postingsForPaidSale({ amount: cents(10_000), fee: cents(99), splitTotal: cents(0) }, [])),
    ).toBe(['10.0 clearing → available 10000', '12.0 available → fee 99'].join('\n'))
  })

  test('a paid charge of a recurrence: the same under its own name', () => {
    expect(printPostings(postingsForPaidCharge({ amount: cents(4_990), fee: cents(49) }))).toBe(
      ['9.0 clearing → available 4990', '12.0 available → fee 49'].join('\n'),
    )
  })

  test('a shared sale: what its legs leave to the merchant, each leg on its way, then the fee', () => {
    const legs = [
      { leg: 0, amount: cents(3_333) },
      { leg: 1, amount: cents(1_250) },
    ]
    expect(
      printPostings(postingsForPaidSale({ amount: cents(10_000), fee: cents(99), splitTotal: cents(4_583) }, legs)),
    ).toBe(
      [
        '10.0 clearing → available 5417',
        '11.0 clearing → transit 3333',
        '11.1 clearing → transit 1250',
        '12.0 available → fee 99',
      ].join('\n'),
    )
  })

  test('money to give back never touches available, unless nobody takes it back', () => {
    const lines = (['PENDING', 'PAID', 'CANCELLED'] as const).map((state) => postingsForReversal[state](cents(10_000)))
    expect(lines.map(printPostings)).toEqual([
      '40.0 clearing → reversal_due 10000',
      '43.0 reversal_due → clearing 10000',
      '44.0 reversal_due → available 10000',
    ])
  })

  test('a refund is held, then gone out or given back', () => {
    const lines = (['PENDING', 'PAID', 'CANCELLED'] as const).map((state) => postingsForRefund[state](cents(2_500)))
    expect(lines.map(printPostings)).toEqual([
      '30.0 available → refund_due 2500',
      '31.0 refund_due → clearing 2500',
      '32.0 refund_due → available 2500',
    ])
  })

  test('a payout is held with its fee beside it; the fee stays when it is paid and comes back when it is not', () => {
    const payout = { amount: cents(2_500), fee: cents(150) }
    const given = '53.0 payout_due → available 2500\n54.0 fee → available 150'
    const lines = (['PENDING', 'PAID', 'CANCELLED', 'FAILED'] as const).map((state) => postingsForPayout[state](payout))
    expect(lines.map(printPostings)).toEqual([
      '50.0 available → payout_due 2500\n51.0 available → fee 150',
      '52.0 payout_due → clearing 2500',
      given,
      given,
    ])
  })
})

describe('the columns of a batch', () => {
  test('name the item (counted from 1), the accounts by number, and leave out lines of nothing', () => {
    expect(
      postingColumns([
        postingsForPaidSale({ amount: cents(500), fee: cents(5), splitTotal: cents(0) }, []),
        postingsForPaidSale({ amount: cents(700), fee: cents(0), splitTotal: cents(0) }, []),
        [],
        postingsForReversal.PENDING(cents(900)),
        postingsForPaidSale({ amount: cents(300), fee: cents(0), splitTotal: cents(300) }, [
          { leg: 0, amount: cents(200) },
          { leg: 1, amount: cents(100) },
        ]),
      ]),
    ).toEqual({
      ord: [1, 1, 2, 4, 5, 5],
      code: [10, 12, 10, 40, 11, 11],
      leg: [0, 0, 0, 0, 0, 1],
      debit: [1, 2, 1, 1, 1, 1],
      credit: [2, 5, 2, 7, 8, 8],
      amount: [500, 5, 700, 900, 200, 100],
    })
  })

  test('of no item are empty', () => {
    expect(postingColumns([]).ord).toEqual([])
  })
})
