import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import {
  api,
  Back,
  Button,
  Card,
  CopyField,
  Detail,
  Dialog,
  Facts,
  Form,
  isSandbox,
  Notice,
  TextField,
  typed,
  useAction,
  useFaults,
  useFormats,
  useTitle,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { ChargeBadge, useReason, v, Webhooks } from './recurrence-parts.tsx'
import { ChargeSimulator } from './recurrence-simulator.tsx'
import type { Charge, ChargeAnswer } from './recurrence-types.ts'
import { words } from './words.ts'
import { recurrenceWords } from './words-recurrence.ts'

export function ScheduledPaymentPage() {
  const w = useWords(recurrenceWords)
  const { instructionId = '' } = useParams<{ instructionId: string }>()
  useTitle(w.scheduledOne)
  const query = useQuery({
    queryKey: ['scheduled', 'one', instructionId],
    queryFn: ({ signal }) => api<ChargeAnswer>(`/panel/api/charges/${encodeURIComponent(instructionId)}`, { signal }),
    meta: { topics: ['recurrence', 'sales'] },
  })
  return (
    <Detail back={<Back href="/scheduled-payments">{w.allScheduled}</Back>} title={w.scheduledOne} query={query}>
      {(answer) => <Shown answer={answer} onChanged={() => void query.refetch()} />}
    </Detail>
  )
}

function Shown({ answer, onChanged }: { readonly answer: ChargeAnswer; readonly onChanged: () => void }) {
  const w = useWords(recurrenceWords)
  const both = useWords(words)
  const f = useFormats()
  const reason = useReason()
  const { charge, mandate } = answer
  return (
    <>
      <div className="row-apart">
        <h1>
          {mandate.referenceCode} · {f.date(charge.dueDate)}
        </h1>
        <div className="row" role="status">
          <strong className="number">{f.money(charge.amount)}</strong>
          <ChargeBadge state={charge.status} />
        </div>
      </div>
      <Cancelling charge={charge} onChanged={onChanged} />
      <div className="grid">
        <Card title={w.scheduledOne}>
          <Facts
            items={[
              [
                w.mandate,
                <Link key="mandate" href={`/mandates/${mandate.idRec}`}>
                  {mandate.plan.title} · {mandate.payer.name}
                </Link>,
              ],
              [w.cycle, charge.cycle],
              [both.creation, f.dateTime(charge.creation)],
              [w.retryNumber, charge.attempt > 0 ? charge.attempt : null],
              [w.whyNot, charge.rejectionCode && reason(charge.rejectionCode)],
              [w.retryOn, charge.retryDate && f.date(charge.retryDate)],
              [both.reason, charge.cancelReason],
              [
                w.sale,
                charge.sale && (
                  <Link key="sale" href={`/sales/${charge.sale.uuid}`}>
                    {w.openSale}
                  </Link>
                ),
              ],
            ]}
          />
        </Card>
        <Card>
          <div className="stack">
            <CopyField label="instructionId" text={charge.instructionId} />
            {charge.endToEnd && <CopyField label="endToEnd" text={charge.endToEnd} />}
          </div>
        </Card>
      </div>
      {isSandbox() && mandate.canCancel && <ChargeSimulator charge={charge} onChanged={onChanged} />}
      {charge.sale && <Webhooks of={charge.sale.uuid} />}
    </>
  )
}

type CancellingProps = { readonly charge: Charge; readonly onChanged: () => void }

/** Until when, and why not later: somebody who comes too late learns it before trying. */
function Cancelling({ charge, onChanged }: CancellingProps) {
  const w = useWords(recurrenceWords)
  const both = useWords(words)
  const f = useFormats()
  const say = useToast()
  const [isAsking, setAsking] = useState(false)
  const { run, busy, error } = useAction(async (form: FormData) => {
    const body = { reason: typed(form, 'reason') }
    await api(`${v}/scheduled-payments/${charge.instructionId}/cancel`, { method: 'PUT', body })
    setAsking(false)
    say(w.chargeCancelled)
    onChanged()
  })
  const fault = useFaults(error)
  const until = f.dateTime(charge.cancellableUntil)
  if (charge.status !== 'PENDING_SCHEDULE' && charge.status !== 'SCHEDULED') return null
  if (!charge.canCancel)
    return (
      <Notice>
        <p>{w.tooLate(until)}</p>
        <p>{w.deadlineHint}</p>
      </Notice>
    )
  return (
    <div className="row">
      <Button kind="danger" onClick={() => setAsking(true)}>
        {w.cancelCharge}
      </Button>
      <span className="muted">
        {w.deadline} {until}
      </span>
      <Dialog open={isAsking} title={w.cancelCharge} onClose={() => setAsking(false)}>
        <p>{w.cancelChargeSure}</p>
        <p className="muted">
          {w.deadline} {until}. {w.deadlineHint}
        </p>
        <Form
          onSubmit={(form) => void run(form)}
          error={error}
          shown={['reason']}
          end={
            <Button kind="danger" type="submit" busy={busy}>
              {w.cancelCharge}
            </Button>
          }
        >
          <TextField label={both.reason} name="reason" maxLength={255} error={fault('reason')} />
        </Form>
      </Dialog>
    </div>
  )
}
