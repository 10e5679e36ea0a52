import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import {
  api,
  Back,
  Button,
  ButtonLink,
  Card,
  CopyField,
  Detail,
  Dialog,
  Facts,
  FormError,
  useAction,
  useFormats,
  useTitle,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { PlanForm } from './plan-form.tsx'
import { PlanBadge } from './plans.tsx'
import { MandateBadge, PagedTable, v } from './recurrence-parts.tsx'
import type { PlanAnswer, PlanRow } from './recurrence-types.ts'
import { words } from './words.ts'
import { recurrenceWords } from './words-recurrence.ts'

export function PlanPage() {
  const w = useWords(recurrenceWords)
  const { id = '' } = useParams<{ id: string }>()
  useTitle(w.plan)
  const query = useQuery({
    queryKey: ['plans', 'one', id],
    queryFn: ({ signal }) => api<PlanAnswer>(`${v}/plans/${encodeURIComponent(id)}`, { signal }),
    meta: { topics: ['recurrence'] },
  })
  return (
    <Detail back={<Back href="/plans">{w.allPlans}</Back>} title={w.plan} query={query}>
      {(plan) => <Shown plan={plan} onChanged={() => void query.refetch()} />}
    </Detail>
  )
}

type ShownProps = { readonly plan: PlanAnswer; readonly onChanged: () => void }

function Shown({ plan, onChanged }: ShownProps) {
  const w = useWords(recurrenceWords)
  const both = useWords(words)
  const f = useFormats()
  return (
    <>
      <div className="row-apart">
        <h1>{plan.title}</h1>
        <div className="row" role="status">
          <strong className="number">{f.money(plan.recurrenceAmount)}</strong>
          <span className="muted">{w[plan.frequency]}</span>
          <PlanBadge enabled={plan.enabled} />
        </div>
      </div>
      <PlanActions plan={plan} onChanged={onChanged} />
      <div className="grid">
        <Card title={w.plan}>
          <Facts
            items={[
              [w.description, plan.description],
              [w.minimum, f.money(plan.minimumRecurrenceAmount)],
              [w.firstAmount, plan.imediateAmount === null ? null : f.money(plan.imediateAmount)],
              [w.period, w.cycles(plan.period)],
              [w.retryPolicy, w[plan.retryPolicy]],
              [both.creation, f.dateTime(plan.creation)],
            ]}
          />
        </Card>
        <Card>
          <CopyField label="planId" text={plan.id} />
        </Card>
      </div>
      <Card title={`${both.mandates}: ${f.count(plan.totalAuthorizations)}`}>
        <PagedTable
          rows={plan.authorizations}
          none={w.noMandates}
          caption={both.mandates}
          rowKey={({ idRec }) => idRec}
          columns={[
            {
              header: w.payer,
              cell: ({ idRec, payer }) => <Link href={`/mandates/${idRec}`}>{payer.name}</Link>,
            },
            {
              header: w.nextDate,
              cell: ({ nextRecurrenceDate: next }) => (next === null ? w.nothingNext : f.date(next)),
            },
            { header: w.state, cell: ({ status }) => <MandateBadge state={status} /> },
          ]}
        />
      </Card>
    </>
  )
}

function PlanActions({ plan, onChanged }: ShownProps) {
  const w = useWords(recurrenceWords)
  const say = useToast()
  const [isEditing, setEditing] = useState(false)
  const change = async (body: Readonly<Record<string, unknown>>) => {
    await api<PlanRow>(`${v}/plans/${plan.id}`, { method: 'PUT', body })
    setEditing(false)
    say(w.saved)
    onChanged()
  }
  const toggle = useAction(() => change({ enabled: !plan.enabled }))
  const edit = useAction(change)
  return (
    <div className="row">
      {plan.enabled && (
        <Link href={`/mandates/new?plan=${plan.id}`} asChild>
          <ButtonLink href="/mandates/new" kind="primary">
            {w.newMandate}
          </ButtonLink>
        </Link>
      )}
      <Button onClick={() => setEditing(true)}>{w.edit}</Button>
      <Button busy={toggle.busy} onClick={() => void toggle.run()}>
        {plan.enabled ? w.disable : w.enable}
      </Button>
      <FormError error={toggle.error} />
      <Dialog open={isEditing} title={w.editPlan} onClose={() => setEditing(false)}>
        <PlanForm
          plan={plan}
          action={w.save}
          busy={edit.busy}
          error={edit.error}
          onSubmit={(fields) => void edit.run(fields)}
        />
      </Dialog>
    </div>
  )
}
