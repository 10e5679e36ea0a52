import { appendFileSync } from 'node:fs'
import { type ApiClient, apiClient, type Reply } from '../harness/api-client.ts'
import type { Account } from '../harness/running-service.ts'

/**
 * The witness: a process of its own that creates and pays charges through every crash and writes down what the
 * service acknowledged, and nothing else. Whatever got no answer is sent again with the same key.
 */
const [port, journal, accountsJson, lanes] = process.argv.slice(2) as [string, string, string, string]
const accounts = JSON.parse(accountsJson) as Account[]
let stopping = false
let made = 0
process.on('message', () => {
  stopping = true
})

const note = (entry: Record<string, unknown>) => appendFileSync(journal, `${JSON.stringify(entry)}\n`)

async function untilAnswered(send: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await send().catch(() => undefined)
    if (reply !== undefined && reply.http < 500) return reply
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function lane(api: ApiClient, name: number): Promise<void> {
  while (!stopping) {
    const reference = `crash-${name}-${++made}`
    const body = {
      currency: 'BRL',
      amount: 12.34,
      referenceCode: reference,
      paymentMethod: 'PIX',
      shopper: { name: 'Maria', email: 'maria@example.com' },
    }
    const headers = { 'idempotency-key': reference }
    const created = await untilAnswered(() => api.post('/v1.1/checkout/transparent', body, { headers }))
    if (created.http !== 200) throw new Error(`a checkout was refused: ${created.text}`)
    const { uuid } = created.body.response
    note({ created: uuid, reference })
    if (made % 4 === 0) continue
    const endToEnd = `E99999004${String(name).padStart(11, '0')}${String(made).padStart(12, '0')}`
    const paid = await untilAnswered(() => api.post(`/v1.1/sandbox/sim/sale/${uuid}/paid`, { endToEnd }))
    if (paid.http !== 200 || paid.body.sale.situation !== 'PAID') throw new Error(`a payment was refused: ${paid.text}`)
    note({ paid: uuid, endToEnd })
  }
}

const root = apiClient(Number(port))
await Promise.all(
  Array.from({ length: Number(lanes) }, (_, index) => {
    const { apiKey, apiToken } = accounts[index % accounts.length]!
    return lane(root.as({ 'x-api-key': apiKey, 'x-api-token': apiToken }), index)
  }),
)
process.exit(0)
