import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { Link, useSearchParams } from 'wouter'
import {
  api,
  Badge,
  Button,
  Card,
  Empty,
  ErrorState,
  Loading,
  Pagination,
  SelectField,
  Table,
  TextField,
  useFormats,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { type Page, type SaleRow, toneOf } from './sale-types.ts'
import { words } from './words.ts'

const filters = ['search', 'situation', 'initialDate', 'finalDate', 'amount'] as const

/** Filters and page stand in the address: a list can be linked to, and the back button works. */
export function Sales() {
  const w = useWords(words)
  const f = useFormats()
  useTitle(w.sales)
  const [asked, setAsked] = useSearchParams()
  const page = Math.max(1, Number(asked.get('page') ?? '1') || 1)
  const query = new URLSearchParams([...asked].filter(([name, value]) => value !== '' && isKnown(name))).toString()
  const { data, error, refetch } = useQuery({
    queryKey: ['sales', query],
    queryFn: ({ signal }) => api<Page<SaleRow>>(`/panel/api/sales?${query}`, { signal }),
    placeholderData: keepPreviousData,
    meta: { topics: ['sales', 'money'] },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const filled = filters.map((name) => [name, String(form.get(name) ?? '').trim()])
    setAsked(new URLSearchParams(filled.filter(([, value]) => value !== '') as string[][]))
  }
  const turn = (to: number) =>
    setAsked((now) => new URLSearchParams([...[...now].filter(([name]) => name !== 'page'), ['page', String(to)]]))
  return (
    <div className="stack">
      <h1>{w.sales}</h1>
      <search>
        <Card>
          <form className="stack" onSubmit={submit} key={query}>
            <div className="grid">
              <TextField
                label={w.search}
                name="search"
                type="search"
                hint={w.searchHint}
                maxLength={100}
                defaultValue={asked.get('search') ?? ''}
              />
              <SelectField
                label={w.situation}
                name="situation"
                defaultValue={asked.get('situation') ?? ''}
                options={[
                  ['', w.anySituation],
                  ['PENDING', w.PENDING],
                  ['PAID', w.PAID],
                  ['CANCELLED', w.CANCELLED],
                ]}
              />
              <TextField
                label={w.initialDate}
                name="initialDate"
                type="date"
                defaultValue={asked.get('initialDate') ?? ''}
              />
              <TextField label={w.finalDate} name="finalDate" type="date" defaultValue={asked.get('finalDate') ?? ''} />
              <TextField label={w.amount} name="amount" inputMode="decimal" defaultValue={asked.get('amount') ?? ''} />
            </div>
            <div className="row">
              <Button kind="primary" type="submit">
                {w.filter}
              </Button>
              {query !== '' && (
                <Button kind="quiet" onClick={() => setAsked(new URLSearchParams())}>
                  {w.clear}
                </Button>
              )}
              {data && (
                <span className="muted" role="status">
                  {w.found(f.count(data.totalElements))}
                </span>
              )}
            </div>
          </form>
        </Card>
      </search>
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && data.result.length === 0 && <Empty title={w.noSales} />}
      {data && data.result.length > 0 && <SalesTable rows={data.result} />}
      {data && <Pagination page={page} pages={data.totalPages} onPage={turn} />}
    </div>
  )
}

const isKnown = (name: string): boolean => name === 'page' || (filters as readonly string[]).includes(name)

function SalesTable({ rows }: { readonly rows: readonly SaleRow[] }) {
  const w = useWords(words)
  const f = useFormats()
  return (
    <Table
      caption={w.sales}
      rows={rows}
      rowKey={({ uuid }) => uuid}
      columns={[
        { header: w.creation, cell: ({ creation }) => f.dateTime(creation) },
        {
          header: w.reference,
          cell: ({ uuid, referenceCode }) => <Link href={`/sales/${uuid}`}>{referenceCode}</Link>,
        },
        { header: w.shopper, cell: ({ shopper }) => shopper.name },
        { header: w.amount, number: true, cell: ({ amount }) => f.money(amount) },
        { header: w.situation, cell: ({ situation }) => <Badge tone={toneOf[situation]!}>{w[situation]}</Badge> },
      ]}
    />
  )
}
