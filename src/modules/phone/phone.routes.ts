import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { centsToWire } from '../../kernel/cents.ts'
import { uuidFromWire } from '../../kernel/ids.ts'
import { amount, integer, required, text } from '../../kernel/reader.ts'
import { type Result, refuse } from '../../kernel/result.ts'
import { jsonBody, readBody, readQuery } from '../../platform/http/body.ts'
import { pageCookie } from '../../platform/http/cookies.ts'
import { clampedField } from '../../platform/http/paging.ts'
import { RequestInvalid, RequestUnusable } from '../../platform/http/refusals.ts'
import { approveMandate, cancelMandate, limitMandate, type MandateRefusal, rejectMandate } from './answer-mandate.ts'
import { findPhoneByTicket, openPhone, topUp } from './open-phone.ts'
import { payReading, type RefuseRefusal, refuseToPay } from './pay-reading.ts'
import { findPhone, listEntries } from './phone.store.ts'
import { type PayRefusal, type Phone, type ReadingId, TOP_UP_MAX, type TopUpRefusal } from './phone.ts'
import { codeWire, entryWire, phoneWire } from './phone.wire.ts'
import type { PhoneContext } from './phone-context.ts'
import { reportSent } from './report-payments.ts'
import { codeBehind, takeCode } from './take-code.ts'
import { NEWEST, STATEMENT_PAGE, viewOf } from './view-phone.ts'

const YEAR_SECONDS = 31_536_000

type Refusal = MandateRefusal | PayRefusal | RefuseRefusal | TopUpRefusal

const statuses: Record<Refusal['code'], number> = {
  'reading.unknown': 404,
  'mandate.unknown': 404,
  'reading.refused': 409,
  'reading.paid': 409,
  'balance.insufficient': 409,
  'balance.tooHigh': 409,
  'mandate.closed': 409,
  'mandate.payFirst': 409,
  'mandate.notYours': 409,
  'maximum.notVariable': 409,
  'maximum.belowFloor': 409,
}

const openFields = { name: text({ max: 140 }) }
const topUpFields = { id: required(text({ min: 36, max: 36 })), amount: required(amount()) }
const codeFields = { code: text({ max: 2_000 }), charge: text({ max: 64 }) }
const payFields = { times: integer({ min: 1, max: 2 }), amount: amount(), maximum: amount() }
const maximumFields = { maximum: amount() }
const statementFields = { before: clampedField({ min: 1, max: NEWEST, fallback: NEWEST }) }

type OfReading = { Params: { id: string } }
type OfMandate = { Params: { idRec: string } }

/** The toy bank's app: what it may do is decided in the commands, and everything that a receiver hears goes by the door. */
export function phoneRoutes(context: PhoneContext) {
  const cookie = pageCookie('quitado-phone', context.publicUrl)

  const ownerOf = async (request: FastifyRequest): Promise<Phone | undefined> => {
    const ticket = cookie.read(request)
    return ticket === undefined ? undefined : findPhoneByTicket(context, ticket)
  }
  const owner = async (request: FastifyRequest): Promise<Phone> => {
    const phone = await ownerOf(request)
    if (phone === undefined) throw new RequestUnusable(403, 'this browser has no phone yet')
    return phone
  }
  const again = async ({ id }: Phone): Promise<Phone> => (await findPhone(context.db, id))!.phone

  const answer = async <Value>(
    reply: FastifyReply,
    result: Result<Value, Refusal>,
    render: (value: Value) => object | Promise<object>,
  ) =>
    result.ok
      ? reply.send(await render(result.value))
      : reply.code(statuses[result.refusal.code]).send({ message: result.refusal.code, errors: [result.refusal] })

  const readingOf = (request: FastifyRequest<OfReading>) => uuidFromWire<ReadingId>(request.params.id)
  const unknownReading = refuse({ code: 'reading.unknown' } as const)

  return async (app: FastifyInstance) => {
    // By the same way that anybody's bank takes, without leaving the process: our address may be nobody's but ours.
    const fetch = async (path: string) => {
      const { statusCode, headers, payload } = await app.inject({ method: 'GET', url: path })
      return { http: statusCode, type: String(headers['content-type'] ?? ''), text: payload }
    }

    app.get('/phone', async (request) => {
      const phone = await ownerOf(request)
      if (phone === undefined) return { phone: null, mandates: [], entries: [] }
      await reportSent(context, phone)
      return viewOf(context.db, await again(phone))
    })

    app.post('/phone', async (request, reply) => {
      const known = await ownerOf(request)
      if (known !== undefined) return { phone: phoneWire(known) }
      const { ticket, phone } = await openPhone(context, readBody(request, openFields))
      cookie.set(reply, ticket, YEAR_SECONDS)
      return reply.code(201).send({ phone: phoneWire(phone) })
    })

    app.post('/top-ups', async (request, reply) => {
      const phone = await owner(request)
      const asked = readBody(request, topUpFields)
      if (asked.amount > TOP_UP_MAX)
        throw new RequestInvalid([{ field: 'amount', message: `must be at most ${centsToWire(TOP_UP_MAX)}` }])
      return answer(reply, await topUp(context, phone.id, asked), async () => ({
        phone: phoneWire(await again(phone)),
      }))
    })

    app.get('/statement', async (request) => {
      const phone = await owner(request)
      const { before = NEWEST } = readQuery(request, statementFields)
      return { entries: (await listEntries(context.db, phone.id, before, STATEMENT_PAGE)).map(entryWire) }
    })

    app.post('/readings', async (request, reply) => {
      const phone = await owner(request)
      const asked = readBody(request, codeFields)
      const code = asked.charge === undefined ? asked.code : await codeBehind(context.db, context.rail, asked.charge)
      if (code === undefined) {
        if (asked.charge === undefined) throw new RequestInvalid([{ field: 'code', message: 'is required' }])
        return { checks: [], refusal: { code: 'location.unknown' } }
      }
      const taken = await takeCode(context, fetch, phone, code)
      return reply.code(taken.result.ok ? 201 : 200).send({ ...codeWire(taken), code })
    })

    app.post<OfReading>('/readings/:id/pay', async (request, reply) => {
      const phone = await owner(request)
      const { times = 1, ...asked } = readBody(request, payFields)
      const id = readingOf(request)
      const paid = id ? await payReading(context, phone, { id, times: times as 1 | 2, ...asked }) : unknownReading
      return answer(reply, paid, async (entries) => ({
        payments: entries.map(entryWire),
        phone: phoneWire(await again(phone)),
      }))
    })

    app.post<OfReading>('/readings/:id/refuse', async (request, reply) => {
      const phone = await owner(request)
      const id = readingOf(request)
      return answer(reply, id ? await refuseToPay(context, phone, id) : unknownReading, () => ({ refused: true }))
    })

    const ofMandate = (
      name: string,
      act: (phone: Phone, request: FastifyRequest<OfMandate>) => Promise<Result<void, MandateRefusal>>,
    ) =>
      app.post<OfMandate>(`/mandates/:idRec/${name}`, async (request, reply) => {
        const phone = await owner(request)
        return answer(reply, await act(phone, request), () => ({ done: true }))
      })
    const asked = (request: FastifyRequest<OfMandate>) => ({
      idRec: request.params.idRec,
      maximum: jsonBody(request) === undefined ? null : (readBody(request, maximumFields).maximum ?? null),
    })
    ofMandate('approve', (phone, request) => approveMandate(context, phone, asked(request)))
    ofMandate('limit', (phone, request) => limitMandate(context, phone, asked(request)))
    ofMandate('reject', (phone, request) => rejectMandate(context, phone, request.params.idRec))
    ofMandate('cancel', (phone, request) => cancelMandate(context, phone, request.params.idRec))
  }
}
