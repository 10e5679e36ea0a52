import { Link } from 'wouter'
import {
  Badge,
  ButtonLink,
  FilterForm,
  List,
  Pagination,
  SelectField,
  TextField,
  useFormats,
  useListAddress,
  useListing,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { type Page, type SaleRow, toneOf } from './sale-types.ts'
import { words } from './words.ts'

const filters = ['search', 'situation', 'initialDate', 'finalDate', 'amount'] as const

export function Sales() {
  const w = useWords(words)
  const f = useFormats()
  useTitle(w.sales)
  const address = useListAddress(filters)
  const { data, error, refetch } = useListing<Page<SaleRow>>('/panel/api/sales', address, ['sales', 'money'])
  return (
    <div className="stack">
      <div className="row-apart">
        <h1>{w.sales}</h1>
        <Link href="/sales/new" asChild>
          <ButtonLink href="/sales/new" kind="primary">
            {w.newSale}
          </ButtonLink>
        </Link>
      </div>
      <FilterForm address={address} found={data?.totalElements}>
        <TextField
          label={w.search}
          name="search"
          type="search"
          hint={w.searchHint}
          maxLength={100}
          defaultValue={address.of('search')}
        />
        <SelectField
          label={w.situation}
          name="situation"
          defaultValue={address.of('situation')}
          options={[
            ['', w.anySituation],
            ['PENDING', w.PENDING],
            ['PAID', w.PAID],
            ['CANCELLED', w.CANCELLED],
          ]}
        />
        <TextField label={w.initialDate} name="initialDate" type="date" defaultValue={address.of('initialDate')} />
        <TextField label={w.finalDate} name="finalDate" type="date" defaultValue={address.of('finalDate')} />
        <TextField label={w.amount} name="amount" inputMode="decimal" defaultValue={address.of('amount')} />
      </FilterForm>
      <List
        rows={data?.result}
        error={error}
        onRetry={() => void refetch()}
        none={w.noSales}
        caption={w.sales}
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
      {data && <Pagination page={address.page} pages={data.totalPages} onPage={address.turn} />}
    </div>
  )
}
