import { useState } from 'react'
import { Link } from 'wouter'
import {
  api,
  Badge,
  Button,
  Card,
  CopyField,
  Form,
  FormError,
  isSandbox,
  Listed,
  Notice,
  Pagination,
  Table,
  TextField,
  typed,
  useAction,
  useFaults,
  useFormKey,
  useListAddress,
  useListing,
  useTitle,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { useSettings } from './account-settings.ts'
import type { Page } from './sale-types.ts'
import { words } from './words.ts'
import { moneyWords } from './words-money.ts'

type Recipient = {
  readonly recipientId: string
  readonly name: string
  readonly document: string | null
  readonly status: 'ACTIVE' | 'INACTIVE'
}
type Made = {
  readonly recipient: Recipient
  readonly credentials: { readonly apiKey: string; readonly apiToken: string; readonly webhookSecret: string }
}

const path = '/panel/api/v1.1/sandbox/recipients'

export function Recipients() {
  const w = useWords(words)
  const m = useWords(moneyWords)
  useTitle(w.recipients)
  const address = useListAddress([])
  const { data, error, refetch } = useListing<Page<Recipient>>('/panel/api/recipients', address)
  const onChanged = () => void refetch()
  return (
    <div className="stack">
      <h1>{w.recipients}</h1>
      <p className="muted">{m.recipientsHint}</p>
      {isSandbox() ? <SplitOff /> : <Notice>{m.recipientsByOperator}</Notice>}
      <Listed rows={data?.result} error={error} onRetry={onChanged} none={m.noRecipients}>
        {(recipients) => <Linked recipients={recipients} onChanged={onChanged} />}
      </Listed>
      {data && <Pagination page={address.page} pages={data.totalPages} onPage={address.turn} />}
      {isSandbox() && <NewRecipient onMade={onChanged} />}
    </div>
  )
}

function SplitOff() {
  const m = useWords(moneyWords)
  const { data } = useSettings()
  if (data === undefined || data.splitEnabled) return null
  return (
    <Notice tone="waiting">
      <p>
        {m.splitOff} <Link href="/settings">{m.splitTurnOn}</Link>
      </p>
    </Notice>
  )
}

type ListProps = { readonly recipients: readonly Recipient[]; readonly onChanged: () => void }

function Linked({ recipients, onChanged }: ListProps) {
  const w = useWords(words)
  const m = useWords(moneyWords)
  const say = useToast()
  const { run, busy, error } = useAction(async ({ recipientId, name, status }: Recipient) => {
    const active = status === 'INACTIVE'
    await api(`${path}/${recipientId}`, { method: 'PUT', body: { active } })
    say(active ? m.recipientOn(name) : m.recipientOff(name))
    onChanged()
  })
  const toggle = (recipient: Recipient) => {
    const text = recipient.status === 'ACTIVE' ? m.deactivate : m.activate
    return (
      <Button small busy={busy} aria-label={`${text}: ${recipient.name}`} onClick={() => void run(recipient)}>
        {text}
      </Button>
    )
  }
  return (
    <>
      <Table
        caption={w.recipients}
        rows={recipients}
        rowKey={({ recipientId }) => recipientId}
        columns={[
          { header: m.name, cell: ({ name }) => name },
          { header: m.document, cell: ({ document }) => document ?? '–' },
          { header: 'recipientId', cell: ({ recipientId }) => <code>{recipientId}</code> },
          {
            header: m.state,
            cell: ({ status }) => <Badge tone={status === 'ACTIVE' ? 'good' : 'neutral'}>{m[status]}</Badge>,
          },
          ...(isSandbox() ? [{ header: w.actions, cell: toggle }] : []),
        ]}
      />
      <FormError error={error} />
    </>
  )
}

function NewRecipient({ onMade }: { readonly onMade: () => void }) {
  const m = useWords(moneyWords)
  const once = useFormKey()
  const [made, setMade] = useState<Made>()
  const { run, busy, error } = useAction(async (form: FormData) => {
    const body = { name: typed(form, 'name'), document: typed(form, 'document') }
    setMade(await once((key) => api<Made>(path, { method: 'POST', body, key })))
    onMade()
  })
  const fault = useFaults(error)
  return (
    <Card title={m.newRecipient}>
      <p className="muted">{m.newRecipientHint}</p>
      <Form
        key={made?.recipient.recipientId}
        onSubmit={(form) => void run(form)}
        error={error}
        shown={['name', 'document']}
        end={
          <Button kind="primary" type="submit" busy={busy}>
            {m.addRecipient}
          </Button>
        }
      >
        <div className="grid">
          <TextField label={m.name} name="name" required maxLength={100} error={fault('name')} />
          <TextField label={m.document} name="document" maxLength={25} error={fault('document')} />
        </div>
      </Form>
      {made && (
        <Notice tone="good" alert>
          <strong>{m.recipientMade(made.recipient.name)}</strong>
          <p>{m.recipientCredentials}</p>
          <CopyField label="recipientId" text={made.recipient.recipientId} />
          <CopyField label="x-api-key" text={made.credentials.apiKey} />
          <CopyField label="x-api-token" text={made.credentials.apiToken} />
          <CopyField label="webhookSecret" text={made.credentials.webhookSecret} />
        </Notice>
      )}
    </Card>
  )
}
