import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import {
  Badge,
  Button,
  Card,
  Dialog,
  SelectField,
  Table,
  TextField,
  useFormats,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { Listed, useListing } from './listing.tsx'
import { NewAccount } from './new-account.tsx'
import { type Account, toneOf } from './types.ts'
import { words } from './words.ts'

const filters = ['search', 'status'] as const

export function Accounts() {
  const w = useWords(words)
  const f = useFormats()
  useTitle(w.accounts)
  const [isMaking, setMaking] = useState(false)
  const list = useListing<Account>('/accounts', filters)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    list.filter(filters.map((name) => [name, String(form.get(name) ?? '').trim()]))
  }
  const close = () => {
    setMaking(false)
    void list.refetch()
  }
  return (
    <div className="stack">
      <div className="row-apart">
        <h1>{w.accounts}</h1>
        <Button onClick={() => setMaking(true)}>{w.newAccount}</Button>
      </div>
      <search>
        <Card>
          <form className="stack" onSubmit={submit} key={`${list.asked.get('search')} ${list.asked.get('status')}`}>
            <div className="grid">
              <TextField
                label={w.search}
                name="search"
                type="search"
                hint={w.searchHint}
                maxLength={100}
                defaultValue={list.asked.get('search') ?? ''}
              />
              <SelectField
                label={w.status}
                name="status"
                defaultValue={list.asked.get('status') ?? ''}
                options={[
                  ['', w.anyStatus],
                  ['ACTIVE', w.ACTIVE],
                  ['SUSPENDED', w.SUSPENDED],
                  ['CLOSED', w.CLOSED],
                ]}
              />
            </div>
            <div className="row">
              <Button kind="primary" type="submit">
                {w.find}
              </Button>
              {list.isFiltered && (
                <Button kind="quiet" onClick={() => list.filter([])}>
                  {w.clear}
                </Button>
              )}
              {list.data && (
                <span className="muted" role="status">
                  {w.found(f.count(list.data.totalElements))}
                </span>
              )}
            </div>
          </form>
        </Card>
      </search>
      <Listed list={list} empty={w.noAccounts}>
        {(rows) => <AccountsTable rows={rows} />}
      </Listed>
      <Dialog open={isMaking} title={w.newAccount} onClose={close}>
        <NewAccount onClose={close} />
      </Dialog>
    </div>
  )
}

function AccountsTable({ rows }: { readonly rows: readonly Account[] }) {
  const w = useWords(words)
  const f = useFormats()
  return (
    <Table
      caption={w.accounts}
      rows={rows}
      rowKey={({ id }) => id}
      columns={[
        { header: w.name, cell: ({ id, name }) => <Link href={`/accounts/${id}`}>{name}</Link> },
        { header: w.number, number: true, cell: ({ number }) => number },
        { header: w.email, cell: ({ email }) => email ?? '–' },
        { header: w.creation, cell: ({ creation }) => f.dateTime(creation) },
        { header: w.status, cell: ({ status }) => <Badge tone={toneOf[status]}>{w[status]}</Badge> },
      ]}
    />
  )
}
