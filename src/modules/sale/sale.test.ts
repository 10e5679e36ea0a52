import { describe, expect, test } from 'vitest'
import { type Instant, MINUTE_MS } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import type { AccountId, SaleId } from '../../kernel/ids.ts'
import { printMoves } from '../../kernel/moves.ts'
import { partsOfTxid } from '../../kernel/txid.ts'
import {
  currentTxid,
  expiryOf,
  fitPayment,
  MAX_AGE_MINUTES,
  postingsForPaidSale,
  type SaleState,
  saleMoves,
  saleStates,
} from './sale.ts'

test('the life of a sale', () => {
  expect(printMoves(saleStates, saleMoves)).toBe(
    ['PENDING pay→PAID void→CANCELLED expire→CANCELLED', 'PAID', 'CANCELLED renew→PENDING'].join('\n'),
  )
})

describe('a payment fits a sale of 100.00 that was renewed once and expires at 1000, or becomes a reversal', () => {
  // state, amount in cents, settled at, renewals in the payment's txid → what becomes of it
  const table = `
    PENDING   10000  1000  1  PAID
    PENDING   10000  0     1  PAID
    PENDING   10000  1000  0  PAID
    PENDING   10000  1001  1  SALE_NOT_PENDING
    PENDING   10000  1001  0  SALE_NOT_PENDING
    PENDING   9999   1000  1  AMOUNT_DIFFERS
    PENDING   10001  1000  1  AMOUNT_DIFFERS
    PENDING   9999   1001  1  AMOUNT_DIFFERS
    PENDING   10000  1000  2  UNKNOWN_CHARGE
    PAID      10000  1000  1  ALREADY_PAID
    PAID      9999   1001  0  ALREADY_PAID
    PAID      10000  1000  2  UNKNOWN_CHARGE
    CANCELLED 10000  1000  1  SALE_NOT_PENDING
    CANCELLED 9999   1000  0  SALE_NOT_PENDING
    CANCELLED 10000  1000  2  UNKNOWN_CHARGE
    none      10000  1000  0  UNKNOWN_CHARGE`
  const rows = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/) as [string, string, string, string, string])

  test.each(rows)('%s, %s cents, settled at %s, renewal %s: %s', (state, amount, settledAt, renewals, expected) => {
    const sale =
      state === 'none'
        ? undefined
        : {
            state: state as SaleState,
            amount: 10_000 as Cents,
            expiresAt: 1_000 as Instant,
            chargeId: null,
            renewals: 1,
          }
    const fit = fitPayment(sale, {
      amount: Number(amount) as Cents,
      settledAt: Number(settledAt) as Instant,
      renewals: Number(renewals),
    })
    expect(fit.ok ? fit.value[2] : fit.refusal).toBe(expected)
  })
})

test('a paid sale posts its whole amount, then its fee', () => {
  expect(postingsForPaidSale({ amount: 10_000 as Cents, fee: 99 as Cents, splitTotal: 0 as Cents }, [])).toEqual([
    { kind: 'salePaid', leg: 0, amount: 10_000 },
    { kind: 'saleFee', leg: 0, amount: 99 },
  ])
})

test('a maxAge is in minutes: one to thirty days, a day when nothing is said', () => {
  expect(MAX_AGE_MINUTES).toEqual({ min: 1, default: 24 * 60, max: 30 * 24 * 60 })
  expect(expiryOf(0 as Instant, 3)).toBe(3 * MINUTE_MS)
})

test('the txid of a sale names account, sale and renewal', () => {
  const id = '019a8d3c-0000-7000-8000-000000000001' as SaleId
  const sale = { accountId: 1_000 as AccountId, id, chargeId: null, renewals: 3 }
  expect(partsOfTxid(currentTxid(sale))).toEqual({ accountId: 1_000, saleId: sale.id, renewals: 3 })
})
