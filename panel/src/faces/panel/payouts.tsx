import { Link } from 'wouter'
import {
  Badge,
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
import { type PayoutRow, payoutStates } from './payout-types.ts'
import { type Page, toneOf } from './sale-types.ts'
import { words } from './words.ts'
import { moneyWords } from './words-money.ts'

const filters = ['referenceCode', 'situation', 'initialDate', 'finalDate', 'amount'] as const
const list = '/panel/api/v1.1/transactions?type=PAYOUT&maxPageResults=25'

export function Payouts() {
  const w = useWords(words)
  const m = useWords(moneyWords)
  const f = useFormats()
  useTitle(w.payouts)
  const address = useListAddress(filters)
  const { data, error, refetch } = useListing<Page<PayoutRow>>(list, address, ['money'])
  return (
    <div className="stack">
      <div className="row-apart">
        <h1>{w.payouts}</h1>
        <Link className="button button-primary" href="/payouts/new">
          {m.newPayout}
        </Link>
      </div>
      <FilterForm address={address} found={data?.totalElements}>
        <TextField
          label={w.reference}
          name="referenceCode"
          maxLength={100}
          defaultValue={address.of('referenceCode')}
        />
        <SelectField
          label={w.situation}
          name="situation"
          defaultValue={address.of('situation')}
          options={[['', w.anySituation], ...payoutStates.map((state) => [state, w[state]] as const)]}
        />
        <TextField label={w.initialDate} name="initialDate" type="date" defaultValue={address.of('initialDate')} />
        <TextField label={w.finalDate} name="finalDate" type="date" defaultValue={address.of('finalDate')} />
        <TextField label={w.amount} name="amount" inputMode="decimal" defaultValue={address.of('amount')} />
      </FilterForm>
      <List
        rows={data?.result}
        error={error}
        onRetry={() => void refetch()}
        none={m.noPayouts}
        caption={w.payouts}
        rowKey={({ uuid }) => uuid}
        columns={[
          { header: w.creation, cell: ({ creation }) => f.dateTime(creation) },
          {
            header: w.reference,
            cell: ({ uuid, referenceCode }) => <Link href={`/payouts/${uuid}`}>{referenceCode}</Link>,
          },
          { header: w.amount, number: true, cell: ({ amount }) => f.money(amount) },
          { header: m.withFee, number: true, cell: ({ total }) => f.money(total) },
          { header: w.situation, cell: ({ situation }) => <Badge tone={toneOf[situation]!}>{w[situation]}</Badge> },
        ]}
      />
      {data && <Pagination page={address.page} pages={data.totalPages} onPage={address.turn} />}
    </div>
  )
}
