import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import {
  api,
  Back,
  Button,
  Card,
  CheckField,
  Empty,
  ErrorState,
  Form,
  Loading,
  SelectField,
  TextField,
  typed,
  typedAmount,
  useAction,
  useFormats,
  useFormKey,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { v } from './recurrence-parts.tsx'
import type { PlanRow } from './recurrence-types.ts'
import type { Page } from './sale-types.ts'
import { useSession } from './session.ts'
import { words } from './words.ts'
import { recurrenceWords } from './words-recurrence.ts'

const DAY_MS = 86_400_000
/** A charge is registered two days ahead at the latest; a day more leaves time to authorize. */
const FIRST_DUE_DAYS = 3

export function NewMandate() {
  const w = useWords(recurrenceWords)
  useTitle(w.newMandate)
  const { data, error, refetch } = useQuery({
    queryKey: ['plans', 'active'],
    queryFn: ({ signal }) => api<Page<PlanRow>>(`${v}/plans?enabled=true&maxPageResults=100`, { signal }),
    meta: { topics: ['recurrence'] },
  })
  return (
    <div className="stack">
      <Back href="/mandates">{w.allMandates}</Back>
      <h1>{w.newMandate}</h1>
      {data === undefined && (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />)}
      {data?.result.length === 0 && (
        <Empty title={w.noPlanYet}>
          <Link href="/plans/new">{w.newPlan}</Link>
        </Empty>
      )}
      {data && data.result.length > 0 && (
        <Card>
          <MandateForm plans={data.result} />
        </Card>
      )}
    </div>
  )
}

function bodyFrom(form: FormData) {
  const document = typed(form, 'document')
  const isCompany = document?.replaceAll(/[./\-\s]/g, '').length === 14
  const valueType = typed(form, 'valueType')
  const amount = typedAmount(form, 'recurrenceAmount')
  return {
    currency: 'BRL',
    referenceCode: typed(form, 'referenceCode'),
    amount: typedAmount(form, 'amount'),
    shopper: {
      name: typed(form, 'name'),
      email: typed(form, 'email'),
      document: { type: isCompany ? 'CNPJ' : 'CPF', number: document },
    },
    recurrence: {
      planId: typed(form, 'planId'),
      immediatePayment: form.get('immediatePayment') !== null,
      retry: form.get('retry') !== null,
      amount: { valueType, [valueType === 'FIXED' ? 'recurrenceAmount' : 'debitorMinimumAmount']: amount },
      calendar: { initialDate: typed(form, 'initialDate'), finalDate: typed(form, 'finalDate') },
    },
  }
}

const shown = [
  'referenceCode',
  'shopper.name',
  'shopper.email',
  'shopper.document.number',
  'recurrence.planId',
  'recurrence.calendar.initialDate',
  'recurrence.calendar.finalDate',
  'recurrence.amount.recurrenceAmount',
  'recurrence.amount.debitorMinimumAmount',
  'amount',
] as const

function MandateForm({ plans }: { readonly plans: readonly PlanRow[] }) {
  const w = useWords(recurrenceWords)
  const both = useWords(words)
  const f = useFormats()
  const once = useFormKey()
  const [asked] = useSearchParams()
  const [, navigate] = useLocation()
  const [valueType, setValueType] = useState<'FIXED' | 'VARIABLE'>('FIXED')
  const [isImmediate, setImmediate] = useState(false)
  const today = useToday()
  const { run, busy, error } = useAction(async (form: FormData) => {
    const body = bodyFrom(form)
    const { idRec } = await once((key) =>
      api<{ idRec: string }>('/panel/api/v1.1/checkout/pix-automatic', { method: 'POST', body, key }),
    )
    navigate(`/mandates/${idRec}`)
  })
  const wrong = (field: (typeof shown)[number], text: string) => (error?.of(field) ? text : undefined)
  return (
    <Form
      onSubmit={(form) => void run(form)}
      error={error}
      shown={shown}
      end={
        <Button kind="primary" type="submit" busy={busy}>
          {w.makeMandate}
        </Button>
      }
    >
      <SelectField
        label={w.plan}
        name="planId"
        defaultValue={asked.get('plan') ?? plans[0]!.id}
        options={plans.map((plan) => [
          plan.id,
          `${plan.title} · ${f.money(plan.recurrenceAmount)} · ${w[plan.frequency]}`,
        ])}
        error={wrong('recurrence.planId', w.wrongPlan)}
      />
      <TextField
        label={both.reference}
        name="referenceCode"
        required
        maxLength={100}
        error={wrong('referenceCode', w.wrongReference)}
      />
      <div className="grid">
        <TextField label={w.name} name="name" required maxLength={255} error={wrong('shopper.name', w.wrongName)} />
        <TextField label={both.email} name="email" type="email" required error={wrong('shopper.email', w.wrongEmail)} />
        <TextField
          label={both.document}
          name="document"
          required
          hint={w.documentHint}
          error={wrong('shopper.document.number', w.wrongDocument)}
        />
      </div>
      <div className="grid">
        <TextField
          key={today}
          label={w.initialDate}
          name="initialDate"
          type="date"
          required
          defaultValue={today && daysAfter(today, FIRST_DUE_DAYS)}
          error={wrong('recurrence.calendar.initialDate', w.wrongInitial)}
        />
        <TextField
          label={w.finalDate}
          name="finalDate"
          type="date"
          error={wrong('recurrence.calendar.finalDate', w.wrongFinal)}
        />
      </div>
      <div className="grid">
        <SelectField
          label={w.value}
          name="valueType"
          value={valueType}
          onChange={({ target }) => setValueType(target.value === 'VARIABLE' ? 'VARIABLE' : 'FIXED')}
          options={[
            ['FIXED', w.FIXED],
            ['VARIABLE', w.VARIABLE],
          ]}
        />
        <TextField
          label={valueType === 'FIXED' ? w.price : w.minimum}
          name="recurrenceAmount"
          inputMode="decimal"
          hint={w.asInPlan}
          error={
            wrong('recurrence.amount.recurrenceAmount', w.wrongAmount) ??
            wrong('recurrence.amount.debitorMinimumAmount', w.wrongAmount)
          }
        />
      </div>
      <CheckField
        label={w.firstPayment}
        name="immediatePayment"
        hint={w.firstPaymentHint}
        checked={isImmediate}
        onChange={({ target }) => setImmediate(target.checked)}
      />
      {isImmediate && (
        <TextField
          label={w.firstAmount}
          name="amount"
          inputMode="decimal"
          hint={w.asInPlan}
          error={wrong('amount', w.wrongAmount)}
        />
      )}
      <CheckField label={w.retries} name="retry" hint={w.retryHint} defaultChecked />
    </Form>
  )
}

/** By the account's clock, which a sandbox can turn. */
function useToday(): string {
  const session = useSession().data
  return session?.account ? session.clock.now.slice(0, 10) : ''
}

const daysAfter = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
