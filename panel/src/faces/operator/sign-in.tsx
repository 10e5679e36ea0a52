import {
  api,
  Button,
  Card,
  Form,
  Frame,
  TextField,
  useAction,
  useForgetEverything,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { words } from './words.ts'

/** The token goes to the service once; what stays is a cookie that no script reads. */
export function SignIn() {
  const w = useWords(words)
  const forget = useForgetEverything()
  useTitle(w.signIn)
  const { run, busy, error } = useAction(async (form: FormData) => {
    await api('/operator/api/session', { method: 'POST', body: { token: String(form.get('token') ?? '').trim() } })
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
            <TextField
              label={w.token}
              hint={w.tokenHint}
              name="token"
              type="password"
              required
              autoComplete="off"
              error={isWrong ? w.wrongToken : undefined}
            />
          </Form>
        </Card>
      </div>
    </Frame>
  )
}
