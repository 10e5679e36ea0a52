import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  api,
  Button,
  Card,
  CopyField,
  Form,
  FormError,
  Notice,
  useAction,
  useFormats,
  useFormKey,
  useWords,
} from '../../kit/index.ts'
import { OverlapField, overlapOf, useCredentials } from './credential-facts.tsx'
import { accountWords } from './words-account.ts'

type Rotated = { readonly webhookSecret: string; readonly previousSecretEndsAt: string }

/** Asked for when somebody wants to see it, and forgotten with the page. */
export function WebhookSecret() {
  const a = useWords(accountWords)
  const f = useFormats()
  const queries = useQueryClient()
  const once = useFormKey()
  const { data } = useCredentials()
  const [seen, setSeen] = useState<string>()
  const show = useAction(async () => {
    const path = '/panel/api/v1.1/account/notifications'
    setSeen((await api<{ webhookSecret: string | null }>(path)).webhookSecret ?? undefined)
  })
  const rotate = useAction(async (form: FormData) => {
    const path = '/panel/api/v1.1/account/webhook-secret/rotate'
    const { webhookSecret } = await once((key) =>
      api<Rotated>(path, { method: 'POST', body: { overlapHours: overlapOf(form) }, key }),
    )
    setSeen(webhookSecret)
    await queries.invalidateQueries({ queryKey: ['credentials'] })
  })
  const endsAt = data?.previousSecretEndsAt
  return (
    <Card
      title={a.webhookSecret}
      aside={
        <Button small busy={show.busy} onClick={() => (seen ? setSeen(undefined) : void show.run())}>
          {seen ? a.hide : a.show}
        </Button>
      }
    >
      <p className="muted">{a.webhookSecretHint}</p>
      <FormError error={show.error} />
      <div role="status">{seen && <CopyField label={a.webhookSecret} text={seen} />}</div>
      {endsAt && <Notice>{a.previousSecretEnds(f.dateTime(endsAt))}</Notice>}
      <details>
        <summary>{a.rotateSecret}</summary>
        <Form
          onSubmit={(form) => void rotate.run(form)}
          error={rotate.error}
          end={
            <Button type="submit" busy={rotate.busy}>
              {a.rotateSecret}
            </Button>
          }
        >
          <p className="muted">{a.secretOverlap}</p>
          <OverlapField />
        </Form>
      </details>
    </Card>
  )
}
