import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import {
  api,
  Badge,
  Card,
  type Column,
  ErrorState,
  List,
  type ListAddress,
  type ListProps,
  Loading,
  Pagination,
  SelectField,
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

/** The latest first is what the service does unasked. */
export function OrderField({ address }: { readonly address: ListAddress }) {
  const w = useWords(recurrenceWords)
  return (
    <SelectField
      label={w.order}
      name="order"
      defaultValue={address.of('order')}
      options={[
        ['', w.DESC],
        ['ASC', w.ASC],
      ]}
    />
  )
}

/** A reason code with its meaning; banks may have codes that nobody told us of. */
export function useReason(): (code: string) => string {
  const reasons = useWords(reasonWords)
  return (code) => (Object.hasOwn(reasons, code) ? `${code} · ${reasons[code as ReasonCode]}` : code)
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
