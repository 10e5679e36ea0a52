import { useWords } from '../../kit/index.ts'
import type { Check } from './phone-api.ts'
import { words } from './words.ts'

/** What the bank has looked at, in its order; the one that failed is the last. */
export function Checks({ checks }: { readonly checks: readonly Check[] }) {
  const w = useWords(words)
  return (
    <section className="stack-tight" aria-label={w.checks}>
      <h3>{w.checks}</h3>
      <ul className="phone-checks">
        {checks.map(({ check, holds }) => (
          <li key={check}>
            <span aria-hidden="true">{holds ? '✓' : '✗'}</span> {w[`check_${check}`]}
            <span className="only-heard">: {holds ? w.holds : w.fails}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
