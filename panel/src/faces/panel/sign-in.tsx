import {
  api,
  Button,
  Card,
  Form,
  Frame,
  isSandbox,
  TextField,
  useAction,
  useForgetEverything,
  useTitle,
  useWords,
} from '../../kit/index.ts'
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
  const isWrong = error?.http === 401 || error?.http === 400
  return (
    <Frame narrow title={w.title}>
      <div className="stack">
        <h1>{w.signIn}</h1>
        <Card>
          <Form
            onSubmit={(form) => void run(form)}
            error={isWrong ? undefined : error}
            end={
              <Button kind="primary" type="submit" busy={busy}>
                {w.signIn}
              </Button>
            }
          >
            <TextField label={w.email} name="email" type="email" required autoComplete="username" />
            <TextField
              label={w.password}
              name="password"
              type="password"
              required
              autoComplete="current-password"
              error={isWrong ? w.wrongPassword : undefined}
            />
          </Form>
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
