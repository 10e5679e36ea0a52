import { useState } from 'react'
import {
  type ApiError,
  api,
  Button,
  Card,
  Dialog,
  Form,
  FormError,
  Notice,
  SelectField,
  TextField,
  typed,
  useAction,
  useFaults,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { type Payout, payoutErrors } from './payout-types.ts'
import { words } from './words.ts'
import { moneyWords } from './words-money.ts'

type PayoutProps = { readonly payout: Payout; readonly onChanged: () => void }
const v = '/panel/api/v1.1'

export function PayoutActions({ payout, told, onChanged }: PayoutProps & { readonly told: boolean }) {
  const w = useWords(words)
  const m = useWords(moneyWords)
  const say = useToast()
  const [isAsking, setAsking] = useState(false)
  const redeliver = useAction(async () => {
    await api(`${v}/transactions/${payout.uuid}/webhook/redeliver`, { method: 'POST' })
    say(w.redelivered)
  })
  const done = () => {
    setAsking(false)
    say(m.cancelled)
    onChanged()
  }
  if (payout.situation !== 'PENDING' && !told) return null
  return (
    <div className="row">
      {payout.situation === 'PENDING' && (
        <Button kind="danger" onClick={() => setAsking(true)}>
          {m.cancelPayout}
        </Button>
      )}
      {told && (
        <Button busy={redeliver.busy} onClick={() => void redeliver.run()}>
          {w.redeliver}
        </Button>
      )}
      <FormError error={redeliver.error} />
      <Dialog open={isAsking} title={m.cancelPayout} onClose={() => setAsking(false)}>
        <CancelForm payout={payout} onDone={done} onChanged={onChanged} />
      </Dialog>
    </div>
  )
}

function CancelForm({ payout, onDone, onChanged }: PayoutProps & { readonly onDone: () => void }) {
  const w = useWords(words)
  const m = useWords(moneyWords)
  const { run, busy, error } = useAction(async (form: FormData) => {
    try {
      await api(`${v}/payout/${payout.uuid}/cancel`, { method: 'PUT', body: { reason: typed(form, 'reason') } })
    } catch (refusal) {
      // It may have ended meanwhile.
      onChanged()
      throw refusal
    }
    onDone()
  })
  const fault = useFaults(error)
  const said = useBanksWords(error)
  return (
    <Form
      onSubmit={(form) => void run(form)}
      error={said === undefined ? error : undefined}
      shown={['reason']}
      end={
        <Button kind="danger" type="submit" busy={busy}>
          {m.cancelPayout}
        </Button>
      }
    >
      <p>{m.cancelSure}</p>
      <TextField label={w.reason} name="reason" error={fault('reason')} />
      {said && (
        <Notice tone="waiting" alert>
          {said}
        </Notice>
      )}
    </Form>
  )
}

/** What the bank says of an order that it has already. */
function useBanksWords(error: ApiError | undefined): string | undefined {
  const m = useWords(moneyWords)
  if (error?.http === 503) return m.bankSilent
  return error?.has('the bank is paying it already') ? m.bankKeeps : undefined
}

/** What the payee's bank would say; the service has it in a sandbox only. */
export function PayoutSimulator({ payout, onChanged }: PayoutProps) {
  const w = useWords(words)
  const m = useWords(moneyWords)
  const say = useToast()
  const [code, setCode] = useState<string>(payoutErrors[0])
  const { run, busy, error } = useAction(async (how: string) => {
    await api(`${v}/sandbox/sim/payout/${payout.uuid}/${how}`, { method: 'POST' })
    say(m.simulated)
    onChanged()
  })
  return (
    <Card title={w.simulator}>
      <p className="muted">{m.payoutSimulatorHint}</p>
      <div className="row">
        <Button busy={busy} onClick={() => void run('paid')}>
          {m.simulateArrived}
        </Button>
      </div>
      <SelectField
        label={m.failedWith}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
        options={payoutErrors.map((one) => [one, `${one} · ${m[one]}`])}
      />
      <div className="row">
        <Button busy={busy} onClick={() => void run(`failed/${code}`)}>
          {m.simulateFailed}
        </Button>
      </div>
      <FormError error={error} />
    </Card>
  )
}
