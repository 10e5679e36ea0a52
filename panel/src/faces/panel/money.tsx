import { Link } from 'wouter'
import {
  ButtonLink,
  Card,
  Empty,
  ErrorState,
  FilterForm,
  type ListAddress,
  Loading,
  Pagination,
  Stat,
  Table,
  TextField,
  useFormats,
  useListAddress,
  useListing,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { useBalance } from './balance.ts'
import type { Page } from './sale-types.ts'
import { words } from './words.ts'
import { type LineName, lineWords, moneyWords } from './words-money.ts'

type Line = {
  readonly id: number
  readonly date: string
  readonly type: string
  /** Of the sale or the payout that it belongs to. */
  readonly saleToken: string
  readonly amount: number
  readonly balance: number
}

const filters = ['initialDate', 'finalDate'] as const
const PAGE_SIZE = 25

export function Money() {
  const w = useWords(words)
  useTitle(w.money)
  return (
    <div className="stack">
      <h1>{w.money}</h1>
      <Balances />
      <Statement />
    </div>
  )
}

function Balances() {
  const w = useWords(words)
  const m = useWords(moneyWords)
  const f = useFormats()
  const { data, error, refetch } = useBalance()
  if (data === undefined) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />
  return (
    <div className="grid" role="status">
      <Stat label={w.available} value={f.money(data.available)} />
      <Stat label={m.held} value={f.money(data.blocked)} hint={m.heldHint} />
      <Stat label={m.total} value={f.money(data.balance)} />
    </div>
  )
}

function Statement() {
  const m = useWords(moneyWords)
  const address = useListAddress(filters)
  const { data, error, refetch } = useListing<Page<Line>>(
    `/panel/api/v1.1/statement?maxPageResults=${PAGE_SIZE}`,
    address,
    ['money'],
  )
  return (
    <Card title={m.statement} aside={<Export address={address} />}>
      <Days address={address} />
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && data.result.length === 0 && <Empty title={m.noLines} />}
      {data && data.result.length > 0 && <Lines lines={data.result} />}
      {data && <Pagination page={address.page} pages={data.totalPages} onPage={address.turn} />}
    </Card>
  )
}

type AddressProps = { readonly address: ListAddress }

/** The days that are shown, all their pages. */
function Export({ address }: AddressProps) {
  const m = useWords(moneyWords)
  const days = new URLSearchParams(
    filters.map((name) => [name, address.of(name)]).filter(([, value]) => value !== '') as string[][],
  )
  return (
    <ButtonLink small href={`/panel/api/statement.csv?${days}`} download="statement.csv">
      {m.exportCsv}
    </ButtonLink>
  )
}

function Days({ address }: AddressProps) {
  const w = useWords(words)
  return (
    <FilterForm address={address} bare>
      <TextField label={w.initialDate} name="initialDate" type="date" defaultValue={address.of('initialDate')} />
      <TextField label={w.finalDate} name="finalDate" type="date" defaultValue={address.of('finalDate')} />
    </FilterForm>
  )
}

function Lines({ lines }: { readonly lines: readonly Line[] }) {
  const w = useWords(words)
  const m = useWords(moneyWords)
  const names = useWords(lineWords)
  const f = useFormats()
  return (
    <Table
      caption={m.statement}
      rows={lines}
      rowKey={({ id }) => String(id)}
      columns={[
        { header: m.date, cell: ({ date }) => f.dateTime(date) },
        { header: m.kind, cell: ({ type }) => names[type as LineName] ?? type },
        { header: m.of, cell: (line) => <Source line={line} /> },
        { header: w.amount, number: true, cell: ({ amount }) => f.money(amount) },
        { header: m.after, number: true, cell: ({ balance }) => f.money(balance) },
      ]}
    />
  )
}

/** A payment that could not go back may belong to no sale at all. */
function Source({ line }: { readonly line: Line }) {
  const m = useWords(moneyWords)
  if (line.type.startsWith('PAYOUT')) return <Link href={`/payouts/${line.saleToken}`}>{m.seePayout}</Link>
  if (line.type === 'REVERSAL' || line.type === 'ADJUSTMENT') return '–'
  return <Link href={`/sales/${line.saleToken}`}>{m.seeSale}</Link>
}
