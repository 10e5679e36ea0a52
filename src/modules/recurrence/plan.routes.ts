import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { objectSchema } from '../../kernel/reader.ts'
import { ok, refuse } from '../../kernel/result.ts'
import { readBody, readQuery } from '../../platform/http/body.ts'
import { success } from '../../platform/http/context.ts'
import { type CommandContext, runCommand } from '../../platform/http/idempotently.ts'
import { pagedAnswer } from '../../platform/http/paging.ts'
import { unwrap } from '../../platform/http/refusals.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import { findMandatesOf, findPlan, findPlans, insertPlan, lockPlan, updatePlan } from './plan.store.ts'
import { changedPlan, newPlan, newPlanId, type Plan, planIdFromWire } from './plan.ts'
import {
  planChangeFields,
  planChangesFrom,
  planExample,
  planFields,
  planListFields,
  planMandateSchema,
  planMandateWire,
  planQueryFrom,
  planSchema,
  planTermsFrom,
  planWire,
} from './plan.wire.ts'

export type PlanRoutesContext = CommandContext & { readonly ids: RandomIds }

const envelope = { status: Type.Integer(), message: Type.String() }
const answerSchema = Type.Object({ ...envelope, ...planSchema.properties })
const oneSchema = Type.Object({ ...answerSchema.properties, authorizations: Type.Array(planMandateSchema) })
const listSchema = Type.Object({
  ...envelope,
  totalElements: Type.Integer(),
  totalPages: Type.Integer(),
  resultSize: Type.Integer(),
  result: Type.Array(planSchema),
})
const planParams = Type.Object({ planId: Type.String() })

const found = (plan: Plan | undefined): Plan =>
  unwrap(plan ? ok(plan) : refuse({ code: 'plan.notFound' as const }), { 'plan.notFound': 'planId' })

export function planRoutes(context: PlanRoutesContext) {
  const { db, clock, ids } = context
  return async (app: FastifyInstance) => {
    app.post(
      '/v1.1/pix-automatic/plans',
      {
        schema: {
          tags: ['Recurrence'],
          summary: 'Make a plan: how much, how often',
          body: objectSchema(planFields, { examples: [planExample] }),
          response: { 201: answerSchema },
        },
      },
      (request, reply) =>
        runCommand(context, request, reply, async (tx) => {
          const terms = planTermsFrom(readBody(request, planFields))
          const { accountId } = request
          const account = (await findAccountTerms(tx, [accountId])).get(accountId)!
          const createdAt = accountNow(account, clock.now())
          const plan = newPlan({ accountId, id: newPlanId(ids, createdAt), createdAt }, terms)
          await insertPlan(tx, plan)
          return { http: 201, body: { ...success, ...planWire(plan) } }
        }),
    )

    app.put<{ Params: { planId: string } }>(
      '/v1.1/pix-automatic/plans/:planId',
      {
        schema: {
          tags: ['Recurrence'],
          summary: 'Change a plan: only what is sent changes',
          params: planParams,
          body: objectSchema(planChangeFields, { examples: [{ recurrenceAmount: 59.9 }] }),
          response: { 200: answerSchema },
        },
      },
      (request, reply) =>
        runCommand(context, request, reply, async (tx) => {
          const changes = planChangesFrom(readBody(request, planChangeFields))
          const id = planIdFromWire(request.params.planId)
          const plan = changedPlan(found(id && (await lockPlan(tx, request.accountId, id))), changes)
          await updatePlan(tx, plan)
          return { http: 200, body: { ...success, ...planWire(plan) } }
        }),
    )

    app.get(
      '/v1.1/pix-automatic/plans',
      {
        schema: {
          tags: ['Recurrence'],
          summary: 'Plans, newest first',
          querystring: objectSchema(planListFields),
          response: { 200: listSchema },
        },
      },
      async (request) => {
        const query = planQueryFrom(readQuery(request, planListFields))
        const { total, plans } = await findPlans(db, { accountId: request.accountId, ...query })
        return { ...success, ...pagedAnswer(total, query.limit, plans.map(planWire)) }
      },
    )

    app.get<{ Params: { planId: string } }>(
      '/v1.1/pix-automatic/plans/:planId',
      {
        schema: {
          tags: ['Recurrence'],
          summary: 'One plan and its 1,000 newest authorizations',
          params: planParams,
          response: { 200: oneSchema },
        },
      },
      async (request) => {
        const id = planIdFromWire(request.params.planId)
        const plan = found(id && (await findPlan(db, request.accountId, id)))
        const mandates = await findMandatesOf(db, plan)
        return { ...success, ...planWire(plan), authorizations: mandates.map(planMandateWire) }
      },
    )
  }
}
