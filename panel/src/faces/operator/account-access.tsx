import { useState } from 'react'
import {
  api,
  Button,
  Card,
  Dialog,
  Form,
  TextField,
  useAction,
  useFaults,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { Shown } from './new-account.tsx'
import type { Account, Credentials } from './types.ts'
import { words } from './words.ts'

type SignInFormProps = { readonly account: Account; readonly onChanged: () => void }

/** What opens the merchant's panel. */
export function SignInForm({ account, onChanged }: SignInFormProps) {
  const w = useWords(words)
  const say = useToast()
  const [count, setCount] = useState(0)
  const { run, busy, error } = useAction(async (form: FormData) => {
    const body = { email: String(form.get('email') ?? '').trim(), password: String(form.get('password') ?? '') }
    await api(`/operator/api/accounts/${account.id}/sign-in`, { method: 'PUT', body })
    setCount((made) => made + 1)
    say(w.saved)
    onChanged()
  })
  const fault = useFaults(error)
  return (
    <Card title={w.panelSignIn}>
      <p className="small muted">{w.panelSignInHint}</p>
      <Form
        key={count}
        onSubmit={(form) => void run(form)}
        error={error}
        shown={['email', 'password']}
        end={
          <Button type="submit" busy={busy}>
            {w.save}
          </Button>
        }
      >
        <TextField
          label={w.email}
          name="email"
          type="email"
          required
          autoComplete="off"
          defaultValue={account.email ?? ''}
          error={fault('email')}
        />
        <TextField
          label={w.password}
          name="password"
          type="password"
          required
          autoComplete="new-password"
          error={fault('password')}
        />
      </Form>
    </Card>
  )
}

export function Rotation({ accountId }: { readonly accountId: string }) {
  const w = useWords(words)
  const [isOpen, setOpen] = useState(false)
  return (
    <Card title={w.credentials}>
      <p className="small muted">{w.rotateHint}</p>
      <div>
        <Button kind="danger" onClick={() => setOpen(true)}>
          {w.rotate}
        </Button>
      </div>
      <Dialog open={isOpen} title={w.rotate} onClose={() => setOpen(false)}>
        <RotationForm accountId={accountId} onClose={() => setOpen(false)} />
      </Dialog>
    </Card>
  )
}

function RotationForm({ accountId, onClose }: { readonly accountId: string; readonly onClose: () => void }) {
  const w = useWords(words)
  const [credentials, setCredentials] = useState<Credentials>()
  const { run, busy, error } = useAction(async (form: FormData) => {
    const path = `/operator/api/accounts/${accountId}/credentials/rotate` as const
    const body = { overlapHours: String(form.get('overlapHours') ?? '') }
    setCredentials((await api<{ credentials: Credentials }>(path, { method: 'POST', body })).credentials)
  })
  const fault = useFaults(error)
  if (credentials !== undefined) return <Shown credentials={credentials} onClose={onClose} />
  return (
    <Form
      onSubmit={(form) => void run(form)}
      error={error}
      shown={['overlapHours']}
      end={
        <Button kind="danger" type="submit" busy={busy}>
          {w.rotate}
        </Button>
      }
    >
      <TextField
        label={w.overlapHours}
        hint={w.overlapHoursHint}
        name="overlapHours"
        inputMode="numeric"
        required
        defaultValue="24"
        error={fault('overlapHours')}
      />
    </Form>
  )
}
