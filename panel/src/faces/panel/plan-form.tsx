import { useLocation } from 'wouter'
import {
  type ApiError,
  api,
  Back,
  Button,
  Card,
  Form,
  SelectField,
  TextField,
  typed,
  typedAmount,
  useAction,
  useFormats,
  useFormKey,
  useTitle,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { v } from './recurrence-parts.tsx'
import { frequencies, type PlanRow, retryPolicies } from './recurrence-types.ts'
import { recurrenceWords } from './words-recurrence.ts'

type PlanFormProps = {
  /** The plan that is changed; without it one is made. */
  readonly plan?: PlanRow
  readonly action: string
  readonly busy: boolean
  readonly error: ApiError | undefined
  readonly onSubmit: (fields: Readonly<Record<string, unknown>>) => void
}

/** What stands in the fields; what is left empty is not sent, so it stays as it is or as the service has it by default. */
function fieldsFrom(form: FormData): Record<string, unknown> {
  const period = typed(form, 'period')
  return {
    title: typed(form, 'title') ?? '',
    description: typed(form, 'description'),
    frequency: typed(form, 'frequency'),
    recurrenceAmount: typedAmount(form, 'recurrenceAmount'),
    minimumRecurrenceAmount: typedAmount(form, 'minimumRecurrenceAmount'),
    imediateAmount: typedAmount(form, 'imediateAmount'),
    period: period && /^\d+$/.test(period) ? Number(period) : period,
    retryPolicy: typed(form, 'retryPolicy'),
  }
}

const shown = [
  'title',
  'description',
  'recurrenceAmount',
  'minimumRecurrenceAmount',
  'imediateAmount',
  'period',
] as const

export function PlanForm({ plan, action, busy, error, onSubmit }: PlanFormProps) {
  const w = useWords(recurrenceWords)
  const wrong = (field: (typeof shown)[number], text: string) => (error?.of(field) ? text : undefined)
  const f = useFormats()
  const money = (amount: number | null | undefined) => (amount == null ? '' : f.amount(amount))
  return (
    <Form
      onSubmit={(form) => onSubmit(fieldsFrom(form))}
      error={error}
      shown={shown}
      end={
        <Button kind="primary" type="submit" busy={busy}>
          {action}
        </Button>
      }
    >
      <TextField
        label={w.title}
        name="title"
        required
        maxLength={100}
        hint={w.titleHint}
        defaultValue={plan?.title}
        error={wrong('title', w.wrongTitle)}
      />
      <TextField
        label={w.description}
        name="description"
        maxLength={255}
        defaultValue={plan?.description ?? ''}
        error={wrong('description', w.wrongDescription)}
      />
      <SelectField
        label={w.frequency}
        name="frequency"
        defaultValue={plan?.frequency ?? 'MONTHLY'}
        options={frequencies.map((one) => [one, w[one]])}
      />
      <TextField
        label={w.price}
        name="recurrenceAmount"
        required
        inputMode="decimal"
        hint={w.priceHint}
        defaultValue={money(plan?.recurrenceAmount)}
        error={wrong('recurrenceAmount', w.wrongAmount)}
      />
      <TextField
        label={w.minimum}
        name="minimumRecurrenceAmount"
        inputMode="decimal"
        hint={w.minimumHint}
        defaultValue={money(plan?.minimumRecurrenceAmount)}
        error={wrong('minimumRecurrenceAmount', w.wrongAmount)}
      />
      <TextField
        label={w.firstAmount}
        name="imediateAmount"
        inputMode="decimal"
        hint={w.firstAmountHint}
        defaultValue={money(plan?.imediateAmount)}
        error={wrong('imediateAmount', w.wrongAmount)}
      />
      <TextField
        label={w.period}
        name="period"
        required
        inputMode="numeric"
        hint={w.periodHint}
        defaultValue={String(plan?.period ?? 0)}
        error={wrong('period', w.wrongPeriod)}
      />
      <SelectField
        label={w.retryPolicy}
        name="retryPolicy"
        defaultValue={plan?.retryPolicy ?? 'NOT_ACCEPT'}
        options={retryPolicies.map((one) => [one, w[one]])}
      />
    </Form>
  )
}

export function NewPlan() {
  const w = useWords(recurrenceWords)
  const say = useToast()
  const once = useFormKey()
  const [, navigate] = useLocation()
  useTitle(w.newPlan)
  const { run, busy, error } = useAction(async (body: Readonly<Record<string, unknown>>) => {
    const { id } = await once((key) => api<PlanRow>(`${v}/plans`, { method: 'POST', body, key }))
    say(w.planMade)
    navigate(`/plans/${id}`)
  })
  return (
    <div className="stack">
      <Back href="/plans">{w.allPlans}</Back>
      <h1>{w.newPlan}</h1>
      <Card>
        <PlanForm action={w.makePlan} busy={busy} error={error} onSubmit={(fields) => void run(fields)} />
      </Card>
    </div>
  )
}
