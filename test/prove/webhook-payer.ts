import { setTimeout as wait } from 'node:timers/promises'
import { type ApiClient, apiClient } from '../harness/api-client.ts'
import { createSale, paySale } from './client.ts'
import type { Shop } from './webhook-world.ts'

/** Payers that go on through every crash and remember what the service acknowledged, and nothing else. */
export type Payers = {
  /** Sales whose payment was acknowledged. */
  readonly acknowledged: Set<string>
  /** Each payer ends its payment first, so that everything begun is acknowledged. */
  stop(): Promise<void>
}

let count = 0

const newSale = (api: ApiClient) => createSale(api, { reference: `webhook-${++count}`, amount: 12.34 })
const pay = (api: ApiClient, sale: string) => paySale(api, sale, ++count)

const apiOf = (port: number, { apiKey, apiToken }: Shop) =>
  apiClient(port, { 'x-api-key': apiKey, 'x-api-token': apiToken })

/** Each lane creates a sale, pays it, and goes on to the next. */
export function startPaying(port: number, shops: readonly Shop[], lanes: number, pauseMs: number): Payers {
  const acknowledged = new Set<string>()
  let stopping = false
  const lane = async (api: ApiClient) => {
    while (!stopping) {
      const sale = await newSale(api)
      await pay(api, sale)
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
  const prepared = await Promise.all(Array.from({ length: sales }, () => newSale(api)))
  const acknowledged = new Set<string>()
  return {
    acknowledged,
    /** Resolves when all of them were acknowledged, after however many tries. */
    pay: () => Promise.all(prepared.map((sale) => pay(api, sale).then(() => acknowledged.add(sale)))),
  }
}
