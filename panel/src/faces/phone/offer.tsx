import { type FormEvent, useState } from 'react'
import { Button, Card, Facts, Notice, TextField, useAction, useFormats, useWords } from '../../kit/index.ts'
import { MaximumField } from './amount-field.tsx'
import { Checks } from './checks.tsx'
import { MandateFacts } from './mandate-facts.tsx'
import {
  amountFrom,
  answerMandate,
  type Entry,
  type Found,
  type Paying,
  payReading,
  type Reading,
  refuseReading,
} from './phone-api.ts'
import { Refused } from './refused.tsx'
import { words } from './words.ts'

type OfferProps = {
  readonly found: Found
  readonly reading: Reading
  readonly refresh: () => Promise<void>
  readonly again: () => void
}
type Done = { readonly said: string } | { readonly payments: readonly Entry[] }

/** What a code was found to ask for, and the payer's answers to it. */
export function Offer({ found, reading, refresh, again }: OfferProps) {
  const w = useWords(words)
  const [done, setDone] = useState<Done>()
  const [maximum, setMaximum] = useState('')
  const wrongMaximum = maximum.trim() !== '' && amountFrom(maximum) === undefined
  const limit = amountFrom(maximum)
  const act = useAction(async (work: () => Promise<Done>) => {
    setDone(await work())
    await refresh()
  })
  const { charge, mandate, id } = reading
  const pay = (paying: Paying) =>
    void act.run(async () => payReading(id!, { ...paying, ...(limit === undefined ? {} : { maximum: limit }) }))
  const refuse = () =>
    void act.run(async () => {
      if (mandate !== null) await answerMandate(mandate.idRec, 'reject')
      if (id !== null) await refuseReading(id)
      return { said: mandate === null ? w.refused : w.rejected }
    })
  const approve = () =>
    void act.run(async () => {
      await answerMandate(mandate!.idRec, 'approve', limit)
      return { said: w.approved }
    })

  return (
    <div className="stack">
      {charge && <ChargeCard reading={reading} title={done ? w.theCharge : w.toPay} />}
      {mandate && (
        <Card title={done ? w.theMandate : w.toAuthorize}>
          <MandateFacts offer={mandate} />
        </Card>
      )}
      <Checks checks={found.checks} />
      {mandate && !done && <MaximumField offer={mandate} value={maximum} onChange={setMaximum} wrong={wrongMaximum} />}
      <Refused error={act.error} />
      {done ? (
        <Answered done={done} />
      ) : charge ? (
        <PayButtons reading={reading} busy={act.busy || wrongMaximum} pay={pay} refuse={refuse} />
      ) : (
        <div className="phone-actions">
          <Button kind="primary" wide busy={act.busy || wrongMaximum} onClick={approve}>
            {w.approve}
          </Button>
          <Button wide busy={act.busy} onClick={refuse}>
            {w.reject}
          </Button>
        </div>
      )}
      <Button kind="quiet" wide onClick={again}>
        {w.another}
      </Button>
    </div>
  )
}

function ChargeCard({ reading, title }: { readonly reading: Reading; readonly title: string }) {
  const w = useWords(words)
  const f = useFormats()
  const { receiver, charge } = reading
  return (
    <Card title={title}>
      <div className="stack">
        <div className="figure">{f.money(charge!.amount)}</div>
        <Facts
          items={[
            [w.receiver, receiver],
            [w.key, charge!.key],
            [w.txid, <code key="txid">{charge!.txid}</code>],
            [w.expires, f.dateTime(Date.parse(charge!.expiresAt))],
          ]}
        />
      </div>
    </Card>
  )
}

/** What became of it, said at once to those who do not see it. */
function Answered({ done }: { readonly done: Done }) {
  const w = useWords(words)
  const f = useFormats()
  if ('said' in done)
    return (
      <Notice tone="info" alert>
        {done.said}
      </Notice>
    )
  return (
    <div className="stack-tight" role="status">
      {done.payments.map(({ seq, amount, outcome }) => (
        <Notice key={seq} tone={outcome === 'PAID' ? 'good' : 'waiting'}>
          {(outcome === 'PAID' ? w.paid : outcome === 'REVERSED' ? w.reversed : w.sent)(f.money(-amount))}
        </Notice>
      ))}
    </div>
  )
}

type PayButtonsProps = {
  readonly reading: Reading
  readonly busy: boolean
  readonly pay: (paying: Paying) => void
  readonly refuse: () => void
}

function PayButtons({ reading, busy, pay, refuse }: PayButtonsProps) {
  const w = useWords(words)
  const f = useFormats()
  const [other, setOther] = useState<string>()
  const amount = f.money(reading.charge!.amount)
  return (
    <div className="phone-actions">
      <Button kind="primary" wide busy={busy} onClick={() => pay({ times: 1 })}>
        {reading.mandate === null ? w.payAmount(amount) : w.payAndGive(amount)}
      </Button>
      <Button wide busy={busy} onClick={refuse}>
        {w.refuse}
      </Button>
      <Button kind="quiet" wide busy={busy} onClick={() => pay({ times: 2 })}>
        {w.payTwice}
      </Button>
      {other === undefined ? (
        <Button kind="quiet" wide onClick={() => setOther('')}>
          {w.payOther}
        </Button>
      ) : (
        <OtherAmount value={other} onChange={setOther} busy={busy} pay={(paid) => pay({ times: 1, amount: paid })} />
      )}
    </div>
  )
}

type OtherAmountProps = {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly busy: boolean
  readonly pay: (amount: number) => void
}

function OtherAmount({ value, onChange, busy, pay }: OtherAmountProps) {
  const w = useWords(words)
  const f = useFormats()
  const [tried, setTried] = useState(false)
  const amount = amountFrom(value)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (amount !== undefined && !busy) pay(amount)
  }
  return (
    <form className="stack-tight" onSubmit={submit}>
      <TextField
        label={w.otherAmount}
        hint={w.amountHint}
        error={tried && amount === undefined ? w.amountWrong : undefined}
        required
        autoFocus
        inputMode="decimal"
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <Button wide busy={busy} type="submit">
        {amount === undefined ? w.payOther : w.payAmount(f.money(amount))}
      </Button>
    </form>
  )
}
