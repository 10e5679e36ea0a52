import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { wireTimestamp } from '../kernel/calendar.ts'
import { type Cents, centsToWire } from '../kernel/cents.ts'
import { objectSchema } from '../kernel/reader.ts'
import { nullable } from '../kernel/schema.ts'
import { OPERATOR_ACCOUNT_ID } from '../modules/account/index.ts'
import { conflictListSchema, conflictWire, findConflicts } from '../modules/door/index.ts'
import { type Auditor, type AuditRun, auditStates, auditTroubles, findTrialBalance } from '../modules/ledger/index.ts'
import { findReversals, reversalListSchema, reversalWire } from '../modules/refund/index.ts'
import type { Database } from '../platform/database/database.ts'
import { readQuery } from '../platform/http/body.ts'
import { success } from '../platform/http/context.ts'
import { pagedAnswer, pageField, pageSizeField } from '../platform/http/paging.ts'

export type InsightContext = {
  readonly db: Database
  readonly queueDepths: () => Readonly<Record<string, number>>
  /** What waits in the database, for any process. */
  readonly waiting: () => Promise<Readonly<Record<string, number>>>
  readonly auditor: Auditor
}

export const PAGE_SIZE = 100
export const pageFields = { page: pageField, maxPageResults: pageSizeField }

export const describe = (summary: string, extra: Record<string, unknown> = {}) => ({
  schema: { tags: ['Operator'], summary, security: [{ operator: [] }], ...extra },
})

const auditSchema = Type.Object({
  state: Type.String({ enum: [...auditStates] }),
  startedAt: Type.String(),
  endedAt: nullable(Type.String()),
  trouble: nullable(Type.String({ enum: [...auditTroubles] })),
  broken: Type.Integer({ description: 'How many rules do not hold.' }),
  rules: Type.Array(
    Type.Object({
      rule: Type.String(),
      holds: Type.Boolean(),
      count: Type.Integer({ description: 'How many rows break it.' }),
      examples: Type.Array(Type.Object({}, { additionalProperties: true })),
    }),
    { description: 'Every rule, once the audit has ended.' },
  ),
})
const envelope = { status: Type.Integer(), message: Type.String() }

const auditWire = ({ state, startedAt, endedAt, trouble, rules }: AuditRun): Static<typeof auditSchema> => ({
  state,
  startedAt: wireTimestamp(startedAt),
  endedAt: endedAt === null ? null : wireTimestamp(endedAt),
  trouble,
  broken: rules.filter(({ count }) => count > 0).length,
  rules: rules.map(({ check, count, examples }) => ({
    rule: check,
    holds: count === 0,
    count,
    examples: examples.map((example) => ({ ...example })),
  })),
})

/** How the service stands, over all accounts. */
export function insightRoutes(app: FastifyInstance, { db, queueDepths, waiting, auditor }: InsightContext): void {
  app.get(
    '/ledger/trial-balance',
    describe('All books together: debits and credits of every account of the chart'),
    async () => {
      const balances = Object.entries(await findTrialBalance(db))
      const sum = (side: 'debit' | 'credit') => balances.reduce((total, [, entry]) => total + entry[side], 0) as Cents
      const accounts = balances.map(([account, { debit, credit }]) => ({
        account,
        debit: centsToWire(debit),
        credit: centsToWire(credit),
      }))
      return { ...success, accounts, totalDebit: centsToWire(sum('debit')), totalCredit: centsToWire(sum('credit')) }
    },
  )

  app.get(
    '/reversals',
    describe('Payments that belong to no merchant anybody knows, newest first', {
      querystring: objectSchema(pageFields),
      response: { 200: reversalListSchema },
    }),
    async (request) => {
      const { page = 1, maxPageResults: limit = PAGE_SIZE } = readQuery(request, pageFields)
      const query = { accountId: OPERATOR_ACCOUNT_ID, offset: (page - 1) * limit, limit }
      const { total, reversals } = await findReversals(db, query)
      return { ...success, ...pagedAnswer(total, limit, reversals.map(reversalWire)) }
    },
  )

  app.get(
    '/conflicts',
    describe('News of the rail that contradict what was heard before: set aside for a person to decide, newest first', {
      querystring: objectSchema(pageFields),
      response: { 200: conflictListSchema },
    }),
    async (request) => {
      const { page = 1, maxPageResults: limit = PAGE_SIZE } = readQuery(request, pageFields)
      const { total, conflicts } = await findConflicts(db, { offset: (page - 1) * limit, limit })
      return { ...success, ...pagedAnswer(total, limit, conflicts.map(conflictWire)) }
    },
  )

  app.get(
    '/queues',
    describe('Items that wait: for a batch in the process that answers, and in the database for anybody'),
    async () => ({
      ...success,
      queues: Object.entries({ ...queueDepths(), ...(await waiting()) }).map(([queue, depth]) => ({ queue, depth })),
    }),
  )

  app.post(
    '/audit',
    describe('Audit all books, reading only and in one snapshot; if one is on its way, it is that one', {
      response: { 202: Type.Object({ ...envelope, audit: auditSchema }, { description: 'On its way: ask for it.' }) },
    }),
    async (_request, reply) => reply.code(202).send({ ...success, audit: auditWire(await auditor.start()) }),
  )

  app.get(
    '/audit',
    describe('The newest audit that was asked for here, with every rule and examples of what breaks it', {
      response: { 200: Type.Object({ ...envelope, audit: nullable(auditSchema) }) },
    }),
    async () => {
      const run = await auditor.find()
      return { ...success, audit: run ? auditWire(run) : null }
    },
  )
}
