import { setTimeout as wait } from 'node:timers/promises'
import { type ApiClient, apiClient, type Reply } from '../harness/api-client.ts'
import type { Shop } from './webhook-world.ts'

/** Payers that go on through every crash and remember what the service acknowledged, and nothing else. */
export type Payers = {
  /** Sales whose payment was acknowledged. */
  readonly acknowledged: Set<string>
  /** Each payer ends its payment first, so that everything begun is acknowledged. */
  stop(): Promise<void>
}

let count = 0

/** Whatever got no answer is sent again, the same. */
async function untilAnswered(send: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await send().catch(() => undefined)
    if (reply !== undefined && reply.http < 500) return reply
    await wait(50)
  }
}

async function createSale(api: ApiClient): Promise<string> {
  const reference = `webhook-${++count}`
  const body = {
    currency: 'BRL',
    amount: 12.34,
    referenceCode: reference,
    paymentMethod: 'PIX',
    shopper: { name: 'Maria da Silva', email: 'maria@example.com' },
  }
  const headers = { 'idempotency-key': reference }
  const created = await untilAnswered(() => api.post('/v1.1/checkout/transparent', body, { headers }))
  if (created.http !== 200) throw new Error(`a checkout was refused: ${created.text}`)
  return created.body.response.uuid
}

async function paySale(api: ApiClient, sale: string): Promise<void> {
  const endToEnd = `E99999004${String(++count).padStart(23, '0')}`
  const paid = await untilAnswered(() => api.post(`/v1.1/sandbox/sim/sale/${sale}/paid`, { endToEnd }))
  if (paid.http !== 200 || paid.body.sale.situation !== 'PAID') throw new Error(`a payment was refused: ${paid.text}`)
}

const apiOf = (port: number, { apiKey, apiToken }: Shop) =>
  apiClient(port, { 'x-api-key': apiKey, 'x-api-token': apiToken })

/** Each lane creates a sale, pays it, and goes on to the next. */
export function startPaying(port: number, shops: readonly Shop[], lanes: number, pauseMs: number): Payers {
  const acknowledged = new Set<string>()
  let stopping = false
  const lane = async (api: ApiClient) => {
    while (!stopping) {
      const sale = await createSale(api)
      await paySale(api, sale)
      acknowledged.add(sale)
      await wait(pauseMs)
    }
  }
  const ended = Promise.all(
    Array.from({ length: lanes }, (_, index) => lane(apiOf(port, shops[index % shops.length]!))),
  )
  // Heard by whoever stops; until then a refusal must not end the process with the service still running.
  ended.catch(() => {})
  return {
    acknowledged,
    async stop() {
      stopping = true
      await ended
    },
  }
}

/** So many sales of one shop, ready to be paid in the same moment. */
export async function preparePayments(port: number, shop: Shop, sales: number) {
  const api = apiOf(port, shop)
  const prepared = await Promise.all(Array.from({ length: sales }, () => createSale(api)))
  const acknowledged = new Set<string>()
  return {
    acknowledged,
    /** Resolves when all of them were acknowledged, after however many tries. */
    pay: () => Promise.all(prepared.map((sale) => paySale(api, sale).then(() => acknowledged.add(sale)))),
  }
}
