import { setTimeout as wait } from 'node:timers/promises'
import type { ApiClient, Reply } from '../harness/api-client.ts'

const PATIENCE_MS = 60_000

/**
 * Whatever got no answer is sent again, the same; that the first try still runs is no answer either. Who hears of nothing
 * but trouble for a minute answers with that.
 */
export async function untilAnswered(send: () => Promise<Reply>): Promise<Reply> {
  for (const began = performance.now(); ; await wait(50)) {
    const reply = await send().catch(() => undefined)
    const late = performance.now() - began > PATIENCE_MS
    if (reply !== undefined && (late || (reply.http < 500 && reply.http !== 409))) return reply
    if (late) throw new Error(`no answer within ${PATIENCE_MS / 1000} s`)
  }
}

/** A charge of so many reais, under a key that is its reference. */
export async function createSale(
  api: ApiClient,
  { reference, amount, split }: { reference: string; amount: number; split?: readonly unknown[] },
): Promise<string> {
  const body = {
    currency: 'BRL',
    amount,
    referenceCode: reference,
    paymentMethod: 'PIX',
    shopper: { name: 'Maria da Silva', email: 'maria@example.com' },
    split,
  }
  const headers = { 'idempotency-key': reference }
  const created = await untilAnswered(() => api.post('/v1.1/checkout/transparent', body, { headers }))
  if (created.http !== 200) throw new Error(`a checkout was refused: ${created.text}`)
  return created.body.response.uuid
}

/** One payment: its number is in its id, so that another try is the same money. */
export async function paySale(api: ApiClient, sale: string, number: number): Promise<string> {
  const endToEnd = `E99999004${String(number).padStart(23, '0')}`
  const paid = await untilAnswered(() => api.post(`/v1.1/sandbox/sim/sale/${sale}/paid`, { endToEnd }))
  if (paid.http !== 200 || paid.body.sale.situation !== 'PAID') throw new Error(`a payment was refused: ${paid.text}`)
  return endToEnd
}
