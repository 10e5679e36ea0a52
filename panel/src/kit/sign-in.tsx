import type { ReactNode } from 'react'
import { api } from './api.ts'
import { Button } from './button.tsx'
import { Card } from './data.tsx'
import { Form } from './form.tsx'
import { Frame } from './frame.tsx'
import { kitWords } from './kit-words.ts'
import { useTitle } from './page.ts'
import { useForgetEverything } from './session.tsx'
import { useAction } from './use-action.ts'
import { useWords } from './words.ts'

type SignInPageProps = {
  readonly face: 'panel' | 'operator'
  readonly title: string
  /** What the service wants to know, from what was typed. */
  readonly bodyFrom: (form: FormData) => Readonly<Record<string, string>>
  /** The fields; the last one says that they are not right. */
  readonly children: (isWrong: boolean) => ReactNode
  /** Below the form: where to go instead. */
  readonly end?: ReactNode
}

/** A secret goes to the service once; what stays is a cookie that no script reads. */
export function SignInPage({ face, title, bodyFrom, children, end }: SignInPageProps) {
  const w = useWords(kitWords)
  const forget = useForgetEverything()
  useTitle(w.signIn)
  const { run, busy, error } = useAction(async (form: FormData) => {
    await api(`/${face}/api/session`, { method: 'POST', body: bodyFrom(form) })
    await forget()
  })
  const isWrong = error?.http === 401 || error?.http === 400
  return (
    <Frame narrow title={title}>
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
            {children(isWrong)}
          </Form>
        </Card>
        {end}
      </div>
    </Frame>
  )
}
