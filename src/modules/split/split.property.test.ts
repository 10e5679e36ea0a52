import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkoutBody, pay, type TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'
import type { Cents, ShareUnits } from '../../kernel/cents.ts'
import type { AccountId, AccountUuid, SaleId } from '../../kernel/ids.ts'
import { feeFor, type LinkedRecipient } from '../account/index.ts'
import { transferRules } from '../ledger/index.ts'
import { postingsForPaidSale } from '../sale/index.ts'
import { resolveLegs, splitTotal } from './split.ts'
import { parentBlock } from './split.wire.ts'

const SEED = 20_261_116
const RUNS = 100_000
const LEGS_MAX = 20
const WHOLE = 1_000_000

const uuidOf = (place: number) => `00000000-0000-7000-8000-${String(place).padStart(12, '0')}` as AccountUuid
const recipients = new Map(
  Array.from({ length: LEGS_MAX }, (_, at): [AccountUuid, LinkedRecipient] => [
    uuidOf(at + 10),
    { parentId: 1 as AccountId, id: (at + 10) as AccountId, uuid: uuidOf(at + 10), active: true, clockOffsetMs: 0 },
  ]),
)
const parent = { id: 1 as AccountId, uuid: uuidOf(1) }

/** A leg as it is asked for: cents, or ten-thousandths of one per cent. */
type Asked = { readonly cents: number } | { readonly units: number }
type Case = { readonly amount: number; readonly fee: number; readonly legs: readonly Asked[]; readonly asText: boolean }

const decimals = (value: number, places: number) => {
  const digits = String(value).padStart(places + 1, '0')
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`
}
/** As a client would write it: a number, or text with all its decimals. */
const wireOf = ({ legs, asText }: Case) =>
  legs.map((leg, at) => ({
    recipientId: uuidOf(at + 10),
    ...('cents' in leg
      ? { amount: asText ? decimals(leg.cents, 2) : leg.cents / 100 }
      : { percentage: asText ? decimals(leg.units, 4) : leg.units / 10_000 }),
  }))
const resolve = (sale: Case) =>
  resolveLegs(wireOf(sale), {
    amount: sale.amount as Cents,
    fee: sale.fee as Cents,
    parent,
    find: (uuid) => recipients.get(uuid),
  })

const amounts = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 1, max: 1_000_000 }),
  fc.integer({ min: 1, max: 999_999_999_999 }),
  fc.constantFrom(1, 2, 100, 9_999, 10_000, 999_999_999_999),
)
const fees = fc.record({
  share: fc.oneof(fc.constantFrom(0, 9_900), fc.integer({ min: 0, max: 200_000 })),
  fixed: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 100 })),
})
const feeOf = (amount: number, { share, fixed }: { share: number; fixed: number }): number =>
  feeFor(amount as Cents, { share: share as ShareUnits, fixed: fixed as Cents })

/** What is left is shared out leg by leg; often to the last cent. */
const fittingCases: fc.Arbitrary<Case> = fc
  .record({
    amount: amounts,
    terms: fees,
    asText: fc.boolean(),
    wishes: fc.array(fc.tuple(fc.boolean(), fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constant(1))), {
      minLength: 1,
      maxLength: LEGS_MAX,
    }),
  })
  .map(({ amount, terms, asText, wishes }) => {
    const fee = feeOf(amount, terms)
    let left = amount - fee
    const legs: Asked[] = []
    for (const [byShare, part] of wishes) {
      const least = byShare ? Math.ceil(WHOLE / amount) : 1
      // The largest share that rounds down to no more than is left.
      const most = byShare ? Math.min(WHOLE, Number(((BigInt(left) + 1n) * 1_000_000n - 1n) / BigInt(amount))) : left
      if (most < least) continue
      const asked = least + Math.floor(part * (most - least))
      legs.push(byShare ? { units: asked } : { cents: asked })
      left -= byShare ? Number((BigInt(amount) * BigInt(asked)) / 1_000_000n) : asked
    }
    return { amount, fee, legs, asText }
  })

/** Anything that a client may ask for, fitting or not. */
const anyCases: fc.Arbitrary<Case> = fc
  .record({
    amount: amounts,
    terms: fees,
    asText: fc.boolean(),
    legs: fc.array(
      fc.oneof(
        fc.record({ units: fc.oneof(fc.integer({ min: 1, max: WHOLE }), fc.integer({ min: 1, max: 60_000 })) }),
        fc.record({ cents: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 999_999_999_999 })) }),
      ),
      { minLength: 1, maxLength: LEGS_MAX },
    ),
  })
  .map(({ terms, ...rest }) => ({ ...rest, fee: feeOf(rest.amount, terms) }))

/** The contract in fractions: a leg is its part of the whole, less what is below a cent. */
const expectedCents = (sale: Case): bigint[] =>
  sale.legs.map((leg) =>
    'cents' in leg ? BigInt(leg.cents) : (BigInt(sale.amount) * BigInt(leg.units)) / BigInt(WHOLE),
  )

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** Says what is wrong, or nothing: `expect` a hundred thousand times would take minutes. */
function wrongWith(sale: Case): string | undefined {
  const resolved = resolve(sale)
  if (!resolved.ok) return `refused: ${JSON.stringify(resolved.refusal)}`
  const legs = resolved.value
  const shared = splitTotal(legs)
  const own = sale.amount - shared
  for (const [at, { amount, share }] of legs.entries()) {
    if (!Number.isSafeInteger(amount) || amount < 1) return `leg ${at} is ${amount}`
    if (share === null) continue
    const exact = BigInt(sale.amount) * BigInt(share)
    if (BigInt(amount) * BigInt(WHOLE) > exact) return `leg ${at} is rounded up`
    if (BigInt(amount + 1) * BigInt(WHOLE) <= exact) return `leg ${at} is short of a whole cent`
  }
  if (sum(legs.map(({ amount }) => amount)) + own !== sale.amount) return 'legs and parent are not the gross'
  if (own - sale.fee < 0) return 'the parent is negative after its fee'
  return wrongWithBooks(sale, legs, own) ?? wrongWithBlock(sale, legs, own)
}

function wrongWithBooks(sale: Case, legs: readonly { amount: Cents }[], own: number): string | undefined {
  const numbered = legs.map(({ amount }, leg) => ({ leg, amount }))
  const postings = postingsForPaidSale(
    { amount: sale.amount as Cents, fee: sale.fee as Cents, splitTotal: splitTotal(legs) },
    numbered,
  )
  const balanceOf = (account: string) =>
    postings.reduce((balance, { kind, amount }) => {
      const { from, to } = transferRules[kind]
      return balance + (to === account ? amount : 0) - (from === account ? amount : 0)
    }, 0)
  if (balanceOf('clearing') !== -sale.amount) return 'the book does not hold what came in'
  if (balanceOf('transit') !== sale.amount - own) return 'not every share is on its way'
  if (balanceOf('fee') !== sale.fee) return 'the fee is another'
  if (balanceOf('available') !== own - sale.fee) return 'the parent has another balance'
  if (postings.some(({ amount }) => !Number.isSafeInteger(amount) || amount < 0)) return 'a line of less than nothing'
  const keys = new Set(postings.map(({ kind, leg }) => `${kind}.${leg}`))
  return keys.size === postings.length ? undefined : 'two lines have one key'
}

function wrongWithBlock(
  sale: Case,
  legs: readonly { amount: Cents; share: ShareUnits | null; recipientUuid: AccountUuid }[],
  own: number,
): string | undefined {
  const shown = legs.map((leg) => ({ ...leg, transactionId: '' as SaleId, externalReference: null }))
  const block = parentBlock(sale.amount as Cents, shown, () => 'PENDING')
  const wire = JSON.parse(JSON.stringify(block)) as typeof block
  const toCents = (reais: number | undefined) => Math.round(reais! * 100)
  if (toCents(wire.grossAmount) !== sale.amount || toCents(wire.parentAmount) !== own)
    return 'the block adds up otherwise'
  const printsTwoDecimals = wire.recipients!.every(({ amount }) => /^\d+(\.\d{1,2})?$/.test(String(amount)))
  if (!printsTwoDecimals) return 'an amount has more than two decimals'
  const asked = sale.legs.map((leg) => ('units' in leg ? leg.units / 10_000 : null))
  return wire.recipients!.every(({ percentage }, at) => percentage === asked[at])
    ? undefined
    : 'a percentage is not shown as sent'
}

describe('100,000 random splits', () => {
  test('that fit: legs and parent are the gross, no leg rounds up, the books balance, the parent pays its fee', () => {
    let withLegs = 0
    fc.assert(
      fc.property(fittingCases, (sale) => {
        if (sale.legs.length === 0) return
        withLegs += 1
        const wrong = wrongWith(sale)
        if (wrong !== undefined) throw new Error(wrong)
      }),
      { numRuns: RUNS * 1.25, seed: SEED },
    )
    expect(withLegs).toBeGreaterThanOrEqual(RUNS)
  })

  test('of any kind: refused exactly when a leg is below a cent, the sum too high or the fee not covered', () => {
    const verdicts = new Map<string, number>()
    fc.assert(
      fc.property(anyCases, (sale) => {
        const expected = expectedCents(sale)
        const shared = expected.reduce((total, amount) => total + amount, 0n)
        const tiny = expected.flatMap((amount, at) =>
          amount === 0n ? [`split[${at}].percentage split.amountTooLow`] : [],
        )
        const verdict =
          tiny.length > 0
            ? tiny.join()
            : shared > BigInt(sale.amount)
              ? 'split split.sumExceedsAmount'
              : BigInt(sale.amount) - shared < BigInt(sale.fee)
                ? 'split split.parentAmountInsufficientForFees'
                : expected.join()
        const resolved = resolve(sale)
        const said = resolved.ok
          ? resolved.value.map(({ amount }) => amount).join()
          : resolved.refusal.map(({ field, message }) => `${field} ${message}`).join()
        if (said !== verdict) throw new Error(`${said} instead of ${verdict}`)
        const kind = resolved.ok ? 'ok' : resolved.refusal[0]!.message
        verdicts.set(kind, (verdicts.get(kind) ?? 0) + 1)
      }),
      { numRuns: RUNS, seed: SEED },
    )
    const kinds = ['ok', 'split.amountTooLow', 'split.parentAmountInsufficientForFees', 'split.sumExceedsAmount']
    expect([...verdicts.keys()].sort()).toEqual(kinds)
    for (const kind of kinds) expect(verdicts.get(kind), kind).toBeGreaterThan(100)
  })
})

const it = testService()

describe('some hundred random splits through the service', () => {
  const SALES = 300

  async function newRecipient(account: TestAccount): Promise<TestAccount> {
    const { recipient, credentials } = (await account.api.post('/v1.1/sandbox/recipients', { name: 'Fornecedor' })).body
    const api = it.api.as({ 'x-api-key': credentials.apiKey, 'x-api-token': credentials.apiToken })
    return { api, id: recipient.recipientId, ...credentials }
  }
  const availableOf = async ({ api }: TestAccount) => Math.round((await api.get('/v1.1/balance')).body.available * 100)

  test('are booked to the cent: every balance is the sum of its shares, and the audit finds nothing', async () => {
    const account = await it.given.account({ splitEnabled: true, fees: { PIX: { percent: 0, fixed: 0 } } })
    const accounts = new Map<string, TestAccount>()
    for (let at = 0; at < LEGS_MAX; at += 1) {
      const made = await newRecipient(account)
      accounts.set(made.id, made)
    }
    const ids = [...accounts.keys()]
    const owed = new Map<string, number>([account.id, ...ids].map((id) => [id, 0]))
    const cases = fc
      .sample(fittingCases, { numRuns: SALES * 2, seed: SEED })
      .filter(({ legs, amount }) => legs.length > 0 && amount < 1_000_000_000)
      .slice(0, SALES)
    expect(cases).toHaveLength(SALES)
    let gross = 0
    let charged = 0

    const play = async (sale: Case) => {
      const split = wireOf(sale).map((leg, at) => ({ ...leg, recipientId: ids[at] }))
      const made = await account.api.post(
        '/v1.1/checkout/transparent',
        checkoutBody({ amount: sale.amount / 100, split }),
      )
      expect(made.http, made.text).toBe(200)
      const expected = expectedCents(sale).map(Number)
      const block = made.body.split
      expect(block.recipients.map(({ amount }: { amount: number }) => Math.round(amount * 100))).toEqual(expected)
      expect(Math.round(block.parentAmount * 100)).toBe(sale.amount - sum(expected))
      const paid = await pay(account, made.body.response)
      expect(paid.body.sale?.situation, paid.text).toBe('PAID')
      expected.forEach((cents, at) => void owed.set(ids[at]!, owed.get(ids[at]!)! + cents))
      const { appliedRate } = (await account.api.get(`/v1.1/transactions/${made.body.response.uuid}`)).body
      const fee = Math.round(appliedRate * 100)
      gross += sale.amount
      charged += fee
      owed.set(account.id, owed.get(account.id)! + sale.amount - sum(expected) - fee)
    }
    // Never more than the fee that the case was made for.
    for (const fixed of [0, 7]) {
      await account.api.put('/v1.1/sandbox/account', { fees: { PIX: { percent: 0, fixed: fixed / 100 } } })
      const some = cases.filter(({ fee }) => (fixed === 0 ? fee < 7 : fee >= 7))
      expect(some.length).toBeGreaterThan(20)
      const queue = [...some]
      const hand = async () => {
        for (let next = queue.pop(); next !== undefined; next = queue.pop()) await play(next)
      }
      await Promise.all(Array.from({ length: 16 }, hand))
      await it.service.settlements.run()
    }

    expect(await availableOf(account)).toBe(owed.get(account.id))
    for (const [id, recipient] of accounts) expect([id, await availableOf(recipient)]).toEqual([id, owed.get(id)])
    expect(sum([...owed.values()]) + charged).toBe(gross)
    const balances = (await it.operator.get('/operator/v1/ledger/trial-balance')).body
    const transit = balances.accounts.find(({ account: name }: { account: string }) => name === 'transit')
    expect([balances.totalDebit, transit.debit]).toEqual([balances.totalCredit, transit.credit])
  })
})
