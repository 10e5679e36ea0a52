import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Cents } from '../../src/kernel/cents.ts'
import type { EndToEndId } from '../../src/kernel/ids.ts'
import type { PaymentReceived } from '../../src/rail/rail.ts'
import { sweepRecurrences } from '../../src/worker/sweeps.ts'
import type { Reply } from '../harness/api-client.ts'
import { deadlocksBetweenTwo, type OtherService } from '../harness/faulty-database.ts'
import type { TestAccount } from '../harness/given.ts'
import { moneyOf } from '../harness/money-out.ts'
import { newEndToEnd } from '../harness/rail-payment.ts'
import {
  approvedMandate,
  authorizationOf,
  cancelCharge,
  cancelMandate,
  chargesOf,
  done,
  eventsOf,
  givenPlan,
  listeningAccount,
  railNews,
  setCycleAmount,
  simCharge,
  simMandate,
  type TestCharge,
  type TestMandate,
} from '../harness/recurring.ts'
import { testService } from '../harness/test-service.ts'

const it = testService()
const START = '2026-11-16 12:00:00'
const AT_ONCE = 32

/** The mandate as its merchant sees it through one of the processes. */
const through = (service: OtherService, mandate: TestMandate): TestMandate => {
  const { apiKey, apiToken } = mandate.account
  return {
    ...mandate,
    account: { ...mandate.account, api: service.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken }) },
  }
}
const voidSale = ({ account }: TestMandate, { sale }: TestCharge) =>
  account.api.put(`/v1.1/transactions/${sale!.uuid}/void`)
const refundSale = ({ account }: TestMandate, { sale }: TestCharge, amount: number) =>
  account.api.put(`/v1.1/transactions/${sale!.uuid}/refund`, { amount })
const payment = ({ instructionId, amount }: TestCharge, endToEnd: EndToEndId = newEndToEnd()): PaymentReceived => ({
  kind: 'payment',
  rail: 'sandbox',
  endToEnd,
  txid: instructionId,
  amount: Math.round(amount * 100) as Cents,
  settledAt: it.clock.now(),
  payer: { document: '52998224725', name: 'Pagador de Teste', ispb: '99999004' },
})

type Act = (mandate: TestMandate, charge: TestCharge, service: OtherService) => Promise<Reply | undefined>
const viaDoor =
  (work: (service: OtherService, charge: TestCharge) => Promise<unknown>): Act =>
  async (_, charge, service) => {
    await work(service, charge)
    return undefined
  }
const acts = {
  concluded: (mandate, { instructionId }) => simCharge(mandate, instructionId, 'concluded'),
  failed: (mandate, { instructionId }) => simCharge(mandate, instructionId, 'failed'),
  rejected: (mandate, { instructionId }) => simCharge(mandate, instructionId, 'reject/AC03'),
  cancelledByPayer: (mandate, { instructionId }) => simCharge(mandate, instructionId, 'canceled'),
  retry: (mandate, { instructionId }) => simCharge(mandate, instructionId, 'retry'),
  cancelled: (mandate, { instructionId }) => cancelCharge(mandate, instructionId),
  voided: (mandate, charge) => voidSale(mandate, charge),
  refunded: (mandate, charge) => refundSale(mandate, charge, 10),
  mandateCancelled: (mandate) => cancelMandate(mandate),
  mandateCancelling: (mandate) => simMandate(mandate, 'cancelling'),
  priced: (mandate) => setCycleAmount(mandate, 77),
  paid: viaDoor(({ door }, charge) => door.apply([payment(charge)])),
  told: viaDoor(({ door }, { instructionId }) => door.apply([railNews(instructionId, 'FAILED', { code: 'AM04' })])),
  swept: viaDoor(({ sweeps }) => sweepRecurrences(sweeps)),
} satisfies Record<string, Act>
type ActName = keyof typeof acts

/** So many mandates with a charge of 100.00 at the bank each; they can be cancelled, and their merchants have money. */
async function chargesAtTheBank(
  account: TestAccount,
  count: number,
): Promise<{ mandate: TestMandate; charge: TestCharge }[]> {
  it.clock.set(START)
  const planId = await givenPlan(account, { minimumRecurrenceAmount: 1 })
  const fields = { planId, initialDate: '2026-12-31', amount: { valueType: 'VARIABLE' } }
  const mandates = await Promise.all(Array.from({ length: count }, () => approvedMandate(account, fields)))
  it.clock.set('2026-12-25 12:00:00')
  await it.sweep()
  return Promise.all(mandates.map(async (mandate) => ({ mandate, charge: (await chargesOf(mandate))[0]! })))
}

/** 32 at a time, every other one on the other process. */
async function allAtOnce<Task>(tasks: readonly Task[], work: (task: Task, at: number) => Promise<unknown>) {
  let next = 0
  const hand = async () => {
    while (next < tasks.length) {
      const at = next++
      await work(tasks[at]!, at)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, hand))
}

/** What each of 32 that came at once was answered: a status, or the outcome at the door. */
async function raceFor(
  { mandate, charge }: { mandate: TestMandate; charge: TestCharge },
  names: readonly ActName[],
): Promise<string[]> {
  const answers: string[] = []
  const deadlocks = await deadlocksBetweenTwo(it, (services) =>
    allAtOnce(Array.from({ length: AT_ONCE }), async (_, at) => {
      const service = services[at % 2]!
      const name = names[(at >> 1) % names.length]!
      const reply = await acts[name](through(service, mandate), charge, service)
      answers.push(`${name} ${reply?.http ?? 'done'}`)
    }),
  )
  expect(deadlocks).toBe(0)
  return answers.sort()
}
const counted = (answers: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const answer of answers) counts[answer] = (counts[answer] ?? 0) + 1
  return counts
}
/** The ends of the mandate's first charge, as they were told: S, P, F, R, C. */
const storyOf = async (mandate: TestMandate, { sale }: TestCharge): Promise<string> =>
  (await eventsOf(it, mandate))
    .filter(({ saleToken }) => saleToken === sale!.uuid)
    .map(({ chargeStatus }) => chargeStatus[0])
    .join('')

describe('32 at once on one charge, from two processes', () => {
  test('all say that it is paid: it is, once', async () => {
    const account = await listeningAccount(it)
    const [one] = await chargesAtTheBank(account, 1)
    expect(counted(await raceFor(one!, ['concluded']))).toEqual({ 'concluded 200': 1, 'concluded 400': 31 })
    expect(await storyOf(one!.mandate, one!.charge)).toBe('SP')
    expect(await moneyOf(account)).toEqual({ available: 99.01, blocked: 0 })
  })

  test('the rail reports one payment 32 times, and then 32 payments: one is taken, the others go back', async () => {
    const account = await listeningAccount(it)
    const [one, two] = await chargesAtTheBank(account, 2)
    const report = payment(one!.charge)
    const outcomes: string[] = []
    const deadlocks = await deadlocksBetweenTwo(it, async (services) => {
      await allAtOnce(Array.from({ length: 2 * AT_ONCE }), async (_, at) => {
        const told = at < AT_ONCE ? report : payment(two!.charge)
        const [outcome] = await services[at % 2]!.door.apply([told])
        outcomes.push(`${at < AT_ONCE ? 'same' : 'other'} ${outcome!.outcome}`)
      })
    })
    expect(deadlocks).toBe(0)
    expect(counted(outcomes)).toEqual({
      'same applied': 1,
      'same duplicate': 31,
      'other applied': 1,
      'other reversed': 31,
    })
    expect(await moneyOf(account)).toEqual({ available: 198.02, blocked: 0 })
  })

  test.each([
    ['paid or cancelled by the merchant', ['concluded', 'cancelled'], ['SP', 'SC']],
    ['paid or voided', ['concluded', 'voided'], ['SP', 'SC']],
    ['voided or cancelled, by merchant and payer', ['voided', 'cancelled', 'cancelledByPayer'], ['SC']],
    ['rejected, paid or voided', ['rejected', 'concluded', 'voided'], ['SR', 'SP', 'SC']],
    ['paid at the door or by the simulator, or cancelled', ['paid', 'concluded', 'cancelled'], ['SP', 'SC']],
  ] as const)('%s: one of them', async (_, names, stories) => {
    const account = await listeningAccount(it)
    const [one] = await chargesAtTheBank(account, 1)
    const answers = await raceFor(one!, names)
    const ended = answers.filter((answer) => answer.endsWith(' 200'))
    const story = await storyOf(one!.mandate, one!.charge)
    expect(stories).toContain(story)
    // Money that comes by the door has no refusal: what was too late went back.
    expect(ended.length).toBe(names.includes('paid' as never) && story === 'SP' && ended.length === 0 ? 0 : 1)
    const { available } = await moneyOf(account)
    expect(available).toBe(story === 'SP' ? 99.01 : 0)
    const [charge] = await chargesOf(one!.mandate)
    expect(charge!.sale!.situation).toBe(story === 'SP' ? 'PAID' : 'CANCELLED')
  })

  test('its mandate is cancelled while it is paid: it is paid or cancelled, and nothing stays open', async () => {
    const account = await listeningAccount(it)
    const [one] = await chargesAtTheBank(account, 1)
    const answers = counted(await raceFor(one!, ['concluded', 'mandateCancelled', 'priced', 'swept']))
    expect(answers['mandateCancelled 200']).toBe(1)
    expect((await authorizationOf(one!.mandate)).status).toBe('CANCELLED')
    expect(['SP', 'SC']).toContain(await storyOf(one!.mandate, one!.charge))
    for (const { status } of await chargesOf(one!.mandate)) expect(['PAID', 'CANCELLED']).toContain(status)
  })

  test('it fails and is tried again by all: each attempt once', async () => {
    const account = await listeningAccount(it)
    const [one] = await chargesAtTheBank(account, 1)
    const answers = counted(await raceFor(one!, ['failed', 'retry']))
    // Four attempts at most, each told and each failed once.
    expect(answers['failed 200']).toBeLessThanOrEqual(4)
    expect(answers['retry 200'] ?? 0).toBeLessThanOrEqual(3)
    const story = await storyOf(one!.mandate, one!.charge)
    expect(story).toMatch(/^(SF){1,4}S?$/)
    expect(story.match(/F/g)).toHaveLength(answers['failed 200']!)
    expect(story.match(/S/g)).toHaveLength(1 + (answers['retry 200'] ?? 0))
  })

  test('it is paid and refunded: never more than it was', async () => {
    const account = await listeningAccount(it, { autoSettle: false, overdraftLimit: 100 })
    const [one] = await chargesAtTheBank(account, 1)
    await done(simCharge(one!.mandate, one!.charge.instructionId, 'concluded'))
    const answers = counted(await raceFor(one!, ['refunded', 'mandateCancelled', 'voided']))
    expect(answers['refunded 200']).toBe(10)
    expect(answers['voided 400']).toBe(10)
    expect(await moneyOf(account)).toEqual({ available: -0.99, blocked: 100 })
  })
})

describe('32 at a time on 40 mandates, from two processes', () => {
  test('everything that can happen to charges: each has one end, every cent is where the charges say', async () => {
    const accounts = [
      await listeningAccount(it, { autoSettle: false, overdraftLimit: 1_000 }),
      await listeningAccount(it, { autoSettle: false, overdraftLimit: 1_000 }),
    ]
    const world = [...(await chargesAtTheBank(accounts[0]!, 20)), ...(await chargesAtTheBank(accounts[1]!, 20))]
    const steps = fc.record({
      name: fc.constantFrom(...(Object.keys(acts) as ActName[]), 'concluded', 'failed', 'retry', 'refunded', 'told'),
      which: fc.nat(world.length - 1),
    }) as fc.Arbitrary<{ name: ActName; which: number }>
    const unexpected: string[] = []
    const answers: string[] = []
    const deadlocks = await deadlocksBetweenTwo(it, async (services) => {
      await allAtOnce(fc.sample(steps, { seed: 20_261_116, numRuns: 500 }), async ({ name, which }, at) => {
        const { mandate, charge } = world[which]!
        const service = services[at % 2]!
        const reply = await acts[name](through(service, mandate), charge, service)
        answers.push(`${name} ${reply?.http ?? 'done'}`)
        if (reply && reply.http !== 200 && reply.http !== 400) unexpected.push(`${name} ${reply.http} ${reply.text}`)
      })
      // And then their days come.
      for (const day of ['2026-12-31', '2027-01-02', '2027-01-04', '2027-01-06', '2027-01-31']) {
        it.clock.set(`${day} 08:00:00`)
        await Promise.all([...services, ...services].map(({ sweeps }) => sweepRecurrences(sweeps)))
      }
    })
    expect([unexpected, deadlocks]).toEqual([[], 0])
    for (const name of Object.keys(acts).filter((name) => !['paid', 'told', 'swept'].includes(name)))
      expect(counted(answers)[`${name} 200`], name).toBeGreaterThan(0)

    for (const account of accounts) {
      let [expected, refunded] = [0, 0]
      for (const { mandate } of world.filter(({ mandate }) => mandate.account === account))
        for (const charge of await chargesOf(mandate)) {
          if (charge.sale === null) continue
          const story = await storyOf(mandate, charge)
          const end = { PAID: 'P', CANCELLED: 'C', FAILED: '[FR]', SCHEDULED: 'S', PENDING_SCHEDULE: '' }[charge.status]
          expect(story).toMatch(new RegExp(`^(S[FR])*(S?${end})?$`))
          expect(story.match(/[PC]/g)?.length ?? 0).toBeLessThanOrEqual(1)
          if (charge.status !== 'PAID') continue
          expected += Math.round(charge.amount * 100) - Math.round(charge.amount * 0.99)
          const sale = await done(account.api.get(`/v1.1/transactions/${charge.sale.uuid}`))
          refunded += Math.round(sale.refunds.requested * 100)
        }
      const { available, blocked } = await moneyOf(account)
      expect([Math.round(available * 100), Math.round(blocked * 100)]).toEqual([expected - refunded, refunded])
    }
  })
})
