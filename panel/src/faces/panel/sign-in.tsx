import { isSandbox, SignInPage, TextField, typed, useWords } from '../../kit/index.ts'
import { words } from './words.ts'

/** Blanks around a password are part of it. */
const bodyFrom = (form: FormData) => ({
  email: typed(form, 'email') ?? '',
  password: String(form.get('password') ?? ''),
})

export function SignIn() {
  const w = useWords(words)
  const register = isSandbox() && (
    <p>
      {w.noAccount} <a href="/register">{w.register}</a>
    </p>
  )
  return (
    <SignInPage face="panel" title={w.title} bodyFrom={bodyFrom} end={register}>
      {(isWrong) => (
        <>
          <TextField label={w.email} name="email" type="email" required autoComplete="username" />
          <TextField
            label={w.password}
            name="password"
            type="password"
            required
            autoComplete="current-password"
            error={isWrong ? w.wrongPassword : undefined}
          />
        </>
      )}
    </SignInPage>
  )
}
