import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AccountId, ChargeId, SaleId } from './ids.ts'
import { chargeOfTxid, chargeTxidOf, partsOfTxid, RENEWALS_MAX, type TxidParts, txidOf } from './txid.ts'

const RUNS = { numRuns: 10_000, seed: 2026 }

const ACCOUNT_MAX = 62 ** 6 - 1
const anyParts: fc.Arbitrary<TxidParts> = fc.record({
  accountId: fc.integer({ min: 0, max: ACCOUNT_MAX }).map((id) => id as AccountId),
  saleId: fc.uuid().map((id) => id as SaleId),
  renewals: fc.integer({ min: 0, max: RENEWALS_MAX }),
})
const parts: TxidParts = {
  accountId: 1000 as AccountId,
  saleId: '019a8d3c-0000-7000-8000-000000000001' as SaleId,
  renewals: 0,
}

describe('a txid', () => {
  test('has the 26 to 35 alphanumerics that the rail allows, and gives its parts back', () => {
    fc.assert(
      fc.property(anyParts, (made) => {
        const txid = txidOf(made)
        expect(txid).toMatch(/^[0-9A-Za-z]{26,35}$/)
        expect(partsOfTxid(txid)).toEqual(made)
      }),
      RUNS,
    )
  })

  test('is another one for another account, sale or renewal', () => {
    const others = [
      { ...parts, accountId: 1001 as AccountId },
      { ...parts, saleId: '019a8d3c-0000-7000-8000-000000000002' as SaleId },
      { ...parts, renewals: 1 },
    ]
    expect(new Set([parts, ...others].map(txidOf)).size).toBe(4)
  })

  test('holds the largest account and the most renewals, and no more', () => {
    const most = { ...parts, accountId: ACCOUNT_MAX as AccountId, renewals: RENEWALS_MAX }
    expect(partsOfTxid(txidOf(most))).toEqual(most)
    expect(() => txidOf({ ...most, renewals: RENEWALS_MAX + 1 })).toThrow()
    expect(() => txidOf({ ...most, accountId: (ACCOUNT_MAX + 1) as AccountId })).toThrow()
  })

  test('of a charge of a recurrence is told from that of any sale', () => {
    const charge = { accountId: parts.accountId, chargeId: parts.saleId as string as ChargeId }
    const txid = chargeTxidOf(charge)
    expect(txid).toMatch(/^[0-9A-Za-z]{31}$/)
    expect(chargeOfTxid(txid)).toEqual(charge)
    for (const renewals of [0, 1, RENEWALS_MAX]) expect(chargeOfTxid(txidOf({ ...parts, renewals }))).toBeUndefined()
    expect(chargeOfTxid('nothing')).toBeUndefined()
  })

  test.each([
    ['nothing', ''],
    ['30 characters', '0'.repeat(30)],
    ['32 characters', '0'.repeat(32)],
    ['a hyphen', `${'0'.repeat(30)}-`],
    ['a line end', `${'0'.repeat(31)}\n`],
    ['a sale beyond the largest uuid', `000000${'z'.repeat(22)}000`],
  ])('%s is none', (_, text) => {
    expect(partsOfTxid(text)).toBeUndefined()
  })

  test('two texts never name the same charge', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-Za-z]{31}$/), (text) => {
        const read = partsOfTxid(text)
        expect(read === undefined || txidOf(read) === text).toBe(true)
      }),
      RUNS,
    )
  })
})
