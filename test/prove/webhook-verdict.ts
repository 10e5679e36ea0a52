import { findViolations } from '../../src/audit.ts'
import { ask, connectionTo } from './scene.ts'
import type { LoggedCall } from './webhook-receiver.ts'
import type { Shop, World } from './webhook-world.ts'

/** What a case did to the service. */
export type Done = {
  readonly acknowledged: ReadonlySet<string>
  readonly kills: number
  /** Calls that were on their way at the kills: only those may be made twice. */
  readonly inFlight: number
}

export type Seen = {
  readonly payments: number
  readonly notifications: number
  readonly calls: number
  readonly rows: number
  /** Rows for calls whose process died. */
  readonly lostRows: number
  /** So many of them had arrived all the same. */
  readonly lostThatArrived: number
  /** A second 200 for one notification, and a third. */
  readonly doubles: number
  /** Acknowledged, and never told. */
  readonly lost: number
  readonly auditBroken: number
  readonly problems: readonly string[]
}

const ATTEMPTS_MAX = 6

type Attempt = { notification_id: string; number: number; response_code: number; failure: string | null; last: boolean }
type Told = { readonly id: string; readonly calls: readonly LoggedCall[]; readonly rows: readonly Attempt[] }

/** Sets what the service wrote down against what its payers and its receiver did. */
export async function verdictOf(
  { folder, receiver }: World,
  path: string,
  shops: readonly Shop[],
  { acknowledged, inFlight }: Done,
  refused: boolean,
): Promise<Seen> {
  const calls = await receiver.report(path)
  const accounts = [shops.map(({ id }) => id)]
  const notifications = await ask<{ id: string; resource_id: string }>(
    folder,
    'select id, resource_id from notification where account_id = any ($1::bigint[])',
    accounts,
  )
  const rows = await ask<Attempt>(
    folder,
    `select notification_id, number, response_code, failure, last from notification_attempt
     where account_id = any ($1::bigint[]) order by number`,
    accounts,
  )
  const callsById = Map.groupBy(calls, ({ id }) => id)
  const rowsById = Map.groupBy(rows, (row) => row.notification_id)
  const told = notifications.map(({ id }) => ({ id, calls: callsById.get(id) ?? [], rows: rowsById.get(id) ?? [] }))
  const ids = new Map(notifications.map(({ id, resource_id }) => [resource_id, id]))
  const arrived = new Set(told.filter(refused ? isGivenUp : isAccepted).map(({ id }) => id))
  const lost = [...acknowledged].filter((sale) => !arrived.has(ids.get(sale) ?? ''))
  const doubles = sum(told, ({ calls: its }) => Math.max(0, its.filter(({ answered }) => answered === 200).length - 1))
  const lostRows = rows.filter(isLost).length
  const violations = await findViolations(await connectionTo(folder))
  return {
    payments: acknowledged.size,
    notifications: notifications.length,
    calls: calls.length,
    rows: rows.length,
    lostRows,
    lostThatArrived: sum(told, arrivedThoughLost),
    doubles,
    lost: lost.length,
    auditBroken: violations.length,
    problems: [
      ...lost.map((sale) => `sale ${sale}: its payment was acknowledged and never told`),
      ...told.flatMap(faultsOf),
      ...[...callsById.keys()]
        .filter((id) => !told.some((one) => one.id === id))
        .map((id) => `a call of nothing: ${id}`),
      ...(notifications.length === acknowledged.size ? [] : ['there is not one notification for each payment']),
      ...(doubles > inFlight ? [`${doubles} second calls, with ${inFlight} on their way at the kills`] : []),
      ...violations.map(({ check, count }) => `audit: ${check} (${count})`),
    ],
  }
}

const sum = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((all, item) => all + of(item), 0)
const isLost = ({ failure }: Attempt): boolean => failure === 'lost'
/** Nobody knows whether these arrived. */
const isUnsure = ({ failure }: Attempt): boolean => failure === 'lost' || failure === 'stopped'
const isAccepted = ({ calls }: Told): boolean => calls.some(({ answered }) => answered === 200)
const isGivenUp = ({ rows }: Told): boolean => rows.length === ATTEMPTS_MAX

/** Calls beyond those whose end was recorded. */
const arrivedThoughLost = ({ calls, rows }: Told): number =>
  Math.max(0, calls.length - rows.filter((row) => !isUnsure(row)).length)

/** Each call has its row and each row its call; only a lost one may stand for a call that was never made. */
function faultsOf({ id, calls, rows }: Told): string[] {
  const sure = rows.filter((row) => !isUnsure(row)).length
  const answers = calls.filter(({ answered }) => answered !== null).length
  const answerRows = rows.filter(({ response_code }) => response_code !== 0).length
  const unanswered = rows.length - answerRows
  const faults = [
    calls.length > rows.length && `${calls.length} calls and ${rows.length} attempts`,
    sure > calls.length && `${sure} attempts with an end and ${calls.length} calls`,
    answerRows > answers && `${answerRows} answers recorded and ${answers} given`,
    answers - answerRows > unanswered && `${answers} answers given and ${answerRows} recorded`,
    rows.length > ATTEMPTS_MAX && `${rows.length} attempts in a series`,
    rows.filter(({ last }) => last).length !== 1 && 'its series did not end once',
    rows.some(({ number }, index) => number !== index + 1) && 'its attempts are not numbered in order',
  ]
  return faults.filter((fault) => fault !== false).map((fault) => `notification ${id}: ${fault}`)
}
