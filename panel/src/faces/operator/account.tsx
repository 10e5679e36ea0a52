import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useParams } from 'wouter'
import {
  api,
  Back,
  Badge,
  Button,
  Card,
  Confirm,
  Detail,
  Facts,
  FormError,
  useAction,
  useFormats,
  useTitle,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { Rotation, SignInForm } from './account-access.tsx'
import { Recipients } from './account-recipients.tsx'
import { Settings } from './account-settings.tsx'
import { type Account, type Status, toneOf } from './types.ts'
import { words } from './words.ts'

export function AccountPage() {
  const { id = '' } = useParams<{ id: string }>()
  const w = useWords(words)
  const queries = useQueryClient()
  const queryKey = ['account', id]
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => api<{ account: Account }>(`/operator/api/accounts/${encodeURIComponent(id)}`, { signal }),
  })
  useTitle(query.data?.account.name ?? w.account)
  const change = async (body: unknown) => {
    const path = `/operator/api/accounts/${encodeURIComponent(id)}` as const
    queries.setQueryData(queryKey, await api<{ account: Account }>(path, { method: 'PATCH', body }))
  }
  return (
    <Detail back={<Back href="/">{w.allAccounts}</Back>} title={w.account} query={query}>
      {({ account }) => (
        <>
          <div className="row-apart">
            <h1>{account.name}</h1>
            <Badge tone={toneOf[account.status]}>{w[account.status]}</Badge>
          </div>
          <Identity account={account} change={change} />
          <Settings account={account} change={change} />
          <Recipients accountId={account.id} />
          <div className="grid">
            <SignInForm account={account} onChanged={() => void query.refetch()} />
            <Rotation accountId={account.id} />
          </div>
        </>
      )}
    </Detail>
  )
}

type IdentityProps = { readonly account: Account; readonly change: (body: unknown) => Promise<void> }

function Identity({ account, change }: IdentityProps) {
  const w = useWords(words)
  const f = useFormats()
  const hours = account.clockOffsetSeconds / 3_600
  return (
    <Card title={w.account}>
      <Facts
        items={[
          [w.id, <code key="id">{account.id}</code>],
          [w.number, account.number],
          [w.email, account.email],
          [w.document, account.document],
          [w.creation, f.dateTime(account.creation)],
          [w.clockAhead, hours === 0 ? undefined : w.hours(f.count(Math.round(hours)))],
        ]}
      />
      <StatusButtons account={account} change={change} />
    </Card>
  )
}

const verbs = { ACTIVE: 'activate', SUSPENDED: 'suspend', CLOSED: 'close' } as const
const sures = { ACTIVE: 'activateSure', SUSPENDED: 'suspendSure', CLOSED: 'closeSure' } as const

function StatusButtons({ account, change }: IdentityProps) {
  const w = useWords(words)
  const say = useToast()
  const [asking, setAsking] = useState<Status>()
  const { run, busy, error, clear } = useAction(async (status: Status) => {
    await change({ status })
    setAsking(undefined)
    say(w.saved)
  })
  const others = (['ACTIVE', 'SUSPENDED', 'CLOSED'] as const).filter((status) => status !== account.status)
  const close = () => {
    setAsking(undefined)
    clear()
  }
  return (
    <div className="row">
      {others.map((status) => (
        <Button key={status} kind={status === 'ACTIVE' ? 'secondary' : 'danger'} onClick={() => setAsking(status)}>
          {w[verbs[status]]}
        </Button>
      ))}
      {asking !== undefined && (
        <Confirm
          open
          title={w[verbs[asking]]}
          action={w[verbs[asking]]}
          danger={asking !== 'ACTIVE'}
          busy={busy}
          onClose={close}
          onConfirm={() => void run(asking)}
        >
          <p>{w[sures[asking]]}</p>
          <FormError error={error} />
        </Confirm>
      )}
    </div>
  )
}
