import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'wouter'
import {
  api,
  Back,
  Card,
  CopyField,
  Detail,
  Facts,
  isSandbox,
  useFormats,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { MandateActions } from './mandate-actions.tsx'
import { PayerCode } from './payer-code.tsx'
import { MandateBadge, PagedTable, useChargeColumns, Webhooks } from './recurrence-parts.tsx'
import { MandateSimulator } from './recurrence-simulator.tsx'
import { type Charge, isToCome, type MandateAnswer } from './recurrence-types.ts'
import { words } from './words.ts'
import { recurrenceWords } from './words-recurrence.ts'

export function MandatePage() {
  const w = useWords(recurrenceWords)
  const { idRec = '' } = useParams<{ idRec: string }>()
  useTitle(w.mandate)
  const query = useQuery({
    queryKey: ['mandates', 'one', idRec],
    queryFn: ({ signal }) => api<MandateAnswer>(`/panel/api/mandates/${encodeURIComponent(idRec)}`, { signal }),
    meta: { topics: ['recurrence', 'sales'] },
  })
  return (
    <Detail back={<Back href="/mandates">{w.allMandates}</Back>} title={w.mandate} query={query}>
      {(answer) => <Shown answer={answer} onChanged={() => void query.refetch()} />}
    </Detail>
  )
}

function Shown({ answer, onChanged }: { readonly answer: MandateAnswer; readonly onChanged: () => void }) {
  const w = useWords(recurrenceWords)
  const f = useFormats()
  const { mandate, charges } = answer
  return (
    <>
      <div className="row-apart">
        <h1>{mandate.referenceCode}</h1>
        <div className="row" role="status">
          <strong className="number">{f.money(mandate.amount)}</strong>
          <span className="muted">{w[mandate.periodicity]}</span>
          <MandateBadge state={mandate.status} />
        </div>
      </div>
      <MandateActions mandate={mandate} onChanged={onChanged} />
      {mandate.code && <PayerCode {...mandate.code} hint={w.askPayerHint} toPhone={w.openPhone} />}
      <div className="grid">
        <Card title={w.mandate}>
          <MandateFacts mandate={mandate} />
        </Card>
        <Card>
          <div className="stack">
            <CopyField label="idRec" text={mandate.idRec} />
            <CopyField label="uuid" text={mandate.uuid} />
          </div>
        </Card>
      </div>
      <Charges title={w.upcoming} none={w.noneUpcoming} charges={charges.filter(isToCome)} />
      <Charges title={w.past} none={w.nonePast} charges={charges.filter((charge) => !isToCome(charge))} />
      {isSandbox() && mandate.canCancel && <MandateSimulator mandate={mandate} onChanged={onChanged} />}
      <Webhooks of={mandate.uuid} />
    </>
  )
}

function MandateFacts({ mandate }: Pick<MandateAnswer, 'mandate'>) {
  const w = useWords(recurrenceWords)
  const both = useWords(words)
  const f = useFormats()
  const { payer, cycleAmount, minimumAmount, nextRecurrenceDate: next } = mandate
  return (
    <Facts
      items={[
        [
          w.plan,
          <Link key="plan" href={`/plans/${mandate.plan.id}`}>
            {mandate.plan.title}
          </Link>,
        ],
        [w.payer, `${payer.name} · ${payer.document}`],
        [w.nextDate, next === null ? w.nothingNext : f.date(next)],
        [w.value, w[mandate.valueType]],
        [w.minimum, minimumAmount === null ? null : f.money(minimumAmount)],
        [w.cycleAmount, cycleAmount === null ? null : w.onlyOnce(f.money(cycleAmount))],
        [w.from, f.date(mandate.initialDate)],
        [w.until, mandate.finalDate === null ? w.cycles(0) : f.date(mandate.finalDate)],
        [w.retries, mandate.retry ? w.yes : w.NOT_ACCEPT],
        [both.creation, f.dateTime(mandate.creation)],
        [w.answerBefore, mandate.code && f.dateTime(mandate.expiration)],
        [both.callback, mandate.callbackURL],
      ]}
    />
  )
}

type ChargesProps = { readonly title: string; readonly none: string; readonly charges: readonly Charge[] }

function Charges({ title, none, charges }: ChargesProps) {
  const w = useWords(recurrenceWords)
  const columns = useChargeColumns<Charge>()
  return (
    <Card title={title}>
      <PagedTable
        rows={charges}
        none={none}
        caption={title}
        rowKey={({ instructionId }) => instructionId}
        columns={[{ header: w.cycle, number: true, cell: ({ cycle }) => cycle }, ...columns]}
      />
    </Card>
  )
}
