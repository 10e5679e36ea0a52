import { createSale, paySale } from './client.ts'
import { asWitness } from './witness.ts'

/** Creates and pays charges. What the witness was told, one a line. */
export type Charged = { created: string; reference: string } | { paid: string; endToEnd: string }

const witness = asWitness<{ apiKey: string; apiToken: string }, Charged>()

await witness.inLanes(async ({ api, name }) => {
  for (let made = 1; !witness.stopping(); made += 1) {
    const reference = `crash-${name}-${made}`
    const created = await createSale(api, { reference, amount: 12.34 })
    witness.note({ created, reference })
    if (made % 4 === 0) continue
    witness.note({ paid: created, endToEnd: await paySale(api, created, name * 1e9 + made) })
  }
})
process.exit(0)
