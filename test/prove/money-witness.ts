import { setTimeout as wait } from 'node:timers/promises'
import type { ApiClient, Reply } from '../harness/api-client.ts'
import { createSale, paySale, untilAnswered } from './client.ts'
import { openBank } from './money-bank.ts'
import { type Asked, cents, type Entry, type Kind, type Shop } from './money-journal.ts'
import { bookOf } from './money-rail.ts'
import { seededRandom } from './table.ts'
import { asWitness, type Lane } from './witness.ts'

/** Merchants that give back and pay out all the time, and their bank. Whatever gets no answer is asked again, the same. */
const witness = asWitness<Shop, Entry>()
const { note } = witness
const bank = openBank(bookOf(witness.folder), seededRandom(witness.seed * 1_000 - 1), note)

const PAYMENTS_MAX = 4
const IMPATIENT_MS = 60
const AGAIN_MS = 5_000
const CANCEL_MS = 2_000
const ENDED_MS = 60_000
const PAGE = 100

type Request = { readonly method: 'PUT' | 'POST'; readonly path: string; readonly body: unknown; readonly key: string }
/** `lost`: a try before had done it, and its answer never came. */
type Answer = Reply & { readonly lost: boolean }

/**
 * Under a key until it is answered: sometimes after a try that nobody waited for, sometimes by two at once, sometimes again
 * much later. There is one answer.
 */
async function answerTo(api: ApiClient, request: Request, random: () => number): Promise<Answer> {
  const { method, path, body, key } = request
  const send = () => api.send(method, path, body, { headers: { 'idempotency-key': key } })
  if (random() < 0.15) {
    void send().catch(() => {})
    await wait(random() * IMPATIENT_MS)
  }
  const [first, second] = await Promise.all([untilAnswered(send), random() < 0.2 ? untilAnswered(send) : undefined])
  const lost = second === undefined && first.headers['idempotency-replayed'] === 'true'
  const compare = (again: Reply) => {
    if (again.http !== first.http || again.text !== first.text)
      note({ what: 'wrong', how: `one key, two answers: ${key}: ${first.text} and then ${again.text}` })
  }
  if (second) compare(second)
  if (random() < 0.2) bank.later(random() * AGAIN_MS, async () => compare(await untilAnswered(send)))
  return { ...first, lost }
}

/** `asked`: what its refunds come to together, those without an answer included, those refused not. */
type Sale = { readonly uuid: string; readonly amount: number; asked: number }

function merchant({ account: shop, api, name, random }: Lane<Shop>) {
  let made = 0
  /** What this lane has brought in and not asked for. */
  let budget = 0
  const upTo = (most: number) => 1 + Math.floor(random() * most)
  const costOf = (kind: Kind, amount: number) => amount + (kind === 'payout' ? shop.payoutFee : 0)

  async function sell(): Promise<Sale> {
    const amount = 5_000 + upTo(25_000)
    const reference = `sale-${name}-${++made}`
    const uuid = await createSale(api, { reference, amount: amount / 100 })
    await paySale(api, uuid, name * 1e9 + made)
    note({ what: 'paid', sale: uuid, account: shop.id, amount })
    budget += amount - shop.saleFee
    return { uuid, amount, asked: 0 }
  }

  /** Undefined where a shop that never asks for more than it has would do so. */
  function ask(kind: Kind, amount: number, sale: Sale | null): Asked | undefined {
    if (!shop.poor && costOf(kind, amount) > budget) return undefined
    budget -= costOf(kind, amount)
    if (sale) sale.asked += amount
    const reference = `${kind}-${name}-${++made}`
    const asked: Asked = { what: 'asked', reference, kind, account: shop.id, sale: sale?.uuid ?? null, amount }
    note(asked)
    return asked
  }

  function accepted({ reference, kind }: Asked, uuid: string, { lost }: Answer): void {
    note({ what: 'answered', reference, uuid, lost })
    bank.expect({ uuid, kind, api, autoSettle: shop.autoSettle })
    if (kind === 'payout' && random() < 0.1) bank.later(random() * CANCEL_MS, () => cancel(uuid))
  }

  /** Only a poor shop lacks money, and only refunds that come to more than their sale are too much. */
  function refused(
    { reference, kind, amount }: Asked,
    errors: readonly { code?: string }[],
    { lost }: Answer,
    sale?: Sale,
  ) {
    const code = errors[0]?.code
    const tooMuch = sale !== undefined && sale.asked > sale.amount
    const right = code === 'refund.tooMuch' ? tooMuch : code === `${kind}.insufficientBalance` && shop.poor
    if (!right) note({ what: 'wrong', how: `${reference} over ${amount} was refused: ${JSON.stringify(errors)}` })
    note({ what: 'answered', reference, uuid: null, lost })
    budget += costOf(kind, amount)
    if (sale) sale.asked -= amount
  }

  async function refund(sale: Sale): Promise<void> {
    const asked = ask('refund', upTo(Math.floor(sale.amount / 2)), sale)
    if (asked === undefined) return
    const body = { amount: asked.amount / 100, reason: asked.reference }
    const path = `/v1.1/transactions/${sale.uuid}/refund`
    const answer = await answerTo(api, { method: 'PUT', path, body, key: asked.reference }, random)
    if (answer.http !== 200) return refused(asked, answer.body.errors ?? [], answer, sale)
    if (answer.body.totalToRefund > answer.body.originalAmount)
      note({ what: 'wrong', how: `more is given back than was paid: ${answer.text}` })
    accepted(asked, answer.body.uuid, answer)
  }

  const payoutOf = ({ reference, amount }: Asked) => ({
    amount: amount / 100,
    currency: 'BRL',
    referenceCode: reference,
    beneficiary: { name: 'Fornecedor Ltda', bankDetails: { pixKey: `${reference}@example.com` } },
  })

  async function payOut(): Promise<void> {
    const asked = ask('payout', upTo(6_000), null)
    if (asked === undefined) return
    const request = {
      method: 'POST',
      path: '/v1.1/payout/create',
      body: payoutOf(asked),
      key: asked.reference,
    } as const
    const answer = await answerTo(api, request, random)
    if (answer.http === 200) accepted(asked, answer.body.uuid, answer)
    else refused(asked, answer.body.errors ?? [], answer)
  }

  async function payOutTogether(): Promise<void> {
    const all = Array.from({ length: upTo(PAYMENTS_MAX) }, () => ask('payout', upTo(4_000), null))
    const asked = all.filter((one) => one !== undefined)
    if (asked.length === 0) return
    const request = {
      method: 'POST',
      path: '/v1.1/payout/create/batch',
      body: { payments: asked.map(payoutOf) },
      key: `batch-${asked[0]!.reference}`,
    } as const
    const answer = await answerTo(api, request, random)
    const made = new Map<string, string>(
      (answer.body.result ?? []).map(({ referenceCode, uuid }: Record<string, string>) => [referenceCode, uuid]),
    )
    for (const [index, one] of asked.entries()) {
      const uuid = made.get(one.reference)
      const rejected = answer.body.rejectedItems?.find((item: { index: number }) => item.index === index)
      if (uuid !== undefined) accepted(one, uuid, answer)
      else refused(one, rejected?.errors ?? [], answer)
    }
  }

  async function cancel(uuid: string): Promise<void> {
    const path = `/v1.1/payout/${uuid}/cancel`
    const request = { method: 'PUT', path, body: { reason: 'not needed' }, key: `cancel-${uuid}` } as const
    const { http, body, text } = await answerTo(api, request, random)
    if (http === 200) note({ what: 'ended', uuid, as: body.situation })
    else if (body.status === 999) note({ what: 'refusedEnd', uuid, as: 'CANCELLED' })
    else note({ what: 'wrong', how: `the cancelling of payout ${uuid} was answered ${text}` })
  }

  const step = (sale: Sale): Promise<void> => {
    const which = random()
    return which < 0.55 ? refund(sale) : which < 0.85 ? payOut() : payOutTogether()
  }
  return { sell, step }
}

/** How everything ended and what is left, as the merchant is told when all is over. */
async function look(shop: Shop): Promise<void> {
  const api = witness.apiOf(shop)
  const list = async (query: string) => (await untilAnswered(() => api.get(`/v1.1/transactions?${query}`))).body
  for (const type of ['REFUND', 'PAYOUT']) {
    for (const began = performance.now(); ; await wait(250)) {
      const { totalElements } = await list(`type=${type}&situation=PENDING`)
      if (totalElements === 0) break
      if (performance.now() - began < ENDED_MS) continue
      note({ what: 'wrong', how: `${totalElements} of type ${type} never ended` })
      break
    }
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const { totalPages, result } = await list(`type=${type}&maxPageResults=${PAGE}&page=${page}`)
      pages = totalPages
      for (const { uuid, situation } of result) note({ what: 'ended', uuid, as: situation })
    }
  }
  const { available, blocked } = (await untilAnswered(() => api.get('/v1.1/balance'))).body
  note({ what: 'balance', account: shop.id, available: cents(available), blocked: cents(blocked) })
}

await witness.inLanes(async (lane) => {
  const { sell, step } = merchant(lane)
  while (!witness.stopping()) {
    const sale = await sell()
    for (let pairs = 1 + Math.floor(lane.random() * 4); pairs > 0; pairs -= 1)
      await Promise.all([step(sale), step(sale)])
  }
})
await bank.close()
await Promise.all(witness.accounts.map(look))
process.exit(0)
