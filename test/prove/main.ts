import { proveCrash } from './crash.ts'

/** Long proofs: `npm run prove crash [cycles] [seed]`. */
const [name = 'crash', count = '20', seed = '1'] = process.argv.slice(2)
const proofs: Readonly<Record<string, () => Promise<boolean>>> = {
  crash: () => proveCrash(Number(count), Number(seed)),
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
