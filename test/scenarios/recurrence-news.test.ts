import { describe, expect, test } from 'vitest'
import type { TestAccount } from '../harness/given.ts'
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
  simCharge,
  simMandate,
  statesOf,
} from '../harness/recurring.ts'
import { testService } from '../harness/test-service.ts'

const it = testService()
const START = '2026-11-16 12:00:00'

async function monthly(account: TestAccount, initialDate = '2026-12-31', fields: Record<string, unknown> = {}) {
  return approvedMandate(account, { planId: await givenPlan(account), initialDate, ...fields })
}

describe('news of several charges of one mandate in one batch', () => {
  /** Three charges at the bank, whatever their days. */
  async function threeAtTheBank(account: TestAccount) {
    const mandate = await monthly(account, '2026-12-31', { retry: false })
    for (let charges = 0; charges < 3; charges += 1)
      await done(simCharge(mandate, (await chargesOf(mandate)).at(-1)!.instructionId, 'active'))
    return { mandate, ids: (await chargesOf(mandate)).slice(0, 3).map(({ instructionId }) => instructionId) }
  }

  test.each([
    ['which nobody is told of', () => it.given.account()],
    ['which are told', () => listeningAccount(it)],
  ])('%s: each has its effect', async (_, given) => {
    it.clock.set(START)
    const { mandate, ids } = await threeAtTheBank(await given())
    const outcomes = await it.service.door.apply([
      railNews(ids[0]!, 'FAILED', { code: 'AC03' }),
      railNews(ids[1]!, 'CANCELLED'),
      railNews(ids[2]!, 'REJECTED', { code: 'AM09' }),
    ])
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array(3).fill('applied'))
    expect((await statesOf(mandate)).map((state) => state.slice(11))).toEqual([
      'FAILED',
      'CANCELLED',
      'FAILED',
      'PENDING_SCHEDULE',
    ])
    const [row] = await it.rows('select open_charges, version from mandate where id = $1', [mandate.uuid])
    // Presented, approved, and three times reserved, registered and ended.
    expect(row).toEqual({ open_charges: 1, version: 1 + 3 * 3 })
  })

  test('and a mandate’s own: its end is the end of them all', async () => {
    it.clock.set(START)
    const { mandate, ids } = await threeAtTheBank(await listeningAccount(it))
    const ends = { kind: 'mandate', rail: 'sandbox', idRec: mandate.idRec, state: 'CANCELLED', payer: null } as never
    await it.service.door.apply([railNews(ids[0]!, 'FAILED', { code: 'AC03' }), ends, railNews(ids[2]!, 'FAILED')])
    expect((await authorizationOf(mandate)).status).toBe('CANCELLED')
    for (const { status } of (await chargesOf(mandate)).slice(1)) expect(['CANCELLED', 'FAILED']).toContain(status)
    await eventsOf(it, mandate)
  })
})

describe('a mandate that is being cancelled', () => {
  test('has no next cycle once the charge that waited for it is cancelled', async () => {
    it.clock.set(START)
    const mandate = await monthly(await listeningAccount(it))
    await done(simMandate(mandate, 'cancelling'))
    await done(cancelCharge(mandate, (await chargesOf(mandate))[0]!.instructionId))
    expect(await authorizationOf(mandate)).toMatchObject({ status: 'CANCELLING', nextRecurrenceDate: null })
    await done(cancelMandate(mandate))
    expect(await statesOf(mandate)).toEqual(['2026-12-31 CANCELLED'])
    expect((await eventsOf(it, mandate)).map(({ eventType }) => eventType)).toEqual([
      'RECURRENCE_AUTHORIZED',
      'RECURRENCE_CANCELLED',
    ])
  })
})
