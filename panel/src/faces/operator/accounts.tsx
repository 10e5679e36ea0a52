import { useState } from 'react'
import { Link } from 'wouter'
import {
  Badge,
  Button,
  Dialog,
  FilterForm,
  List,
  Pagination,
  SelectField,
  TextField,
  useFormats,
  useListAddress,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { useOperatorListing } from './listing.ts'
import { NewAccount } from './new-account.tsx'
import { type Account, toneOf } from './types.ts'
import { words } from './words.ts'

const filters = ['search', 'status'] as const

export function Accounts() {
  const w = useWords(words)
  const f = useFormats()
  useTitle(w.accounts)
  const [isMaking, setMaking] = useState(false)
  const address = useListAddress(filters)
  const { data, error, refetch } = useOperatorListing<Account>('/accounts', address)
  const close = () => {
    setMaking(false)
    void refetch()
  }
  return (
    <div className="stack">
      <div className="row-apart">
        <h1>{w.accounts}</h1>
        <Button onClick={() => setMaking(true)}>{w.newAccount}</Button>
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
          label={w.status}
          name="status"
          defaultValue={address.of('status')}
          options={[
            ['', w.anyStatus],
            ['ACTIVE', w.ACTIVE],
            ['SUSPENDED', w.SUSPENDED],
            ['CLOSED', w.CLOSED],
          ]}
        />
      </FilterForm>
      <List
        rows={data?.result}
        error={error}
        onRetry={() => void refetch()}
        none={w.noAccounts}
        caption={w.accounts}
        rowKey={({ id }) => id}
        columns={[
          { header: w.name, cell: ({ id, name }) => <Link href={`/accounts/${id}`}>{name}</Link> },
          { header: w.number, number: true, cell: ({ number }) => number },
          { header: w.email, cell: ({ email }) => email ?? '–' },
          { header: w.creation, cell: ({ creation }) => f.dateTime(creation) },
          { header: w.status, cell: ({ status }) => <Badge tone={toneOf[status]}>{w[status]}</Badge> },
        ]}
      />
      {data && <Pagination page={address.page} pages={data.totalPages} onPage={address.turn} />}
      <Dialog open={isMaking} title={w.newAccount} onClose={close}>
        <NewAccount onClose={close} />
      </Dialog>
    </div>
  )
}
