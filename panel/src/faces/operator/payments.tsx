import {
  Badge,
  Card,
  CodeBlock,
  Facts,
  List,
  Listed,
  Pagination,
  type Tone,
  useFormats,
  useListAddress,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { useOperatorListing } from './listing.ts'
import type { Conflict, Reversal } from './types.ts'
import { words } from './words.ts'

const tones: Readonly<Record<Reversal['status'], Tone>> = { PENDING: 'waiting', PAID: 'good', CANCELLED: 'bad' }
const stateWords = { PENDING: 'goingBack', PAID: 'wentBack', CANCELLED: 'stayed' } as const

/** Money in the operator's own book: it names no charge of anybody. */
export function Payments() {
  const w = useWords(words)
  const f = useFormats()
  useTitle(w.payments)
  const address = useListAddress([])
  const { data, error, refetch } = useOperatorListing<Reversal>('/reversals', address)
  return (
    <div className="stack">
      <h1>{w.payments}</h1>
      <p className="muted">{w.paymentsHint}</p>
      <List
        rows={data?.result}
        error={error}
        onRetry={() => void refetch()}
        none={w.noPayments}
        caption={w.payments}
        rowKey={({ uuid }) => uuid}
        columns={[
          { header: w.creation, cell: ({ creation }) => f.dateTime(creation) },
          { header: w.endToEnd, cell: ({ endToEnd }) => <code>{endToEnd}</code> },
          { header: w.amount, number: true, cell: ({ reversedAmount }) => f.money(reversedAmount) },
          { header: w.state, cell: ({ status }) => <Badge tone={tones[status]}>{w[stateWords[status]]}</Badge> },
          { header: w.ended, cell: ({ date }) => (date === null ? '–' : f.dateTime(date)) },
        ]}
      />
      {data && <Pagination page={address.page} pages={data.totalPages} onPage={address.turn} />}
    </div>
  )
}

export function Conflicts() {
  const w = useWords(words)
  useTitle(w.conflicts)
  const address = useListAddress([])
  const { data, error, refetch } = useOperatorListing<Conflict>('/conflicts', address)
  return (
    <div className="stack">
      <h1>{w.conflicts}</h1>
      <p className="muted">{w.conflictsHint}</p>
      <Listed rows={data?.result} error={error} onRetry={() => void refetch()} none={w.noConflicts}>
        {(rows) => rows.map((conflict) => <ConflictCard key={conflict.id} conflict={conflict} />)}
      </Listed>
      {data && <Pagination page={address.page} pages={data.totalPages} onPage={address.turn} />}
    </div>
  )
}

function ConflictCard({ conflict }: { readonly conflict: Conflict }) {
  const w = useWords(words)
  const f = useFormats()
  const { first } = conflict
  return (
    <Card title={w.news(conflict.kind)} aside={<Badge tone="bad">{conflict.rail}</Badge>}>
      <Facts
        items={[
          [w.railId, <code key="id">{conflict.railId}</code>],
          [w.received, f.dateTime(conflict.received)],
          [w.heardFirst, first === null ? w.nothing : f.dateTime(first.received)],
          [w.number, first?.accountNumber],
          [w.amountFirst, first?.amount == null ? undefined : f.money(first.amount)],
          [first?.outcome === 'REVERSED' ? w.becameReversal : w.applied, first && <code>{first.uuid}</code>],
        ]}
      />
      <CodeBlock wrap label={w.saidNow(f.time(conflict.received))} code={JSON.stringify(conflict.event, null, 2)} />
    </Card>
  )
}
