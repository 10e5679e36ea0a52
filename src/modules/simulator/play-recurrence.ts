import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId, ChargeId, MandateId } from '../../kernel/ids.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { chargeTxidOf } from '../../kernel/txid.ts'
import type { Transaction } from '../../platform/database/database.ts'
import type { CollectionNews, MandateNews, Rail, RailEvent } from '../../rail/rail.ts'
import { SANDBOX_ISPB, SANDBOX_RAIL } from '../../rail/sandbox/sandbox-rail.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import { applyRailEvents, type DoorContext, insideDoor } from '../door/index.ts'
import { lockBook } from '../ledger/index.ts'
import {
  type Charge,
  type DueKind,
  type DueThing,
  type EngineContext,
  findRecurrences,
  findRecurrencesOfCharges,
  INSUFFICIENT_FUNDS,
  isFinal,
  isOpen,
  lockMandate,
  type MandateState,
  type Recurrence,
  runDue,
} from '../recurrence/index.ts'
import { collected, collectionsOf } from './collect-charges.ts'

export type PlayContext = { readonly door: DoorContext; readonly rail: Rail }
export type PlayRefusal = { readonly code: 'mandate.final' | 'charge.final' }
type Played = Result<void, PlayRefusal>

/** Somebody changed the mandate first. */
export class Outrun extends Error {}

/** What the simulator does inside one transaction: everything through the door, as the rail would. */
export type Play = {
  readonly tx: Transaction
  readonly now: () => Promise<Instant>
  readonly recurrence: () => Promise<Recurrence>
  readonly charge: (id: ChargeId) => Promise<Charge>
  readonly hear: (events: readonly RailEvent[]) => Promise<void>
  /** What the engine would do with it when its time comes, now. */
  readonly run: (kind: DueKind, id: string) => Promise<void>
}

/** The engine inside of a transaction; what the rail answers goes through the door right away. */
export const engineInside = ({ door, rail }: PlayContext, tx: Transaction): EngineContext => {
  const inside = insideDoor(door, tx)
  return { ...inside, db: tx, rail, hear: (news: readonly RailEvent[]) => hearAll(inside, news) }
}

async function hearAll(door: DoorContext, events: readonly RailEvent[]): Promise<void> {
  // One at a time: each is decided on what the one before has left.
  for (const event of events) {
    const [outcome] = await applyRailEvents(door, [event])
    if (typeof outcome !== 'object') throw new Outrun()
  }
}

/** Something due happens, in the transaction that moves the clock there. */
export async function playDue(context: PlayContext, tx: Transaction, thing: DueThing): Promise<boolean> {
  const inside = insideDoor(context.door, tx)
  await lockBook(tx, thing.accountId)
  await holdMandateOf(tx, thing)
  if (thing.kind !== 'collect') return (await runDue(engineInside(context, tx), [thing])).length === 0
  const { news } = await collectionsOf(tx, inside.inTransaction, [thing], context.door.clock.now())
  await hearAll(inside, news)
  return news.length > 0
}

/** A jump must arrive: who changes the mandate meanwhile has done so before the step reads it, or waits for its end. */
async function holdMandateOf(tx: Transaction, { accountId, id, kind }: DueThing): Promise<void> {
  const [found] = kind === 'expire' ? [] : await findRecurrencesOfCharges(tx, [{ accountId, chargeId: id as ChargeId }])
  await lockMandate(tx, { accountId, mandateId: found?.mandate.id ?? (id as MandateId) })
}

/** Holds the book and the mandate, in this order like everybody else. */
export async function beginPlay(
  context: PlayContext,
  tx: Transaction,
  { accountId, mandateId }: { accountId: AccountId; mandateId: MandateId },
): Promise<Play> {
  await lockBook(tx, accountId)
  await lockMandate(tx, { accountId, mandateId })
  const inside = insideDoor(context.door, tx)
  const now = async () =>
    accountNow((await findAccountTerms(tx, [accountId])).get(accountId)!, context.door.clock.now())
  return {
    tx,
    now,
    recurrence: async () => (await findRecurrences(tx, [{ accountId, mandateId }]))[0]!,
    charge: async (chargeId) => (await findRecurrencesOfCharges(tx, [{ accountId, chargeId }]))[0]!.charge,
    hear: (events) => hearAll(inside, events),
    async run(kind, id) {
      await runDue(engineInside(context, tx), [{ accountId, id, kind, dueAt: await now() }])
    },
  }
}

export const mandateActions = ['approving', 'approved', 'rejected', 'expired', 'cancelling', 'cancelled'] as const
export type MandateAction = (typeof mandateActions)[number]

/** What the payer's bank would report, one after the other, from each state; what is not here cannot be. */
const paths: Record<MandateAction, Partial<Record<MandateState, readonly MandateNews['state'][]>>> = {
  approving: { CREATED: ['APPROVING'], APPROVING: [] },
  approved: { CREATED: ['APPROVED'], APPROVING: ['APPROVED'], APPROVED: [] },
  rejected: { CREATED: ['REJECTED'], APPROVING: ['REJECTED'], REJECTED: [] },
  expired: { CREATED: ['EXPIRED'], APPROVING: ['EXPIRED'], EXPIRED: [] },
  cancelling: {
    CREATED: ['APPROVED', 'CANCELLING'],
    APPROVING: ['APPROVED', 'CANCELLING'],
    APPROVED: ['CANCELLING'],
    CANCELLING: [],
  },
  cancelled: {
    CREATED: ['APPROVED', 'CANCELLING', 'CANCELLED'],
    APPROVING: ['APPROVED', 'CANCELLING', 'CANCELLED'],
    APPROVED: ['CANCELLING', 'CANCELLED'],
    CANCELLING: ['CANCELLED'],
    CANCELLED: [],
  },
}

export async function playMandate(play: Play, action: MandateAction): Promise<Played> {
  const { mandate } = await play.recurrence()
  const path = paths[action][mandate.state]
  if (path === undefined) return refuse({ code: 'mandate.final' })
  for (const state of path) {
    await play.hear([mandateNews(mandate, state)])
    // A mandate whose last day has passed is over as soon as it is approved.
    if (isFinal((await play.recurrence()).mandate.state)) break
  }
  return ok(undefined)
}

const mandateNews = ({ idRec, payer }: Recurrence['mandate'], state: MandateNews['state']): MandateNews => ({
  kind: 'mandate',
  rail: SANDBOX_RAIL,
  idRec,
  state,
  payer: state === 'APPROVED' ? { ...payer, ispb: payer.ispb ?? SANDBOX_ISPB } : null,
})

const collectionNews = (
  { accountId, id, attempt }: Charge,
  state: CollectionNews['state'],
  code: string | null,
): CollectionNews => ({
  kind: 'collection',
  rail: SANDBOX_RAIL,
  txid: chargeTxidOf({ accountId, chargeId: id }),
  attempt,
  state,
  code,
})

const chargeFinal = refuse({ code: 'charge.final' as const })

/** A charge that waits is registered first, whatever day it is. */
async function scheduled(play: Play, id: ChargeId): Promise<Charge | undefined> {
  const before = await play.charge(id)
  if (before.state === 'PENDING_SCHEDULE') await play.run('register', id)
  const charge = await play.charge(id)
  return charge.state === 'SCHEDULED' ? charge : undefined
}

export type ChargeAction =
  | { readonly action: 'active' | 'concluded' | 'retry'; readonly code?: never }
  | { readonly action: 'failed' | 'rejected' | 'canceled'; readonly code: string }

export const failedForFunds: ChargeAction = { action: 'failed', code: INSUFFICIENT_FUNDS }

const told = { failed: 'FAILED', rejected: 'REJECTED', canceled: 'CANCELLED' } as const

export async function playCharge(play: Play, id: ChargeId, asked: ChargeAction): Promise<Played> {
  if (asked.action === 'retry') {
    const { mandate } = await play.recurrence()
    if ((await play.charge(id)).nextAttempt === null || mandate.state !== 'APPROVED') return chargeFinal
    await play.run('retry', id)
    return ok(undefined)
  }
  const charge = await scheduled(play, id)
  if (charge === undefined) return chargeFinal
  if (asked.action === 'active') return ok(undefined)
  if (asked.action === 'concluded') {
    const { mandate } = await play.recurrence()
    await play.hear([collected(charge, mandate, await play.now())])
  } else await play.hear([collectionNews(charge, told[asked.action as keyof typeof told], asked.code ?? null)])
  return ok(undefined)
}

/** The first of its charges that waits or is at the payer's bank. */
export const nextOpenCharge = ({ charges }: Recurrence): Charge | undefined =>
  charges.find(({ state }) => state === 'PENDING_SCHEDULE' || state === 'SCHEDULED')

export const scenarios = ['approve-and-settle', 'no-funds-3x', 'approve-reject', 'cancel-by-payer'] as const
export type Scenario = (typeof scenarios)[number]

/** Several things in a row; answers the charges that had a part in them. */
export async function playScenario(play: Play, name: Scenario): Promise<Result<readonly ChargeId[], PlayRefusal>> {
  const approved = await playMandate(play, 'approved')
  if (!approved.ok) return approved
  if (name === 'cancel-by-payer') {
    const cancelled = await playMandate(play, 'cancelled')
    return cancelled.ok ? ok([]) : cancelled
  }
  const charge = nextOpenCharge(await play.recurrence())
  if (charge === undefined) return refuse({ code: 'mandate.final' })
  const played = await acts[name](play, charge.id)
  return played.ok ? ok([charge.id]) : played
}

const acts: Record<Exclude<Scenario, 'cancel-by-payer'>, (play: Play, id: ChargeId) => Promise<Played>> = {
  async 'approve-and-settle'(play, id) {
    const settled = await playCharge(play, id, { action: 'concluded' })
    if (!settled.ok) return settled
    const { mandate } = await play.recurrence()
    if (mandate.state === 'APPROVED') await play.hear([mandateNews(mandate, 'CONCLUDED')])
    return ok(undefined)
  },
  async 'no-funds-3x'(play, id) {
    for (;;) {
      const failed = await playCharge(play, id, failedForFunds)
      if (!failed.ok) return failed
      if (!isOpen(await play.charge(id))) return ok(undefined)
      const retried = await playCharge(play, id, { action: 'retry' })
      if (!retried.ok) return retried
    }
  },
  'approve-reject': (play, id) => playCharge(play, id, { action: 'rejected', code: 'AC06' }),
}
