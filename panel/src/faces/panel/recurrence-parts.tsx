import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import {
  api,
  Badge,
  Button,
  Card,
  type Column,
  Empty,
  ErrorState,
  Loading,
  Pagination,
  Table,
  useFormats,
  useWords,
} from '../../kit/index.ts'
import {
  type Charge,
  type ChargeState,
  type MandateState,
  type ScheduledRow,
  toneOfCharge,
  toneOfMandate,
} from './recurrence-types.ts'
import type { Delivery } from './sale-types.ts'
import { TimeLine } from './time-line.tsx'
import type { Filters } from './use-filters.ts'
import { words } from './words.ts'
import { type ReasonCode, reasonWords, recurrenceWords } from './words-recurrence.ts'

export const v = '/panel/api/v1.1/pix-automatic'

export function MandateBadge({ state }: { readonly state: MandateState }) {
  const w = useWords(recurrenceWords)
  return <Badge tone={toneOfMandate[state]}>{w[state]}</Badge>
}

export function ChargeBadge({ state }: { readonly state: ChargeState }) {
  const w = useWords(recurrenceWords)
  return <Badge tone={toneOfCharge[state]}>{w[state]}</Badge>
}

/** A reason code with its meaning; banks may have codes that nobody told us of. */
export function useReason(): (code: string) => string {
  const reasons = useWords(reasonWords)
  return (code) => (Object.hasOwn(reasons, code) ? `${code} · ${reasons[code as ReasonCode]}` : code)
}

type FilterFormProps = {
  readonly filters: Filters
  readonly found: number | undefined
  readonly children: ReactNode
}

export function FilterForm({ filters, found, children }: FilterFormProps) {
  const w = useWords(words)
  const own = useWords(recurrenceWords)
  const f = useFormats()
  return (
    <search>
      <Card>
        <form className="stack" onSubmit={filters.submit} key={filters.query}>
          <div className="grid">{children}</div>
          <div className="row">
            <Button kind="primary" type="submit">
              {w.filter}
            </Button>
            {filters.isFiltered && (
              <Button kind="quiet" onClick={filters.clear}>
                {w.clear}
              </Button>
            )}
            {found !== undefined && (
              <span className="muted" role="status">
                {own.found(f.count(found))}
              </span>
            )}
          </div>
        </form>
      </Card>
    </search>
  )
}

type ListProps<Row> = {
  readonly rows: readonly Row[] | undefined
  readonly error: unknown
  readonly onRetry: () => void
  readonly none: string
  readonly caption: string
  readonly rowKey: (row: Row) => string
  readonly columns: readonly Column<Row>[]
}

export function List<Row>({ rows, error, onRetry, none, caption, rowKey, columns }: ListProps<Row>) {
  if (rows === undefined) return error ? <ErrorState error={error} onRetry={onRetry} /> : <Loading />
  if (rows.length === 0) return <Empty title={none} />
  return <Table caption={caption} rows={rows} rowKey={rowKey} columns={columns} />
}

const AT_ONCE = 25

/** Of a list that came whole: a page at a time, so that a thousand rows are no burden. */
export function PagedTable<Row>({ rows, ...table }: Omit<ListProps<Row>, 'error' | 'onRetry'>) {
  const [asked, setPage] = useState(1)
  const all = rows ?? []
  const pages = Math.max(1, Math.ceil(all.length / AT_ONCE))
  const page = Math.min(asked, pages)
  const shown = all.slice((page - 1) * AT_ONCE, page * AT_ONCE)
  return (
    <>
      <List {...table} rows={shown} error={undefined} onRetry={() => {}} />
      <Pagination page={page} pages={pages} onPage={setPage} />
    </>
  )
}

/** Columns that every list of charges has. */
export function useChargeColumns<Row extends Charge | ScheduledRow>(): readonly Column<Row>[] {
  const w = useWords(recurrenceWords)
  const both = useWords(words)
  const f = useFormats()
  const reason = useReason()
  return [
    {
      header: both.dueDate,
      cell: ({ instructionId, dueDate }) => (
        <Link href={`/scheduled-payments/${instructionId}`}>{f.date(dueDate)}</Link>
      ),
    },
    { header: both.amount, number: true, cell: ({ amount }) => f.money(amount) },
    { header: w.state, cell: ({ status }) => <ChargeBadge state={status} /> },
    { header: w.whyNot, cell: ({ rejectionCode }) => (rejectionCode === null ? '–' : reason(rejectionCode)) },
  ]
}

type Told = Delivery & { readonly creation: string }

/** What was told of a mandate or of a charge, with every attempt. */
export function Webhooks({ of }: { readonly of: string }) {
  const w = useWords(recurrenceWords)
  const { data, error, refetch } = useQuery({
    queryKey: ['deliveries', of],
    queryFn: ({ signal }) => api<{ deliveries: readonly Told[] }>(`/panel/api/deliveries/${of}`, { signal }),
    meta: { topics: ['deliveries', 'recurrence'] },
  })
  const told = data?.deliveries.map(({ creation, ...delivery }) => ({
    at: creation,
    kind: 'notification' as const,
    ...delivery,
  }))
  return (
    <Card title={w.webhooks}>
      {told === undefined && (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />)}
      {told?.length === 0 && <p className="muted">{w.noWebhooks}</p>}
      {told && told.length > 0 && <TimeLine events={told} />}
    </Card>
  )
}
