import type { FormEvent } from 'react'
import {
  api,
  Button,
  Card,
  FormError,
  Frame,
  isSandbox,
  TextField,
  useAction,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { useForgetEverything } from './session.ts'
import { words } from './words.ts'

export function SignIn() {
  const w = useWords(words)
  const forget = useForgetEverything()
  useTitle(w.signIn)
  const { run, busy, error } = useAction(async (form: FormData) => {
    const body = { email: String(form.get('email') ?? '').trim(), password: String(form.get('password') ?? '') }
    await api('/panel/api/session', { method: 'POST', body })
    await forget()
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    void run(new FormData(event.currentTarget))
  }
  const isWrong = error?.http === 401 || error?.http === 400
  return (
    <Frame narrow title={w.title}>
      <div className="stack">
        <h1>{w.signIn}</h1>
        <Card>
          <form className="stack" onSubmit={submit} noValidate>
            <TextField label={w.email} name="email" type="email" required autoComplete="username" />
            <TextField
              label={w.password}
              name="password"
              type="password"
              required
              autoComplete="current-password"
              error={isWrong ? w.wrongPassword : undefined}
            />
            {!isWrong && <FormError error={error} />}
            <Button kind="primary" type="submit" busy={busy}>
              {w.signIn}
            </Button>
          </form>
        </Card>
        {isSandbox() && (
          <p>
            {w.noAccount} <a href="/register">{w.register}</a>
          </p>
        )}
      </div>
    </Frame>
  )
}
