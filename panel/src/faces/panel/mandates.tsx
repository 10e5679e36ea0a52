import { Link } from 'wouter'
import {
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
import { MandateBadge, OrderField, v } from './recurrence-parts.tsx'
import { type MandateRow, mandateStates, type Results } from './recurrence-types.ts'
import { words } from './words.ts'
import { recurrenceWords } from './words-recurrence.ts'

const names = ['situation', 'payerName', 'initialDate', 'finalDate', 'sortBy', 'order'] as const

export function Mandates() {
  const w = useWords(recurrenceWords)
  const both = useWords(words)
  const f = useFormats()
  useTitle(both.mandates)
  const address = useListAddress(names, 0)
  const { data, error, refetch } = useListing<Results<MandateRow>>(`${v}/authorizations`, address, ['recurrence'])
  return (
    <div className="stack">
      <div className="row-apart">
        <h1>{both.mandates}</h1>
        <Link href="/mandates/new" asChild>
          <ButtonLink href="/mandates/new" kind="primary">
            {w.newMandate}
          </ButtonLink>
        </Link>
      </div>
      <FilterForm address={address} found={data?.totalElements}>
        <TextField
          label={w.payer}
          name="payerName"
          type="search"
          maxLength={255}
          hint={w.payerHint}
          defaultValue={address.of('payerName')}
        />
        <SelectField
          label={w.state}
          name="situation"
          defaultValue={address.of('situation')}
          options={[['', both.anySituation], ...mandateStates.map((one) => [one, w[one]] as const)]}
        />
        <TextField label={w.fromDay} name="initialDate" type="date" defaultValue={address.of('initialDate')} />
        <TextField label={w.toDay} name="finalDate" type="date" defaultValue={address.of('finalDate')} />
        <SelectField
          label={w.sort}
          name="sortBy"
          defaultValue={address.of('sortBy')}
          options={[
            ['', w.lastChanged],
            ['creation', w.newest],
            ['payerName', w.byName],
          ]}
        />
        <OrderField address={address} />
      </FilterForm>
      <List
        rows={data?.results}
        error={error}
        onRetry={() => void refetch()}
        none={w.noMandates}
        caption={both.mandates}
        rowKey={({ idRec }) => idRec}
        columns={[
          { header: both.creation, cell: ({ creation }) => f.dateTime(creation) },
          { header: w.payer, cell: ({ idRec, payer }) => <Link href={`/mandates/${idRec}`}>{payer.name}</Link> },
          {
            header: w.plan,
            cell: ({ contract, periodicity }) => (
              <>
                <Link href={`/plans/${contract.id}`}>{contract.description}</Link> · {w[periodicity]}
              </>
            ),
          },
          { header: both.amount, number: true, cell: ({ amount }) => f.money(amount) },
          {
            header: w.nextDate,
            cell: ({ nextRecurrenceDate: next }) => (next === null ? w.nothingNext : f.date(next)),
          },
          { header: w.state, cell: ({ status }) => <MandateBadge state={status} /> },
        ]}
      />
      {data && <Pagination page={address.page} pages={data.totalPages} onPage={address.turn} />}
    </div>
  )
}
