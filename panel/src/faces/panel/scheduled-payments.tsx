import { Link } from 'wouter'
import {
  FilterForm,
  List,
  Pagination,
  SelectField,
  TextField,
  useListAddress,
  useListing,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { OrderField, useChargeColumns, v } from './recurrence-parts.tsx'
import { chargeStates, type Results, type ScheduledRow } from './recurrence-types.ts'
import { words } from './words.ts'
import { recurrenceWords } from './words-recurrence.ts'

const names = ['status', 'initialDueDate', 'finalDueDate', 'sortBy', 'order'] as const

export function ScheduledPayments() {
  const w = useWords(recurrenceWords)
  const both = useWords(words)
  useTitle(both.scheduled)
  const address = useListAddress(names, 0)
  const columns = useChargeColumns<ScheduledRow>()
  const { data, error, refetch } = useListing<Results<ScheduledRow>>(`${v}/scheduled-payments`, address, [
    'recurrence',
    'sales',
  ])
  return (
    <div className="stack">
      <h1>{both.scheduled}</h1>
      <FilterForm address={address} found={data?.totalElements}>
        <SelectField
          label={w.state}
          name="status"
          defaultValue={address.of('status')}
          options={[['', both.anySituation], ...chargeStates.map((one) => [one, w[one]] as const)]}
        />
        <TextField label={w.dueFrom} name="initialDueDate" type="date" defaultValue={address.of('initialDueDate')} />
        <TextField label={w.dueTo} name="finalDueDate" type="date" defaultValue={address.of('finalDueDate')} />
        <SelectField
          label={w.sort}
          name="sortBy"
          defaultValue={address.of('sortBy')}
          options={[
            ['', w.newest],
            ['dueDate', both.dueDate],
          ]}
        />
        <OrderField address={address} />
      </FilterForm>
      <List
        rows={data?.results}
        error={error}
        onRetry={() => void refetch()}
        none={w.noScheduled}
        caption={both.scheduled}
        rowKey={({ instructionId }) => instructionId}
        columns={[
          ...columns,
          {
            header: w.mandate,
            cell: ({ authorization }) => <Link href={`/mandates/${authorization.idRec}`}>{authorization.idRec}</Link>,
          },
        ]}
      />
      {data && <Pagination page={address.page} pages={data.totalPages} onPage={address.turn} />}
    </div>
  )
}
