import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anotherService } from '../../../test/harness/faulty-database.ts'
import type { TestAccount } from '../../../test/harness/given.ts'
import { openPhone, type TestPhone } from '../../../test/harness/phones.ts'
import {
  advanceTo,
  authorizationOf,
  chargesOf,
  checkOut,
  recurrenceBody,
  recurrences,
  setCycleAmount,
  simulateMandate,
  type Terms,
  type TestMandate,
  variable,
  withRetries,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { sweepRecurrences } from '../../worker/sweeps.ts'

const it = testService()
const given = recurrences(it)

type Shown = TestMandate & { readonly code: string }

/** A mandate, and the code that asks for it. */
async function asked(account: TestAccount, { plan, checkout, recurrence, inDays = 5 }: Terms = {}): Promise<Shown> {
  const planId = await given.plan(account, plan)
  const { http, text, body } = await checkOut(
    account,
    recurrenceBody(planId, given.inDays(inDays), checkout, recurrence),
  )
  expect(http, text).toBe(200)
  const { uuid, idRec, referenceCode, authorization, instructions } = body.response
  return { uuid, idRec, referenceCode, id: authorization.id, planId, code: instructions.qrCode.plain }
}
async function approved(phone: TestPhone, account: TestAccount, terms: Terms = {}, maximum?: number): Promise<Shown> {
  const mandate = await asked(account, terms)
  await phone.reading(mandate.code)
  const answer = await phone.mandate(mandate.idRec, 'approve', maximum === undefined ? undefined : { maximum })
  expect(answer.http, answer.text).toBe(200)
  return mandate
}
const stateOf = async (account: TestAccount, mandate: TestMandate) => (await authorizationOf(account, mandate)).status
/** First cycle first. */
const statesOf = async (account: TestAccount, mandate: TestMandate) =>
  (await chargesOf(account, mandate)).reverse().map(({ status }) => status)
const spend = async (phone: TestPhone, amount: number) => {
  const account = await it.given.account()
  const sale = await it.given.sale(account, { amount })
  const read = await phone.api.post('/phone/api/readings', { charge: sale.txid })
  expect((await phone.pay(read.body.reading)).http).toBe(200)
}

describe('a mandate on the phone', () => {
  test('waits once its code is read; approved, it is the payer’s, and the merchant hears of it', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandate = await asked(account, { plan: { title: 'Academia' } })
    expect((await phone.view()).mandates).toEqual([])
    const { mandate: offer } = await phone.reading(mandate.code)
    expect(offer).toMatchObject({ idRec: mandate.idRec, object: 'Academia', periodicity: 'MONTHLY', amount: 49.9 })
    expect((await phone.view()).mandates).toMatchObject([{ state: 'CREATED', mine: false, payFirst: false }])
    for (let click = 0; click < 2; click += 1)
      expect((await phone.mandate(mandate.idRec, 'approve')).body).toEqual({ done: true })
    expect((await phone.view()).mandates).toMatchObject([
      { state: 'APPROVED', mine: true, charges: [{ state: 'PENDING_SCHEDULE', amount: 49.9 }] },
    ])
    expect(await authorizationOf(account, mandate)).toMatchObject({
      status: 'APPROVED',
      payer: { document: phone.document, name: phone.name, ispb: '99999012' },
    })
  })

  test('is rejected, and cannot be approved any more', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandate = await asked(account)
    await phone.reading(mandate.code)
    for (let click = 0; click < 2; click += 1) expect((await phone.mandate(mandate.idRec, 'reject')).http).toBe(200)
    expect(await stateOf(account, mandate)).toBe('REJECTED')
    expect((await phone.mandate(mandate.idRec, 'approve')).body).toMatchObject({ errors: [{ code: 'mandate.closed' }] })
  })

  test('is cancelled by whoever gave it, and by nobody else', async () => {
    const [account, phone, other] = [await it.given.account(), await openPhone(it), await openPhone(it)]
    const mandate = await asked(account)
    await phone.reading(mandate.code)
    await other.reading(mandate.code)
    expect((await phone.mandate(mandate.idRec, 'cancel')).body.errors[0].code).toBe('mandate.notYours')
    await phone.mandate(mandate.idRec, 'approve')
    expect((await other.mandate(mandate.idRec, 'approve')).body.errors[0].code).toBe('mandate.closed')
    expect((await other.mandate(mandate.idRec, 'cancel')).body.errors[0].code).toBe('mandate.notYours')
    expect((await other.view()).mandates).toMatchObject([{ state: 'APPROVED', mine: false }])
    for (let click = 0; click < 2; click += 1) expect((await phone.mandate(mandate.idRec, 'cancel')).http).toBe(200)
    expect(await stateOf(account, mandate)).toBe('CANCELLED')
    expect(await statesOf(account, mandate)).toEqual(['CANCELLED'])
  })

  test('two phones at once: one of them gives it', async () => {
    const [account, ...phones] = [await it.given.account(), await openPhone(it), await openPhone(it)] as const
    const mandate = await asked(account)
    for (const phone of phones) await phone.reading(mandate.code)
    const answers = await Promise.all(phones.map((phone) => phone.mandate(mandate.idRec, 'approve')))
    expect(answers.map(({ http }) => http).sort()).toEqual([200, 409])
  })

  test('one whose code was never read is unknown, whoever’s it is', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandate = await asked(account)
    for (const action of ['approve', 'reject', 'cancel', 'limit'])
      for (const idRec of [mandate.idRec, 'RN1'])
        expect((await phone.mandate(idRec, action)).body).toMatchObject({ errors: [{ code: 'mandate.unknown' }] })
    expect(await stateOf(account, mandate)).toBe('CREATED')
  })

  test('whoever takes too long finds it closed', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandate = await asked(account, { checkout: { maxAge: 10 } })
    await phone.reading(mandate.code)
    it.clock.advance(600_001)
    expect((await phone.mandate(mandate.idRec, 'approve')).body.errors[0].code).toBe('mandate.closed')
    await it.sweep()
    expect((await phone.view()).mandates).toMatchObject([{ state: 'EXPIRED' }])
  })

  test('with a first payment it is given by paying that, not without', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandate = await asked(account, { checkout: { amount: 5 }, recurrence: { immediatePayment: true } })
    const reading = await phone.reading(mandate.code)
    expect([reading.charge.amount, reading.mandate.amount]).toEqual([5, 49.9])
    expect((await phone.mandate(mandate.idRec, 'approve')).body.errors[0].code).toBe('mandate.payFirst')
    expect((await phone.pay(reading, { amount: 4 })).body.payments).toMatchObject([{ outcome: 'REVERSED' }])
    expect(await stateOf(account, mandate)).toBe('CREATED')
    const again = await phone.reading(mandate.code)
    expect((await phone.pay(again)).body.payments).toMatchObject([{ outcome: 'PAID' }])
    expect((await phone.view()).mandates).toMatchObject([{ state: 'APPROVED', mine: true }])
    await advanceTo(account, given.inDays(6))
    expect((await chargesOf(account, mandate)).map(({ status }) => status)).toContain('PAID')
    // What came back is what did not fit.
    expect(await phone.balance()).toBe(5000 - 5 - 49.9)
  })

  test('a link names a mandate too', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandate = await asked(account)
    const reference = /\/rec\/(\w{31})/.exec(mandate.code)![1]!
    const read = await phone.api.post('/phone/api/readings', { charge: reference })
    expect(read.body).toMatchObject({ reading: { mandate: { idRec: mandate.idRec } }, code: mandate.code })
  })
})

describe('charges of a mandate are collected from the phone’s account', () => {
  test('on their day, and told on its statement', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandate = await approved(phone, account)
    await advanceTo(account, given.inDays(6))
    expect(await statesOf(account, mandate)).toEqual(['PAID', 'PENDING_SCHEDULE'])
    const { phone: after, entries } = await phone.view()
    expect(after!.balance).toBe(4950.1)
    expect(entries[0]).toMatchObject({ kind: 'COLLECTION', amount: -49.9, outcome: 'PAID' })
    expect(entries[0].endToEnd).toMatch(/^E99999012/)
  })

  test('by real time too, in the worker’s batches; looking again takes nothing again', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandates = [await approved(phone, account), await approved(phone, account)]
    await it.sweep()
    it.clock.set(`${given.inDays(5)} 08:00:01`)
    await it.sweep()
    await it.sweep()
    for (const mandate of mandates) expect((await statesOf(account, mandate))[0]).toBe('PAID')
    expect(await phone.balance()).toBe(4900.2)
    expect(await phone.balance()).toBe(4900.2)
  })

  test('an empty account fails them for lack of funds; filled in time, the retry pays', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandate = await approved(phone, account, withRetries)
    await spend(phone, 4960)
    await advanceTo(account, given.inDays(6))
    const [failed] = (await chargesOf(account, mandate)).reverse()
    expect(failed).toMatchObject({ status: 'FAILED', rejectionCode: 'AM04' })
    expect(await phone.balance()).toBe(40)
    await phone.api.post('/phone/api/top-ups', { id: randomUUID(), amount: 10 })
    await advanceTo(account, given.inDays(8))
    expect((await statesOf(account, mandate))[0]).toBe('PAID')
    expect(await phone.balance()).toBe(0.1)
  })

  test('in vain four times: it has failed for good, and the mandate goes on', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandate = await approved(phone, account, withRetries)
    await spend(phone, 5000)
    await advanceTo(account, given.inDays(13))
    expect(await statesOf(account, mandate)).toEqual(['FAILED', 'PENDING_SCHEDULE'])
    expect((await phone.view()).mandates).toMatchObject([{ state: 'APPROVED' }])
    expect(await phone.balance()).toBe(0)
  })

  test('the money is there for one of two on the same day: the other fails', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandates = [await approved(phone, account), await approved(phone, account)]
    await spend(phone, 4950)
    await it.sweep()
    it.clock.set(`${given.inDays(5)} 08:00:01`)
    await it.sweep()
    const states = await Promise.all(mandates.map(async (mandate) => (await statesOf(account, mandate))[0]))
    expect(states.sort()).toEqual(['FAILED', 'PAID'])
    expect(await phone.balance()).toBe(0.1)
  })

  test('a jump of a year: twelve charges, twelve lines, until the money runs out', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandate = await approved(phone, account, { plan: { recurrenceAmount: 600 } })
    const start = new Date(it.clock.now())
    await advanceTo(account, `${start.getUTCFullYear() + 1}-${start.toISOString().slice(5, 10)}`)
    const states = await statesOf(account, mandate)
    expect(states.filter((state) => state === 'PAID')).toHaveLength(8)
    expect(states.filter((state) => state === 'FAILED')).toHaveLength(4)
    const { phone: after, entries } = await phone.view()
    expect(after!.balance).toBe(200)
    expect(entries.filter(({ kind }) => kind === 'COLLECTION')).toHaveLength(8)
    const days = entries.filter(({ kind }) => kind === 'COLLECTION').map(({ at }) => at)
    expect(new Set(days).size).toBe(8)
  })

  test('of mandates that the simulator approved, the phone pays nothing', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandate = await asked(account)
    await phone.reading(mandate.code)
    await simulateMandate(account, mandate, 'approved')
    await advanceTo(account, given.inDays(6))
    expect((await statesOf(account, mandate))[0]).toBe('PAID')
    expect(await phone.balance()).toBe(5000)
  })

  test('a debit whose report was lost is made good when somebody looks: the charge is paid once', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandate = await approved(phone, account)
    await it.sweep()
    it.clock.set(`${given.inDays(5)} 08:00:01`)
    const { apply } = it.service.door
    Object.assign(it.service.door, { apply: () => Promise.reject(new Error('the process died')) })
    await it.sweep().catch(() => undefined)
    Object.assign(it.service.door, { apply })
    expect((await statesOf(account, mandate))[0]).toBe('SCHEDULED')
    expect((await phone.view()).entries[0]).toMatchObject({ kind: 'COLLECTION', outcome: 'PAID' })
    expect((await statesOf(account, mandate))[0]).toBe('PAID')
    it.clock.advance(60_000)
    await it.sweep()
    expect(await phone.balance()).toBe(4950.1)
  })
})

test('two processes collect while the payer pays and looks: every charge is debited once', async () => {
  const [account, phone] = [await it.given.account(), await openPhone(it)]
  const mandates: Shown[] = []
  for (let count = 0; count < 12; count += 1) mandates.push(await approved(phone, account))
  await it.sweep()
  it.clock.set(`${given.inDays(5)} 08:00:01`)
  const other = await anotherService(it)
  onTestFinished(() => other.close())
  const [cancelled] = await Promise.all([
    phone.mandate(mandates[0]!.idRec, 'cancel'),
    ...[it.service, other].map(({ sweeps }) => sweepRecurrences(sweeps)),
    ...[10, 20, 30].map((amount) => spend(phone, amount)),
    ...[1, 2, 3].map(() => phone.view()),
  ])
  expect(cancelled.http, cancelled.text).toBe(200)
  await it.sweep()
  const states = await Promise.all(mandates.map(async (mandate) => (await statesOf(account, mandate))[0]))
  expect(states.slice(1)).toEqual(Array(11).fill('PAID'))
  // The first was paid before it was cancelled, or cancelled before it was paid; or its money is on its way back.
  const { phone: after, entries } = await phone.view()
  const debited = entries.filter(({ kind }) => kind === 'COLLECTION')
  expect(new Set(debited.map(({ endToEnd }) => endToEnd)).size).toBe(debited.length)
  expect(Math.round((5000 - 60 - debited.length * 49.9) * 100) / 100).toBe(after!.balance)
  expect(debited.filter(({ outcome }) => outcome === 'PAID')).toHaveLength(states[0] === 'PAID' ? 12 : 11)
})

describe('a maximum', () => {
  test('is only for what may vary, and not below what the receiver asks for', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const fixed = await asked(account)
    await phone.reading(fixed.code)
    const wrong = await phone.mandate(fixed.idRec, 'approve', { maximum: 100 })
    expect(wrong.body).toMatchObject({ errors: [{ code: 'maximum.notVariable' }] })
    const varying = await asked(account, variable)
    expect((await phone.reading(varying.code)).mandate).toMatchObject({ amount: null, floor: 20 })
    const low = await phone.mandate(varying.idRec, 'approve', { maximum: 19.99 })
    expect(low.body).toMatchObject({ errors: [{ code: 'maximum.belowFloor' }] })
    expect(await stateOf(account, varying)).toBe('CREATED')
    expect((await phone.mandate(varying.idRec, 'approve', { maximum: 20 })).http).toBe(200)
    const { mandates } = await phone.view()
    expect(mandates.find(({ idRec }) => idRec === varying.idRec)).toMatchObject({ maximum: 20, state: 'APPROVED' })
  })

  test('rejects a charge above it; raised, the retry pays', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const terms = {
      plan: { ...variable.plan, ...withRetries.plan },
      recurrence: { ...variable.recurrence, retry: true },
    }
    const mandate = await approved(phone, account, { ...terms, inDays: 15 }, 60)
    expect((await setCycleAmount(account, mandate, 60.01)).http).toBe(200)
    await advanceTo(account, given.inDays(16))
    const [rejected] = (await chargesOf(account, mandate)).reverse()
    expect(rejected).toMatchObject({ status: 'FAILED', rejectionCode: 'AM02' })
    expect(await phone.balance()).toBe(5000)
    expect((await phone.mandate(mandate.idRec, 'limit', { maximum: 10 })).body.errors[0].code).toBe(
      'maximum.belowFloor',
    )
    expect((await phone.mandate(mandate.idRec, 'limit', { maximum: 61 })).http).toBe(200)
    await advanceTo(account, given.inDays(18))
    expect((await statesOf(account, mandate))[0]).toBe('PAID')
    expect(await phone.balance()).toBe(4939.99)
    expect((await phone.mandate(mandate.idRec, 'limit')).http).toBe(200)
    expect((await phone.view()).mandates[0].maximum).toBeNull()
  })

  test('can be set with the first payment', async () => {
    const [account, phone] = [await it.given.account(), await openPhone(it)]
    const mandate = await asked(account, {
      ...variable,
      checkout: { amount: 5 },
      recurrence: { ...variable.recurrence, immediatePayment: true },
    })
    const reading = await phone.reading(mandate.code)
    expect((await phone.pay(reading, { maximum: 1 })).body).toMatchObject({ errors: [{ code: 'maximum.belowFloor' }] })
    expect(await phone.balance()).toBe(5000)
    expect((await phone.pay(reading, { maximum: 30 })).http).toBe(200)
    expect((await phone.view()).mandates[0]).toMatchObject({ maximum: 30, mine: true })
  })
})
