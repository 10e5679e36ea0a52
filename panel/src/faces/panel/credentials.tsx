import { useState } from 'react'
import {
  api,
  Button,
  Card,
  CopyField,
  ErrorState,
  Facts,
  Form,
  Loading,
  Notice,
  TextField,
  useAction,
  useFaults,
  useFormats,
  useFormKey,
  useTitle,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { OverlapField, overlapOf, useCredentials } from './credential-facts.tsx'
import { words } from './words.ts'
import { accountWords } from './words-account.ts'

type Rotated = { readonly credentials: { readonly apiToken: string }; readonly previousTokenEndsAt: string }

export function Credentials() {
  const w = useWords(words)
  useTitle(w.credentials)
  return (
    <div className="stack">
      <h1>{w.credentials}</h1>
      <Token />
      <Password />
    </div>
  )
}

function Token() {
  const a = useWords(accountWords)
  const f = useFormats()
  const once = useFormKey()
  const { data, error, refetch } = useCredentials()
  const [fresh, setFresh] = useState<Rotated>()
  const rotate = useAction(async (form: FormData) => {
    const path = '/panel/api/v1.1/account/credentials/rotate'
    setFresh(await once((key) => api<Rotated>(path, { method: 'POST', body: { overlapHours: overlapOf(form) }, key })))
    await refetch()
  })
  if (data === undefined) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />
  return (
    <>
      <Card title={a.apiCredentials}>
        <CopyField label={a.apiKey} text={data.apiKey} />
        <Facts
          items={[
            [a.token, a.tokenHidden],
            [a.since, f.dateTime(data.rotatedAt)],
            [a.firstUsed, data.firstUsedAt === null ? a.neverUsed : f.dateTime(data.firstUsedAt)],
            [a.previousTokenEnds, data.previousTokenEndsAt && f.dateTime(data.previousTokenEndsAt)],
          ]}
        />
        <p className="small muted">{a.realTime}</p>
      </Card>
      <Card title={a.rotateToken}>
        <p className="muted">{a.rotationHint}</p>
        {fresh && (
          <Notice tone="good" alert>
            <strong>{a.shownOnce}</strong>
            <CopyField label={a.newToken} text={fresh.credentials.apiToken} />
            <p>{a.oldWorksUntil(f.dateTime(fresh.previousTokenEndsAt))}</p>
            <div className="row">
              <Button small onClick={() => setFresh(undefined)}>
                {a.copied}
              </Button>
            </div>
          </Notice>
        )}
        {!fresh && (
          <Form
            onSubmit={(form) => void rotate.run(form)}
            error={rotate.error}
            end={
              <Button kind="primary" type="submit" busy={rotate.busy}>
                {a.rotateToken}
              </Button>
            }
          >
            <OverlapField />
          </Form>
        )}
      </Card>
    </>
  )
}

function Password() {
  const a = useWords(accountWords)
  const say = useToast()
  const [changes, setChanges] = useState(0)
  const { run, busy, error } = useAction(async (form: FormData) => {
    // As it was typed: a blank may be part of it.
    const body = { currentPassword: form.get('currentPassword'), password: form.get('password') }
    await api('/panel/api/password', { method: 'PUT', body })
    setChanges((count) => count + 1)
    say(a.passwordChanged)
  })
  const fault = useFaults(error)
  return (
    <Card title={a.changePassword}>
      <p className="muted">{a.changePasswordHint}</p>
      <Form
        key={changes}
        onSubmit={(form) => void run(form)}
        error={error}
        shown={['currentPassword', 'password']}
        end={
          <Button type="submit" busy={busy}>
            {a.changePassword}
          </Button>
        }
      >
        <div className="grid">
          <TextField
            label={a.currentPassword}
            name="currentPassword"
            type="password"
            required
            autoComplete="current-password"
            error={fault('currentPassword')}
          />
          <TextField
            label={a.newPassword}
            name="password"
            type="password"
            required
            autoComplete="new-password"
            hint={a.newPasswordHint}
            error={fault('password')}
          />
        </div>
      </Form>
    </Card>
  )
}
