import { useState } from 'react'
import {
  type ApiPath,
  api,
  Button,
  Card,
  FormError,
  SelectField,
  useAction,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { useReason, v } from './recurrence-parts.tsx'
import { type Charge, isToCome, type Mandate } from './recurrence-types.ts'
import { words } from './words.ts'
import { reasonCodes, recurrenceWords } from './words-recurrence.ts'

const sim = `${v}/sandbox/sim` as const
const scenarios = ['approve-and-settle', 'no-funds-3x', 'approve-reject', 'cancel-by-payer'] as const

/** One action at a time; what it changed is looked at again. */
function useSimulation(onChanged: () => void) {
  const w = useWords(recurrenceWords)
  const say = useToast()
  return useAction(async (path: ApiPath) => {
    const { generated } = await api<{ generated?: number }>(path, { method: 'POST' })
    if (generated === 0) say(w.simNotDue, 'waiting')
    else say(w.simulated)
    onChanged()
  })
}

type MandateSimulatorProps = { readonly mandate: Mandate; readonly onChanged: () => void }

export function MandateSimulator({ mandate, onChanged }: MandateSimulatorProps) {
  const w = useWords(recurrenceWords)
  const both = useWords(words)
  const reason = useReason()
  const [code, setCode] = useState<string>('AM04')
  const [scenario, setScenario] = useState<string>(scenarios[0])
  const { run, busy, error } = useSimulation(onChanged)
  const button = (title: string, path: string) => (
    <Button busy={busy} onClick={() => void run(`${sim}/${path}`)}>
      {title}
    </Button>
  )
  const { idRec, status } = mandate
  const isWaiting = status === 'CREATED' || status === 'APPROVING'
  return (
    <Card title={both.simulator}>
      <p className="muted">{w.simulatorHint}</p>
      <div className="row">
        {status === 'CREATED' && button(w.simApproving, `mandate/${idRec}/approving`)}
        {isWaiting && button(w.simApproved, `mandate/${idRec}/approved`)}
        {isWaiting && button(w.simRejected, `mandate/${idRec}/rejected`)}
        {isWaiting && button(w.simExpired, `mandate/${idRec}/expired`)}
        {status === 'APPROVED' && button(w.simRunDue, `recurrence/${idRec}/run-due`)}
        {status === 'APPROVED' && button(w.simCancelling, `mandate/${idRec}/cancelling`)}
        {!isWaiting && button(w.simCancelled, `mandate/${idRec}/cancelled`)}
      </div>
      {status === 'APPROVED' && (
        <div className="grid">
          <SelectField
            label={w.simReason}
            value={code}
            onChange={({ target }) => setCode(target.value)}
            options={reasonCodes.map((one) => [one, reason(one)])}
          />
          <div className="row beside-field">{button(w.simFail, `recurrence/${idRec}/fail/${code}`)}</div>
        </div>
      )}
      <div className="grid">
        <SelectField
          label={w.simScenario}
          value={scenario}
          onChange={({ target }) => setScenario(target.value)}
          options={scenarios.map((one) => [one, one])}
        />
        <div className="row beside-field">{button(w.simPlay, `recurrence/${idRec}/scenario/${scenario}`)}</div>
      </div>
      <FormError error={error} />
    </Card>
  )
}

type ChargeSimulatorProps = { readonly charge: Charge; readonly onChanged: () => void }

export function ChargeSimulator({ charge, onChanged }: ChargeSimulatorProps) {
  const w = useWords(recurrenceWords)
  const both = useWords(words)
  const reason = useReason()
  const [code, setCode] = useState<string>('AM02')
  const { run, busy, error } = useSimulation(onChanged)
  const button = (title: string, action: string) => (
    <Button busy={busy} onClick={() => void run(`${sim}/collection/${charge.instructionId}/${action}`)}>
      {title}
    </Button>
  )
  if (!isToCome(charge)) return null
  return (
    <Card title={both.simulator}>
      <p className="muted">{w.simulatorHint}</p>
      {charge.retryDate === null ? (
        <>
          <div className="row">
            {charge.status === 'PENDING_SCHEDULE' && button(w.simActive, 'active')}
            {button(w.simConcluded, 'concluded')}
            {button(w.simFailed, 'failed')}
            {button(w.simCanceled, 'canceled')}
          </div>
          <div className="grid">
            <SelectField
              label={w.simReason}
              value={code}
              onChange={({ target }) => setCode(target.value)}
              options={reasonCodes.map((one) => [one, reason(one)])}
            />
            <div className="row beside-field">{button(w.simReject, `reject/${code}`)}</div>
          </div>
        </>
      ) : (
        <div className="row">{button(w.simRetry, 'retry')}</div>
      )}
      <FormError error={error} />
    </Card>
  )
}
