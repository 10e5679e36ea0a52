import { proveCrash } from './crash.ts'
import { proveIsolation } from './isolation.ts'
import { proveMoney } from './money.ts'
import { provePanel } from './panel.ts'
import { proveRecurrence } from './recurrence.ts'
import { proveSplit } from './split.ts'
import { proveWebhooks } from './webhooks.ts'

/**
 * Long proofs: `npm run prove crash [cycles] [seed]`, `npm run prove webhooks [cycles] [seed] [case]`,
 * `npm run prove isolation [backlog] [rounds]`, `npm run prove split [cycles] [seed]`, `npm run prove money [cycles] [seed]`,
 * `npm run prove recurrence [kills] [seed]`, `npm run prove panel [sales]`.
 */
const [name = 'crash', first, second, third] = process.argv.slice(2)
const given = (text: string | undefined, otherwise: number) => (text === undefined ? otherwise : Number(text))
const proofs: Readonly<Record<string, () => Promise<boolean>>> = {
  crash: () => proveCrash(given(first, 20), given(second, 1)),
  webhooks: () => proveWebhooks(given(first, 4), given(second, 1), third),
  isolation: () => proveIsolation(given(first, 1_000_000), given(second, 3)),
  split: () => proveSplit(given(first, 40), given(second, 1)),
  money: () => proveMoney(given(first, 20), given(second, 1)),
  recurrence: () => proveRecurrence(given(first, 20), given(second, 1)),
  panel: () => provePanel(given(first, 1_000_000)),
}
const proof = proofs[name]
if (proof === undefined) {
  console.error(`npm run prove ${name}: unknown proof; there are ${Object.keys(proofs).join(', ')}`)
  process.exitCode = 1
} else {
  const held = await proof()
  console.log(held ? '\nProved.' : '\nNOT proved.')
  process.exitCode = held ? 0 : 1
}
