import { describe, expect, onTestFinished, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { type Merchant, merchants } from '../../../test/harness/merchants.ts'
import {
  authorizationOf,
  type ChargeState,
  chargeAgain,
  chargePayment,
  chargesOf,
  collectionNews,
  hearOf,
  type MandateState,
  mandateNews,
  mandateStates,
  railSays,
  recurrences,
  type TestCharge,
  type TestMandate,
  withRetries,
} from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { chargeOfTxid, chargeTxidOf } from '../../kernel/txid.ts'
import { DEFERRED } from '../../platform/batcher.ts'
import type { CollectionNews, MandateNews } from '../../rail/rail.ts'
import { applyRailEvents } from '../door/index.ts'

const it = testService({ deliveries: true })
const { merchant, settle } = merchants(it)
const given = recurrences(it)

const eventsOf = async (shop: Merchant): Promise<string[]> => {
  await settle()
  return shop.calls().map(({ body }) => body.eventType.replace('RECURRENCE_', ''))
}
const stateOf = async (account: TestAccount, mandate: TestMandate) => (await authorizationOf(account, mandate)).status
const cellsOf = (table: string): { rows: string[]; cells: [row: string, column: string, cell: string][] } => {
  const [head, ...lines] = table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
  return {
    rows: lines.map(([name]) => name!),
    cells: lines.flatMap(([name, ...ends]) =>
      ends.map((end, index) => [name!, head![index + 1]!, end] as [string, string, string]),
    ),
  }
}

/** What was set aside for a person to look at, and how often somebody was woken. */
async function contradictions(railId: string) {
  const kept = await it.rows<{ content: string }>('select content from inbox_conflict where rail_id = $1', [railId])
  return kept.map(({ content }) => JSON.parse(content))
}
const alarms = () => it.logged.filter(({ alarm, msg }) => alarm && /contradicts what is known/.test(String(msg))).length

/** `=` is no news, `!` a contradiction; otherwise the state that comes of it. */
const mandateTable = `
             | APPROVING | APPROVED | REJECTED | EXPIRED | CANCELLING | CANCELLED | CONCLUDED
  CREATED    | APPROVING | APPROVED | REJECTED | EXPIRED | !          | CANCELLED | !
  APPROVING  | =         | APPROVED | REJECTED | EXPIRED | !          | CANCELLED | !
  APPROVED   | =         | =        | !        | !       | CANCELLING | CANCELLED | CONCLUDED
  REJECTED   | =         | !        | =        | !       | !          | !         | !
  EXPIRED    | =         | !        | !        | =       | !          | !         | !
  CANCELLING | =         | =        | !        | !       | =          | CANCELLED | !
  CANCELLED  | =         | =        | !        | !       | =          | =         | !
  CONCLUDED  | =         | =        | !        | !       | !          | !         | =`

describe('news of a mandate', () => {
  const { rows, cells } = cellsOf(mandateTable)

  test('is foreseen in every state', () => {
    expect(rows).toEqual(mandateStates)
    expect(cells).toHaveLength(8 * 7)
  })

  test.each(cells)('%s hears %s: %s', async (state, told, end) => {
    const shop = await merchant()
    const mandate = await given.mandateIn(shop, state as MandateState)
    const before = { events: (await eventsOf(shop)).length, alarms: alarms() }
    const news = mandateNews(mandate, told as MandateNews['state'])
    const outcome = await hearOf(it, news)
    const isNew = end !== '=' && end !== '!'
    expect(outcome).toBe(isNew ? 'applied' : end === '=' ? 'duplicate' : 'conflict')
    expect(await stateOf(shop, mandate)).toBe(isNew ? end : state)
    const events = (await eventsOf(shop)).slice(before.events)
    expect(events).toEqual(
      isNew && !['APPROVING', 'CANCELLING'].includes(end) ? [end.replace('APPROVED', 'AUTHORIZED')] : [],
    )
    expect(await contradictions(mandate.idRec)).toEqual(end === '!' ? [news] : [])
    expect(alarms() - before.alarms).toBe(end === '!' ? 1 : 0)
    // Whatever it was, the second time it is no news, or the same contradiction.
    expect(await hearOf(it, news)).toBe(end === '!' ? 'conflict' : 'duplicate')
    expect(await contradictions(mandate.idRec)).toHaveLength(end === '!' ? 1 : 0)
    expect(await eventsOf(shop)).toHaveLength(before.events + events.length)
  })

  test('that it was approved is a contradiction where it was cancelled unanswered', async () => {
    const shop = await merchant()
    const mandate = await given.mandate(shop)
    await railSays(it, mandateNews(mandate, 'CANCELLED'))
    expect(await hearOf(it, mandateNews(mandate, 'APPROVED'))).toBe('conflict')
    expect(await eventsOf(shop)).toEqual(['CANCELLED'])
  })

  test('of a mandate that nobody knows is set aside and somebody is woken', async () => {
    const news = mandateNews({ idRec: 'RN9999900420261116AbCdEfGhIjK' }, 'APPROVED')
    const before = alarms()
    expect(await hearOf(it, news)).toBe('conflict')
    expect([await contradictions(news.idRec), alarms() - before]).toEqual([[news], 1])
    expect((await it.service.metrics.alarms.get()).values.map(({ labels }) => labels['alarm'])).toContain(
      'the rail contradicts what is known of a recurrence',
    )
  })

  test('tells who pays, as far as the rail knows', async () => {
    const account = await it.given.account()
    const payerAfter = async (payer: MandateNews['payer']) => {
      const mandate = await given.mandate(account)
      await railSays(it, mandateNews(mandate, 'APPROVED', payer))
      return (await authorizationOf(account, mandate)).payer
    }
    const asked = { document: '52998224725', name: 'Maria da Silva', ispb: null }
    expect(await payerAfter(null)).toEqual(asked)
    expect(await payerAfter({ document: null, name: null, ispb: '12345678' })).toEqual({ ...asked, ispb: '12345678' })
    const other = { document: '11222333000181', name: 'Outra Pessoa', ispb: '00000000' }
    expect(await payerAfter(other)).toEqual(other)
  })

  test('arriving together is decided one after the other', async () => {
    const shop = await merchant()
    const mandate = await given.mandate(shop)
    const [first, second] = [mandateNews(mandate, 'APPROVED'), mandateNews(mandate, 'CANCELLED')]
    const outcomes = await applyRailEvents(it.service.doorContext, [first, second])
    expect(outcomes).toEqual([expect.objectContaining({ outcome: 'applied' }), DEFERRED])
    expect(await stateOf(shop, mandate)).toBe('APPROVED')
    expect(await hearOf(it, second)).toBe('applied')
    expect(await eventsOf(shop)).toEqual(['AUTHORIZED', 'CANCELLED'])
  })
})

/** RESERVED: the bank was asked and has not answered. `!` and `=` as above; otherwise the state, then what is told. */
const chargeTable = `
                   | SCHEDULED           | FAILED                         | REJECTED                         | CANCELLED
  PENDING_SCHEDULE | !                   | !                              | !                                | CANCELLED
  RESERVED         | SCHEDULED SCHEDULED | FAILED SCHEDULED FAILED        | FAILED SCHEDULED FAILED          | CANCELLED
  SCHEDULED        | =                   | FAILED FAILED                  | FAILED FAILED                    | CANCELLED FAILED
  PAID             | =                   | !                              | !                                | !
  FAILED           | =                   | !                              | !                                | !
  RETRYING         | =                   | =                              | =                                | !
  CANCELLED        | =                   | !                              | !                                | =`

describe('news of a charge', () => {
  const { cells } = cellsOf(chargeTable)
  const chargeIn = (account: TestAccount, state: string): Promise<TestCharge> =>
    state === 'RESERVED' ? given.reservedCharge(account) : given.chargeIn(account, state as ChargeState)

  // A charge that FAILED did so with AC03, one that is RETRYING with AM04.
  test.each(cells)('%s hears %s: %s', async (state, told, end) => {
    const shop = await merchant()
    const charge = await chargeIn(shop, state)
    const before = {
      events: (await eventsOf(shop)).length,
      alarms: alarms(),
      state: (await chargeAgain(shop, charge)).status,
    }
    const news = collectionNews(charge, told as CollectionNews['state'], { code: told === 'SCHEDULED' ? null : 'AM04' })
    const outcome = await hearOf(it, news)
    const [status, ...events] = end === '!' || end === '=' ? [before.state] : end.split(' ')
    expect(outcome).toBe(end === '!' ? 'conflict' : end === '=' ? 'duplicate' : 'applied')
    expect((await chargeAgain(shop, charge)).status).toBe(status)
    expect((await eventsOf(shop)).slice(before.events)).toEqual(events.map((name) => `CHARGE_${name}`))
    expect(await contradictions(charge.instructionId)).toEqual(end === '!' ? [news] : [])
    expect(alarms() - before.alarms).toBe(end === '!' ? 1 : 0)
    expect(await hearOf(it, news)).toBe(end === '!' ? 'conflict' : 'duplicate')
    expect(await eventsOf(shop)).toHaveLength(before.events + events.length)
  })

  test('that it failed as it did is no news, for another reason it is a contradiction', async () => {
    const account = await it.given.account()
    const charge = await given.chargeIn(account, 'FAILED')
    expect(await hearOf(it, collectionNews(charge, 'FAILED', { code: 'AC03' }))).toBe('duplicate')
    expect(await hearOf(it, collectionNews(charge, 'FAILED', { code: 'AC01' }))).toBe('conflict')
    expect((await chargeAgain(account, charge)) as object).toMatchObject({ rejectionCode: 'AC03' })
  })

  test('without a reason is that there was no money', async () => {
    const account = await it.given.account()
    const charge = await given.scheduledCharge(account)
    await railSays(it, collectionNews(charge, 'FAILED', { code: null }))
    expect((await chargeAgain(account, charge)) as object).toMatchObject({ rejectionCode: 'AM04' })
    expect(await hearOf(it, collectionNews(charge, 'FAILED', { code: null }))).toBe('duplicate')
  })

  test('of a retry counts for that retry: earlier ones are late, later ones cannot be', async () => {
    const shop = await merchant()
    const charge = await given.chargeIn(shop, 'RETRYING')
    const hear = (state: CollectionNews['state'], attempt: number, code: string | null = null) =>
      hearOf(it, collectionNews(charge, state, { attempt, code }))
    expect(await hear('SCHEDULED', 2)).toBe('conflict')
    expect(await hear('SCHEDULED', 1)).toBe('applied')
    expect(await hear('SCHEDULED', 1)).toBe('duplicate')
    expect(await hear('SCHEDULED', 0)).toBe('duplicate')
    expect(await hear('FAILED', 0, 'AC01')).toBe('duplicate')
    expect((await chargeAgain(shop, charge)).status).toBe('SCHEDULED')
    expect(await hear('FAILED', 1, 'AM04')).toBe('applied')
    // The bank's first word on the second retry was lost; it failed all the same.
    expect(await hear('FAILED', 2, 'AM04')).toBe('applied')
    expect(await eventsOf(shop)).toEqual([
      'AUTHORIZED',
      ...['CHARGE_SCHEDULED', 'CHARGE_FAILED'],
      ...['CHARGE_SCHEDULED', 'CHARGE_FAILED'],
      ...['CHARGE_SCHEDULED', 'CHARGE_FAILED'],
    ])
  })

  test('that nobody knows is set aside and somebody is woken', async () => {
    const { instructionId } = await given.plannedCharge(await it.given.account())
    const parts = chargeOfTxid(instructionId)!
    const txid = chargeTxidOf({ ...parts, accountId: (parts.accountId + 1_000) as typeof parts.accountId })
    for (const unknown of [txid, 'x']) {
      const before = alarms()
      expect(await hearOf(it, collectionNews({ instructionId: unknown }, 'SCHEDULED'))).toBe('conflict')
      expect([(await contradictions(unknown)).length, alarms() - before]).toEqual([1, 1])
    }
  })

  test('that a bank never answers is asked for again, under the same name', async () => {
    const account = await it.given.account()
    const orders: unknown[] = []
    const { rail } = it.service
    const { collect } = rail
    onTestFinished(() => void Object.assign(rail, { collect }))
    const silently = async (asked: readonly unknown[]) => {
      orders.push(...asked)
      return []
    }
    Object.assign(rail, { collect: silently })
    const charge = await given.plannedCharge(account, withRetries)
    const mine = () => orders.filter((order) => (order as { txid: string }).txid === charge.instructionId)
    await it.sweep()
    await it.sweep()
    expect(mine()).toHaveLength(1)
    it.clock.advance(2 * 3_600_000)
    await it.sweep()
    expect(mine()).toHaveLength(2)
    expect(mine()[1]).toEqual(mine()[0])
    expect((await chargesOf(account, charge.mandate)).map(({ status }) => status)).toEqual([
      'PENDING_SCHEDULE',
      'PENDING_SCHEDULE',
    ])
    await railSays(it, chargePayment(it, charge))
  })
})
