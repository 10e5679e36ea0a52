import { createSale, paySale } from './client.ts'
import { asWitness } from './witness.ts'

/** Creates and pays shared sales, and writes down what was acknowledged with the legs as it asked for them. */
export type Sharer = { readonly id: string; readonly apiKey: string; readonly apiToken: string }
/** What the witness was told, one a line; amounts in cents. */
export type Shared = {
  readonly paid: string
  readonly parent: string
  readonly amount: number
  readonly legs: readonly (readonly [recipient: string, amount: number])[]
}

const LEGS_MAX = 20
const witness = asWitness<Sharer, Shared>()

/** Some of the others, in any order: books are met from every side. */
function someOthers(parent: Sharer, random: () => number): Sharer[] {
  const rest = witness.accounts.filter((account) => account !== parent)
  const count = 1 + Math.floor(random() * Math.min(LEGS_MAX, rest.length))
  return Array.from({ length: count }, () => rest.splice(Math.floor(random() * rest.length), 1)[0]!)
}

await witness.inLanes(async ({ account, api, name, random }) => {
  for (let made = 1; !witness.stopping(); made += 1) {
    const legs = someOthers(account, random).map(({ id }) => [id, 1 + Math.floor(random() * 500)] as const)
    const total = legs.reduce((sum, [, cents]) => sum + cents, 0)
    const amount = total + 200 + Math.floor(random() * 5_000)
    const split = legs.map(([recipientId, cents]) => ({ recipientId, amount: cents / 100 }))
    const sale = await createSale(api, { reference: `split-${name}-${made}`, amount: amount / 100, split })
    // Some stay unpaid: nothing of them may ever be credited.
    if (made % 6 === 0) continue
    await paySale(api, sale, name * 1e9 + made)
    witness.note({ paid: sale, parent: account.id, amount, legs })
  }
})
process.exit(0)
