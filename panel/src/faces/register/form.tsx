import { api, Button, Card, Form, TextField, typed, useAction, useWords } from '../../kit/index.ts'
import type { Registered } from './registration.ts'
import { words } from './words.ts'

const fields = ['name', 'email', 'password', 'document'] as const

export function RegistrationForm({ onRegistered }: { readonly onRegistered: (registered: Registered) => void }) {
  const w = useWords(words)
  const { run, busy, error } = useAction(async (form: FormData) => {
    // A password is taken as it stands, blanks and all, here as where one signs in.
    const password = form.get('password') || undefined
    const body = { name: typed(form, 'name'), email: typed(form, 'email'), password, document: typed(form, 'document') }
    onRegistered(await api<Registered>('/register/api', { method: 'POST', body }))
  })
  const faultOf = (field: (typeof fields)[number]): string | undefined => {
    const said = error?.of(field)
    if (said === undefined) return undefined
    if (field === 'email') return said.includes('another account') ? w.emailTaken : w.emailWrong
    return { name: w.nameWrong, password: w.passwordWrong, document: w.documentWrong }[field]
  }
  return (
    <div className="stack">
      <div className="stack-tight">
        <h1>{w.title}</h1>
        <p className="muted">{w.intro}</p>
      </div>
      <Card>
        <Form
          onSubmit={(filled) => void run(filled)}
          error={error}
          shown={fields}
          end={
            <Button kind="primary" type="submit" busy={busy}>
              {w.create}
            </Button>
          }
        >
          <TextField
            label={w.name}
            name="name"
            required
            maxLength={100}
            autoComplete="organization"
            error={faultOf('name')}
          />
          <TextField
            label={w.email}
            name="email"
            type="email"
            required
            autoComplete="username"
            error={faultOf('email')}
          />
          <TextField
            label={w.password}
            name="password"
            type="password"
            required
            autoComplete="new-password"
            hint={w.passwordHint}
            error={faultOf('password')}
          />
          <TextField
            label={w.document}
            name="document"
            inputMode="text"
            autoComplete="off"
            hint={w.documentHint}
            error={faultOf('document')}
          />
        </Form>
      </Card>
      <p>
        {w.haveOne} <a href="/panel">{w.signIn}</a>
      </p>
    </div>
  )
}
