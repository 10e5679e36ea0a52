import { SignInPage, TextField, typed, useWords } from '../../kit/index.ts'
import { words } from './words.ts'

const bodyFrom = (form: FormData) => ({ token: typed(form, 'token') ?? '' })

export function SignIn() {
  const w = useWords(words)
  return (
    <SignInPage face="operator" title={w.title} bodyFrom={bodyFrom}>
      {(isWrong) => (
        <TextField
          label={w.token}
          hint={w.tokenHint}
          name="token"
          type="password"
          required
          autoComplete="off"
          error={isWrong ? w.wrongToken : undefined}
        />
      )}
    </SignInPage>
  )
}
