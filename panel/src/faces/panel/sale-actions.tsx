import { useState } from 'react'
import {
  api,
  Button,
  Card,
  Confirm,
  Dialog,
  Form,
  FormError,
  TextField,
  typed,
  typedAmount,
  useAction,
  useFaults,
  useFormats,
  useFormKey,
  useToast,
  useWords,
} from '../../kit/index.ts'
import type { OpenOutflow, SaleRow } from './sale-types.ts'
import { words } from './words.ts'

type SaleProps = { readonly sale: SaleRow; readonly onChanged: () => void }
const v = '/panel/api/v1.1'

export function SaleActions({ sale, told, onChanged }: SaleProps & { readonly told: boolean }) {
  const w = useWords(words)
  const say = useToast()
  const [asking, setAsking] = useState<'refund' | 'void'>()
  const done = (text: string) => {
    setAsking(undefined)
    say(text)
    onChanged()
  }
  const cancel = useAction(async () => {
    await api(`${v}/transactions/${sale.uuid}/void`, { method: 'PUT' })
    done(w.voided)
  })
  const redeliver = useAction(async () => {
    await api(`${v}/transactions/${sale.uuid}/webhook/redeliver`, { method: 'POST' })
    done(w.redelivered)
  })
  const left = sale.amount - sale.refunded
  return (
    <div className="row">
      {sale.situation === 'PAID' && !sale.isShare && left > 0 && (
        <Button onClick={() => setAsking('refund')}>{w.refund}</Button>
      )}
      {sale.situation === 'PENDING' && !sale.isShare && (
        <Button kind="danger" onClick={() => setAsking('void')}>
          {w.void}
        </Button>
      )}
      {told && (
        <Button busy={redeliver.busy} onClick={() => void redeliver.run()}>
          {w.redeliver}
        </Button>
      )}
      <FormError error={redeliver.error} />
      <Dialog open={asking === 'refund'} title={w.refundTitle} onClose={() => setAsking(undefined)}>
        <RefundForm sale={sale} onDone={() => done(w.refundAsked)} />
      </Dialog>
      <Confirm
        open={asking === 'void'}
        title={w.void}
        action={w.void}
        danger
        busy={cancel.busy}
        onClose={() => setAsking(undefined)}
        onConfirm={() => void cancel.run()}
      >
        <p>{w.voidSure}</p>
        <FormError error={cancel.error} />
      </Confirm>
    </div>
  )
}

function RefundForm({ sale, onDone }: { readonly sale: SaleRow; readonly onDone: () => void }) {
  const w = useWords(words)
  const once = useFormKey()
  const { run, busy, error } = useAction(async (form: FormData) => {
    const body = { amount: typedAmount(form, 'amount'), reason: typed(form, 'reason') }
    await once((key) => api(`${v}/transactions/${sale.uuid}/refund`, { method: 'PUT', body, key }))
    onDone()
  })
  const fault = useFaults(error)
  const f = useFormats()
  return (
    <Form
      onSubmit={(form) => void run(form)}
      error={error}
      shown={['amount', 'reason']}
      end={
        <Button kind="primary" type="submit" busy={busy}>
          {w.refund}
        </Button>
      }
    >
      <TextField
        label={w.amount}
        name="amount"
        inputMode="decimal"
        required
        defaultValue={f.amount(sale.amount - sale.refunded)}
        error={fault('amount')}
      />
      <TextField label={w.reason} name="reason" maxLength={255} error={fault('reason')} />
    </Form>
  )
}

/** What a payer and the bank would do; the service has it in a sandbox only. */
export function Simulator({ sale, open, onChanged }: SaleProps & { readonly open: readonly OpenOutflow[] }) {
  const w = useWords(words)
  const say = useToast()
  const f = useFormats()
  const { run, busy, error } = useAction(async (amount?: number) => {
    const body = amount === undefined ? {} : { amount }
    await api(`${v}/sandbox/sim/sale/${sale.uuid}/paid`, { method: 'POST', body })
    say(w.simulated)
    onChanged()
  })
  const end = useAction(async ({ kind, uuid }: OpenOutflow, how: 'paid' | 'cancelled') => {
    await api(`${v}/sandbox/sim/${kind}/${uuid}/${how}`, { method: 'POST' })
    onChanged()
  })
  const more = Math.round(sale.amount * 100 + 1) / 100
  return (
    <Card title={w.simulator}>
      <p className="muted">{w.simulatorHint}</p>
      <div className="row">
        <Button busy={busy} onClick={() => void run()}>
          {sale.situation === 'PENDING' ? w.simulatePaid : w.simulateTwice}
        </Button>
        <Button busy={busy} onClick={() => void run(more)}>
          {w.simulateOther}
        </Button>
      </div>
      <FormError error={error} />
      {open.map((outflow) => (
        <fieldset key={outflow.uuid} className="plain-set">
          <legend className="muted">
            {w.bankOf(outflow.kind === 'refund' ? w.refundAskedFor : w.reversalMade, f.money(outflow.amount))}
          </legend>
          <div className="row">
            <Button busy={end.busy} onClick={() => void end.run(outflow, 'paid')}>
              {w.bankPays}
            </Button>
            <Button busy={end.busy} onClick={() => void end.run(outflow, 'cancelled')}>
              {w.bankCancels}
            </Button>
          </div>
        </fieldset>
      ))}
      <FormError error={end.error} />
    </Card>
  )
}
