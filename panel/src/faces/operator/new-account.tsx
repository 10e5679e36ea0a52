import { useState } from 'react'
import { api, Button, CopyField, Form, Notice, TextField, useAction, useFaults, useWords } from '../../kit/index.ts'
import type { Credentials } from './types.ts'
import { words } from './words.ts'

const fields = ['name', 'email', 'document'] as const

export function NewAccount({ onClose }: { readonly onClose: () => void }) {
  const w = useWords(words)
  const [credentials, setCredentials] = useState<Credentials>()
  const { run, busy, error } = useAction(async (form: FormData) => {
    const filled = fields.map((name) => [name, String(form.get(name) ?? '').trim()])
    const body = Object.fromEntries(filled.filter(([, value]) => value !== ''))
    const made = await api<{ credentials: Credentials }>('/operator/api/accounts', { method: 'POST', body })
    setCredentials(made.credentials)
  })
  const fault = useFaults(error)
  if (credentials !== undefined) return <Shown credentials={credentials} onClose={onClose} />
  return (
    <Form
      onSubmit={(form) => void run(form)}
      error={error}
      shown={fields}
      end={
        <Button kind="primary" type="submit" busy={busy}>
          {w.create}
        </Button>
      }
    >
      <TextField label={w.name} name="name" required maxLength={100} error={fault('name')} />
      <TextField label={w.email} name="email" type="email" autoComplete="off" error={fault('email')} />
      <TextField label={w.document} name="document" inputMode="numeric" error={fault('document')} />
    </Form>
  )
}

/** Shown once: kept by nothing but this page while it stands open. */
export function Shown({ credentials, onClose }: { readonly credentials: Credentials; readonly onClose: () => void }) {
  const w = useWords(words)
  return (
    <div className="stack">
      <Notice tone="waiting" alert>
        {w.once}
      </Notice>
      <CopyField label="x-api-key" text={credentials.apiKey} />
      <CopyField label="x-api-token" text={credentials.apiToken} />
      {credentials.webhookSecret !== undefined && <CopyField label="webhookSecret" text={credentials.webhookSecret} />}
      <div>
        <Button onClick={onClose}>{w.done}</Button>
      </div>
    </div>
  )
}
