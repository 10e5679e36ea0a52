import { appendFileSync } from 'node:fs'
import { type ApiClient, apiClient, type Reply } from '../harness/api-client.ts'
import { credentialHeaders } from '../harness/running-service.ts'
import { seededRandom } from './table.ts'

/**
 * A process of its own that creates and pays shared sales through every crash and writes down what the service
 * acknowledged, with the legs as it asked for them. Whatever got no answer is sent again with the same key.
 */
export type Sharer = { readonly id: string; readonly apiKey: string; readonly apiToken: string }
/** What the witness was told, one a line; amounts in cents. */
export type Shared = {
  readonly paid: string
  readonly parent: string
  readonly amount: number
  readonly legs: readonly (readonly [recipient: string, amount: number])[]
}

const LEGS_MAX = 20
const [port, journal, accountsJson, lanes, seed] = process.argv.slice(2) as [string, string, string, string, string]
const accounts = JSON.parse(accountsJson) as Sharer[]
let stopping = false
process.on('message', () => {
  stopping = true
})
process.on('disconnect', () => process.exit(1))

async function untilAnswered(send: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await send().catch(() => undefined)
    if (reply !== undefined && reply.http < 500) return reply
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Some of the others, in any order: books are met from every side. */
function someOthers(parent: Sharer, random: () => number): Sharer[] {
  const rest = accounts.filter((account) => account !== parent)
  const count = 1 + Math.floor(random() * Math.min(LEGS_MAX, rest.length))
  return Array.from({ length: count }, () => rest.splice(Math.floor(random() * rest.length), 1)[0]!)
}

async function lane(api: ApiClient, parent: Sharer, name: number): Promise<void> {
  const random = seededRandom(Number(seed) * 1_000 + name)
  for (let made = 1; !stopping; made += 1) {
    const legs = someOthers(parent, random).map(({ id }) => [id, 1 + Math.floor(random() * 500)] as const)
    const total = legs.reduce((sum, [, cents]) => sum + cents, 0)
    const amount = total + 200 + Math.floor(random() * 5_000)
    const reference = `split-${name}-${made}`
    const body = {
      currency: 'BRL',
      amount: amount / 100,
      referenceCode: reference,
      paymentMethod: 'PIX',
      shopper: { name: 'Maria', email: 'maria@example.com' },
      split: legs.map(([recipientId, cents]) => ({ recipientId, amount: cents / 100 })),
    }
    const headers = { 'idempotency-key': reference }
    const created = await untilAnswered(() => api.post('/v1.1/checkout/transparent', body, { headers }))
    if (created.http !== 200) throw new Error(`a checkout was refused: ${created.text}`)
    const { uuid } = created.body.response
    // Some stay unpaid: nothing of them may ever be credited.
    if (made % 6 === 0) continue
    const endToEnd = `E99999004${String(name).padStart(11, '0')}${String(made).padStart(12, '0')}`
    const paid = await untilAnswered(() => api.post(`/v1.1/sandbox/sim/sale/${uuid}/paid`, { endToEnd }))
    if (paid.http !== 200 || paid.body.sale.situation !== 'PAID') throw new Error(`a payment was refused: ${paid.text}`)
    appendFileSync(journal, `${JSON.stringify({ paid: uuid, parent: parent.id, amount, legs } satisfies Shared)}\n`)
  }
}

const root = apiClient(Number(port))
await Promise.all(
  Array.from({ length: Number(lanes) }, (_, index) => {
    const parent = accounts[index % accounts.length]!
    return lane(root.as(credentialHeaders(parent)), parent, index)
  }),
)
process.exit(0)
