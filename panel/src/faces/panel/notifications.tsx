import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  api,
  Button,
  Card,
  CheckField,
  ErrorState,
  Form,
  FormError,
  Loading,
  TextField,
  typed,
  useAction,
  useFaults,
  useTitle,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { Deliveries } from './delivery.tsx'
import { WebhookSecret } from './webhook-secret.tsx'
import { words } from './words.ts'
import { accountWords } from './words-account.ts'

const groups = ['payment', 'reversal', 'refund', 'payout'] as const
type Group = (typeof groups)[number]
/** Payments have no switch: an address is one. */
type Place = { readonly url: string | null; readonly enabled?: boolean }
type Places = Readonly<Record<Group, Place>>

const path = '/panel/api/v1.1/account/notifications'

export function Notifications() {
  const w = useWords(words)
  const a = useWords(accountWords)
  useTitle(w.notifications)
  const { data, error, refetch } = useQuery({
    queryKey: ['notifications'],
    queryFn: async ({ signal }): Promise<Places> => {
      // The secret comes along; it is not kept where nobody asked for it.
      const { payment, reversal, refund, payout } = await api<Places>('/panel/api/notifications/settings', { signal })
      return { payment, reversal, refund, payout }
    },
  })
  return (
    <div className="stack">
      <h1>{w.notifications}</h1>
      <p className="muted">{a.notificationsHint}</p>
      {data === undefined && (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />)}
      {data &&
        groups.map((group) => (
          <PlaceCard key={group} group={group} place={data[group]} onSaved={() => void refetch()} />
        ))}
      <WebhookSecret />
    </div>
  )
}

type PlaceProps = { readonly group: Group; readonly place: Place; readonly onSaved: () => void }

function PlaceCard({ group, place, onSaved }: PlaceProps) {
  const a = useWords(accountWords)
  const say = useToast()
  const hasSwitch = place.enabled !== undefined
  const { run, busy, error } = useAction(async (form: FormData) => {
    const url = typed(form, 'url') ?? null
    const sent = hasSwitch ? { url, enabled: form.get('enabled') !== null } : { url }
    await api(path, { method: 'PUT', body: { [group]: sent } })
    say(a.saved)
    onSaved()
  })
  const fault = useFaults(error)
  return (
    <Card title={a[group]}>
      <Form
        onSubmit={(form) => void run(form)}
        error={error}
        shown={[`${group}.url`]}
        end={
          <Button kind="primary" type="submit" busy={busy} aria-label={`${a.save}: ${a[group]}`}>
            {a.save}
          </Button>
        }
      >
        <TextField
          label={a.address}
          name="url"
          type="url"
          autoComplete="off"
          hint={a.addressHint}
          defaultValue={place.url ?? ''}
          error={fault(`${group}.url`)}
        />
        {hasSwitch && <CheckField label={a.enabled} name="enabled" defaultChecked={place.enabled ?? false} />}
      </Form>
      <SendTest group={group} />
    </Card>
  )
}

/** A real notification to the saved address; what was sent and what came back stand side by side. */
function SendTest({ group }: { readonly group: Group }) {
  const a = useWords(accountWords)
  const say = useToast()
  const [sent, setSent] = useState<string>()
  const { run, busy, error } = useAction(async () => {
    const path = '/panel/api/notifications/test'
    const { transactionUUID } = await api<{ transactionUUID: string }>(path, { method: 'POST', body: { group } })
    setSent(transactionUUID)
    say(a.testSent)
  })
  const fault = useFaults(error)
  const told = fault(`${group}.url`)
  return (
    <div className="stack-tight">
      <div className="row">
        <Button busy={busy} aria-label={a.sendTestTo(a[group])} onClick={() => void run()}>
          {a.sendTest}
        </Button>
        <span className="small muted">{a.testHint}</span>
      </div>
      {told && (
        <p className="field-error" role="alert">
          {told}
        </p>
      )}
      {!told && <FormError error={error} />}
      {sent && (
        <section aria-label={a.testResult} aria-live="polite">
          <Deliveries of={sent} none={a.testWaits} open />
        </section>
      )}
    </div>
  )
}
