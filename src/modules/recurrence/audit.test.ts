import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pay, shopper, type TestAccount } from '../../../test/harness/given.ts'
import { type StartedService, startTestService } from '../../../test/harness/test-service.ts'
import { recurrenceChecks } from './audit.ts'

let it: StartedService

const sim = (account: TestAccount, path: string) => account.api.post(`/v1.1/pix-automatic/sandbox/sim/${path}`)

/** Mandates by their reference: unanswered, in force after three months, failed once, ended, and paid at once. */
beforeAll(async () => {
  it = await startTestService()
  const account = await it.given.account()
  const terms = { title: 'Gold', frequency: 'MONTHLY', recurrenceAmount: 50, retryPolicy: 'ACCEPT_3R_7D' }
  const planId = (await account.api.post('/v1.1/pix-automatic/plans', terms)).body.id
  const mandate = async (referenceCode: string, more = {}, fields = {}) => {
    const recurrence = { planId, retry: true, calendar: { initialDate: '2026-12-31' }, ...more }
    const body = { currency: 'BRL', referenceCode, shopper, maxAge: 43_200, recurrence, ...fields }
    return (await account.api.post('/v1.1/checkout/pix-automatic', body)).body.response as {
      idRec: string
      uuid: string
    }
  }
  const running = await mandate('running')
  await sim(account, `mandate/${running.idRec}/approved`)
  await account.api.post('/v1.1/sandbox/clock/advance', { days: 90 })
  const later = { calendar: { initialDate: '2027-03-31' } }
  await mandate('unanswered', later)
  const failed = await mandate('failed', later)
  await sim(account, `mandate/${failed.idRec}/approved`)
  await sim(account, `recurrence/${failed.idRec}/fail/AM04`)
  await sim(account, `recurrence/${(await mandate('ended', later)).idRec}/scenario/cancel-by-payer`)
  await pay(account, await mandate('paid', { ...later, immediatePayment: true }, { amount: 9 }))
})
afterAll(() => it.stop())

const names = recurrenceChecks.map(({ name }) => name)
const [asItsSale, countsOpen, nextWaits, endedOrWaits, noGap, dueRows, byRec, planCounts, firstPayment] = names as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
]
const the = (reference: string) => `(select id from mandate where reference_code = '${reference}')`
const chargeOf = (reference: string, state: string) =>
  `(select id from charge where mandate_id = ${the(reference)} and state = '${state}' order by cycle limit 1)`

const corruptions: { what: string; sql: string; broken: string[] }[] = [
  {
    what: 'a charge of another amount than its sale',
    sql: `update charge set amount_cents = amount_cents + 1 where id = ${chargeOf('running', 'PAID')}`,
    broken: [asItsSale],
  },
  {
    what: 'a charge that forgot its sale',
    sql: `update charge set sale_id = '00000000-0000-7000-8000-0000000000ff' where id = ${chargeOf('running', 'PAID')}`,
    broken: [asItsSale],
  },
  {
    what: 'a mandate that counts one charge too many',
    sql: `update mandate set open_charges = open_charges + 1 where id = ${the('running')}`,
    broken: [countsOpen],
  },
  {
    what: 'a next cycle that nobody planned',
    sql: `update mandate set next_cycle = next_cycle + 1 where id = ${the('running')}`,
    broken: [nextWaits],
  },
  {
    what: 'an ended mandate that waits for a cycle',
    sql: `update mandate set next_cycle = 0 where id = ${the('ended')}`,
    broken: [nextWaits, endedOrWaits],
  },
  {
    what: 'a cycle that was left out',
    sql: `update charge set cycle = cycle + 100 where mandate_id = ${the('running')} and state <> 'PAID'; update mandate set next_cycle = next_cycle + 100 where id = ${the('running')}`,
    broken: [noGap],
  },
  {
    what: 'a charge whose time will never come',
    sql: `delete from recurrence_due where id = ${chargeOf('running', 'PENDING_SCHEDULE')}`,
    broken: [dueRows],
  },
  {
    what: 'a retry that is due as something else',
    sql: `update recurrence_due set kind = 'collect' where id = ${chargeOf('failed', 'FAILED')}`,
    broken: [dueRows],
  },
  {
    what: 'something due that is nothing',
    sql: `insert into recurrence_due (account_id, id, kind, due_at) select account_id, id, 'expire', updated_at from mandate where id = ${the('ended')}`,
    broken: [dueRows],
  },
  {
    what: 'a mandate that its bank could not name',
    sql: `delete from mandate_rec where mandate_id = ${the('running')}`,
    broken: [byRec],
  },
  {
    what: 'a plan that counts one mandate too many',
    sql: 'update plan set mandates = mandates + 1',
    broken: [planCounts],
  },
  {
    what: 'a first payment that authorized nothing',
    sql: `update mandate set approved_at = null where id = ${the('paid')}`,
    broken: [firstPayment],
  },
]

describe('the audit of recurrences', () => {
  test('finds nothing in a world that is right', async () => {
    expect(await it.brokenBy('select 1')).toEqual([])
  })

  test.each(corruptions)('finds $what', async ({ sql, broken }) => {
    expect((await it.brokenBy(sql)).sort()).toEqual([...broken].sort())
  })

  test('has a corruption here for each of its rules', () => {
    expect([...new Set(corruptions.flatMap(({ broken }) => broken))].sort()).toEqual([...names].sort())
  })
})
