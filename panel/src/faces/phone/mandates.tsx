import { useState } from 'react'
import {
  Badge,
  Button,
  Card,
  Confirm,
  Empty,
  Facts,
  Notice,
  type Tone,
  useAction,
  useFormats,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { MaximumField } from './amount-field.tsx'
import { MandateFacts } from './mandate-facts.tsx'
import { type Answer, amountFrom, answerMandate, type Mandate } from './phone-api.ts'
import { Refused } from './refused.tsx'
import { words } from './words.ts'

type MandatesProps = { readonly mandates: readonly Mandate[]; readonly refresh: () => Promise<void> }

export function Mandates({ mandates, refresh }: MandatesProps) {
  const w = useWords(words)
  if (mandates.length === 0)
    return (
      <Empty title={w.noMandates}>
        <p>{w.noMandatesHint}</p>
      </Empty>
    )
  return (
    <div className="stack">
      {mandates.map((mandate) => (
        <MandateCard key={mandate.idRec} mandate={mandate} refresh={refresh} />
      ))}
    </div>
  )
}

/** How it stands, seen by this payer. */
type Standing = 'waiting' | 'mine' | 'other' | 'REJECTED' | 'EXPIRED' | 'CANCELLED' | 'CONCLUDED'

function standingOf({ state, mine }: Mandate): Standing {
  if (state === 'CREATED' || state === 'APPROVING') return 'waiting'
  if (state === 'APPROVED' || state === 'CANCELLING') return mine ? 'mine' : 'other'
  return state
}
const tones: Partial<Record<Standing, Tone>> = { waiting: 'waiting', mine: 'good' }

function MandateCard({ mandate, refresh }: { readonly mandate: Mandate; readonly refresh: () => Promise<void> }) {
  const w = useWords(words)
  const f = useFormats()
  const standing = standingOf(mandate)
  const mayChange = standing === 'mine' && mandate.state === 'APPROVED'
  return (
    <Card title={mandate.object} aside={<Badge tone={tones[standing] ?? 'neutral'}>{w[`state_${standing}`]}</Badge>}>
      <div className="stack">
        <MandateFacts offer={mandate} />
        {mayChange && mandate.amount === null && (
          <Facts items={[[w.maximum, mandate.maximum === null ? w.noMaximum : f.money(mandate.maximum)]]} />
        )}
        {standing === 'mine' && mandate.charges.length > 0 && (
          <Facts
            items={[
              [
                w.next,
                <ul key="next">
                  {mandate.charges.map(({ dueDate, amount }) => (
                    <li key={dueDate}>
                      {f.date(dueDate)}: {f.money(amount)}
                    </li>
                  ))}
                </ul>,
              ],
            ]}
          />
        )}
        {standing === 'waiting' && <Answers mandate={mandate} refresh={refresh} />}
        {mayChange && <Given mandate={mandate} refresh={refresh} />}
      </div>
    </Card>
  )
}

type AnswerProps = { readonly mandate: Mandate; readonly refresh: () => Promise<void> }

function useAnswer({ mandate, refresh }: AnswerProps) {
  const say = useToast()
  const [maximum, setMaximum] = useState('')
  const wrong = maximum.trim() !== '' && amountFrom(maximum) === undefined
  const action = useAction(async (answer: Answer, said: string) => {
    if (wrong && (answer === 'approve' || answer === 'limit')) return
    await answerMandate(mandate.idRec, answer, amountFrom(maximum))
    setMaximum('')
    say(said)
    await refresh()
  })
  return { action, field: { offer: mandate, value: maximum, onChange: setMaximum, wrong } }
}

function Answers(props: AnswerProps) {
  const w = useWords(words)
  const { action, field } = useAnswer(props)
  const { payFirst } = props.mandate
  return (
    <div className="phone-actions">
      {payFirst ? <Notice>{w.payFirst}</Notice> : <MaximumField {...field} />}
      <Refused error={action.error} />
      {!payFirst && (
        <Button kind="primary" wide busy={action.busy} onClick={() => void action.run('approve', w.approved)}>
          {w.approve}
        </Button>
      )}
      <Button wide busy={action.busy} onClick={() => void action.run('reject', w.rejected)}>
        {w.reject}
      </Button>
    </div>
  )
}

function Given(props: AnswerProps) {
  const w = useWords(words)
  const { action, field } = useAnswer(props)
  const [asking, setAsking] = useState(false)
  return (
    <div className="phone-actions">
      <MaximumField {...field} />
      <Refused error={action.error} />
      {props.mandate.amount === null && (
        <Button wide busy={action.busy} onClick={() => void action.run('limit', w.maximumChanged)}>
          {w.changeMaximum}
        </Button>
      )}
      <Button kind="danger" wide busy={action.busy} onClick={() => setAsking(true)}>
        {w.cancel}
      </Button>
      <Confirm
        open={asking}
        title={w.cancel}
        action={w.cancel}
        danger
        busy={action.busy}
        onClose={() => setAsking(false)}
        onConfirm={() => {
          setAsking(false)
          void action.run('cancel', w.cancelled)
        }}
      >
        <p>{w.cancelSure}</p>
      </Confirm>
    </div>
  )
}
