import { useState } from 'react'
import {
  api,
  Button,
  Confirm,
  Dialog,
  Form,
  FormError,
  TextField,
  typedAmount,
  useAction,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { v } from './recurrence-parts.tsx'
import type { Mandate } from './recurrence-types.ts'
import { recurrenceWords } from './words-recurrence.ts'

type MandateProps = { readonly mandate: Mandate; readonly onChanged: () => void }

export function MandateActions({ mandate, onChanged }: MandateProps) {
  const w = useWords(recurrenceWords)
  const say = useToast()
  const [asking, setAsking] = useState<'cancel' | 'amount'>()
  const close = () => setAsking(undefined)
  const path = `${v}/authorizations/${mandate.idRec}` as const
  const done = (text: string) => {
    close()
    say(text)
    onChanged()
  }
  const cancel = useAction(async () => {
    await api(`${path}/cancel`, { method: 'PUT', body: {} })
    done(w.mandateCancelled)
  })
  const price = useAction(async (form: FormData) => {
    await api(`${path}/cycle-amount`, { method: 'PUT', body: { amount: typedAmount(form, 'amount') } })
    done(w.cycleAmountSet)
  })
  if (!mandate.canCancel) return null
  return (
    <div className="row">
      {mandate.valueType === 'VARIABLE' && <Button onClick={() => setAsking('amount')}>{w.cycleAmount}</Button>}
      <Button kind="danger" onClick={() => setAsking('cancel')}>
        {w.cancelMandate}
      </Button>
      <Dialog open={asking === 'amount'} title={w.cycleAmount} onClose={close}>
        <Form
          onSubmit={(form) => void price.run(form)}
          error={price.error}
          shown={['amount']}
          end={
            <Button kind="primary" type="submit" busy={price.busy}>
              {w.save}
            </Button>
          }
        >
          <TextField
            label={w.price}
            name="amount"
            required
            inputMode="decimal"
            hint={w.cycleAmountHint}
            error={price.error?.of('amount') && w.wrongAmount}
          />
        </Form>
      </Dialog>
      <Confirm
        open={asking === 'cancel'}
        title={w.cancelMandate}
        action={w.cancelMandate}
        danger
        busy={cancel.busy}
        onClose={close}
        onConfirm={() => void cancel.run()}
      >
        <p>{w.cancelMandateSure}</p>
        <FormError error={cancel.error} />
      </Confirm>
    </div>
  )
}
