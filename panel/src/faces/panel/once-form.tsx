import type { ReactNode } from 'react'
import {
  type ApiError,
  Back,
  Button,
  Card,
  Form,
  Notice,
  useAction,
  useFaults,
  useFormKey,
  useTitle,
} from '../../kit/index.ts'

type OnceFormProps = {
  readonly title: string
  readonly back: { readonly href: string; readonly label: string }
  readonly send: string
  /** Fields whose faults stand beside them. */
  readonly shown: readonly string[]
  /** Said when the form was sent before with other contents, and nobody knows what came of that. */
  readonly sentBefore: string
  readonly make: (form: FormData, once: ReturnType<typeof useFormKey>) => Promise<void>
  readonly children: (fault: ReturnType<typeof useFaults>, error: ApiError | undefined) => ReactNode
}

/** A page whose form makes one thing: a second click, or a second sending after silence, makes no other. */
export function OnceForm({ title, back, send, shown, sentBefore, make, children }: OnceFormProps) {
  useTitle(title)
  const once = useFormKey()
  const { run, busy, error } = useAction((form: FormData) => make(form, once))
  const fault = useFaults(error)
  const wasSentBefore = error?.http === 422
  return (
    <div className="stack">
      <Back href={back.href}>{back.label}</Back>
      <h1>{title}</h1>
      <Card>
        <Form
          onSubmit={(form) => void run(form)}
          error={wasSentBefore ? undefined : error}
          shown={shown}
          end={
            <Button kind="primary" type="submit" busy={busy}>
              {send}
            </Button>
          }
        >
          {children(fault, error)}
          {wasSentBefore && (
            <Notice tone="waiting" alert>
              {sentBefore}
            </Notice>
          )}
        </Form>
      </Card>
    </div>
  )
}
