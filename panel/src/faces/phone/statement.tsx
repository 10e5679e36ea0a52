import { useState } from 'react'
import { Badge, Button, useAction, useFormats, useWords } from '../../kit/index.ts'
import { type Entry, readMore } from './phone-api.ts'
import { Refused } from './refused.tsx'
import { words } from './words.ts'

/** Newest first; the first line of all is the opening of the account. */
export function Statement({ entries }: { readonly entries: readonly Entry[] }) {
  const w = useWords(words)
  const [older, setOlder] = useState<readonly Entry[]>([])
  const newestOlder = older[0]?.seq ?? 0
  const shown = [...entries.filter(({ seq }) => seq > newestOlder), ...older]
  const oldest = shown.at(-1)?.seq ?? 1
  const more = useAction(async () => {
    const next = await readMore(oldest)
    setOlder((known) => [...(known.length > 0 ? known : entries), ...next.entries])
  })
  return (
    <div className="stack">
      <ul className="phone-entries">
        {shown.map((entry) => (
          <Line key={entry.seq} entry={entry} />
        ))}
      </ul>
      <Refused error={more.error} />
      {oldest > 1 && (
        <Button wide busy={more.busy} onClick={() => void more.run()}>
          {w.older}
        </Button>
      )}
    </div>
  )
}

function Line({ entry }: { readonly entry: Entry }) {
  const w = useWords(words)
  const f = useFormats()
  const { kind, amount, balanceAfter, counterparty, at, outcome } = entry
  return (
    <li className="stack-tight">
      <div className="row-apart">
        <strong>{w[`entry_${kind}`]}</strong>
        <span className="number">{f.money(amount)}</span>
      </div>
      <div className="row-apart small muted">
        <span>
          {counterparty && `${counterparty} · `}
          {f.dateTime(Date.parse(at))}
        </span>
        <span className="number">
          {w.balance}: {f.money(balanceAfter)}
        </span>
      </div>
      {outcome !== null && outcome !== 'PAID' && (
        <div>
          <Badge tone="waiting">{outcome === 'REVERSED' ? w.willComeBack : w.onItsWay}</Badge>
        </div>
      )}
    </li>
  )
}
