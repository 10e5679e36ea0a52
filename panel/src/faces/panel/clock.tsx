import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  ApiError,
  api,
  Badge,
  Button,
  Card,
  Confirm,
  ErrorState,
  Form,
  FormError,
  Loading,
  SelectField,
  TextField,
  typed,
  useAction,
  useFaults,
  useFormats,
  useWords,
} from '../../kit/index.ts'
import { useRunning } from './clock-badge.tsx'
import { timeAfter, type Unit, units } from './wire-time.ts'
import { accountWords } from './words-account.ts'

type Clock = { readonly now: string; readonly offsetSeconds: number }
type Jump = { readonly from: string; readonly to: string; readonly processed: number | null }

const path = '/panel/api/v1.1/sandbox/clock'
const HOUR_S = 3_600
/** What the service takes at most, in each unit. */
const most: Readonly<Record<Unit, number>> = { hours: 43_920, days: 1_830, months: 60, years: 5 }

const readClock = (signal?: AbortSignal) => api<Clock>(path, signal ? { signal } : {})

/** Hours and days are the service's to add; a month has as many days as it has. */
async function advance(count: number, unit: Unit): Promise<Jump> {
  const { now: from } = await readClock()
  const body = unit === 'hours' || unit === 'days' ? { [unit]: count } : { to: timeAfter(from, count, unit) }
  const { now: to, processed } = await api<Clock & { processed: number }>(`${path}/advance`, { method: 'POST', body })
  return { from, to, processed }
}

/** The account's own time: everything that is due on the way of a jump happens, in order, before the jump ends. */
export function ClockCard() {
  const a = useWords(accountWords)
  const f = useFormats()
  const queries = useQueryClient()
  const [jumps, setJumps] = useState<readonly (Jump & { readonly number: number })[]>([])
  const [isAsking, setAsking] = useState(false)
  const { data, error, refetch } = useQuery({
    queryKey: ['clock'],
    queryFn: ({ signal }) => readClock(signal),
    meta: { topics: ['clock'] },
  })
  const wasMoved = async (jump: Jump) => {
    setJumps((before) => [{ ...jump, number: before.length + 1 }, ...before])
    // Anything may look otherwise now.
    await queries.invalidateQueries()
  }
  const jump = useAction(async (count: number, unit: Unit) => wasMoved(await advance(count, unit)))
  const reset = useAction(async () => {
    const { now: from } = await readClock()
    const { now: to } = await api<Clock>(`${path}/reset`, { method: 'POST' })
    setAsking(false)
    await wasMoved({ from, to, processed: null })
  })
  const one = (unit: Unit, text: string) => (
    <Button busy={jump.busy} onClick={() => void jump.run(1, unit)}>
      {text}
    </Button>
  )
  return (
    <Card title={a.clock}>
      <p className="muted">{a.clockHint}</p>
      {data === undefined && (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />)}
      {data && <Face clock={data} />}
      <fieldset className="row plain-set">
        <legend className="field-label">{a.jumpOne}</legend>
        {one('hours', a.oneHour)}
        {one('days', a.oneDay)}
        {one('months', a.oneMonth)}
        {one('years', a.oneYear)}
      </fieldset>
      <FormError error={jump.error} />
      <JumpForm onJump={wasMoved} />
      {data && data.offsetSeconds > 0 && (
        <div className="row">
          <Button kind="danger" onClick={() => setAsking(true)}>
            {a.resetClock}
          </Button>
        </div>
      )}
      <Confirm
        open={isAsking}
        title={a.resetClock}
        action={a.resetClock}
        danger
        busy={reset.busy}
        onClose={() => setAsking(false)}
        onConfirm={() => void reset.run()}
      >
        <p>{a.resetSure}</p>
        <FormError error={reset.error} />
      </Confirm>
      <div role="status">
        {jumps.length > 0 && (
          <>
            <h3>{a.jumps}</h3>
            <ol className="stack-tight">
              {jumps.map((made) => (
                <li key={made.number} className="number">
                  {a.jumped(f.dateTime(made.from), f.dateTime(made.to))} ·{' '}
                  {made.processed === null ? a.wasReset : a.played(made.processed)}
                </li>
              ))}
            </ol>
          </>
        )}
      </div>
    </Card>
  )
}

function Face({ clock }: { readonly clock: Clock }) {
  const a = useWords(accountWords)
  const f = useFormats()
  const { now, offsetSeconds } = clock
  const shown = useRunning(now)
  // A jump takes a moment itself, by which it falls short of a whole hour.
  const hours = Math.round(offsetSeconds / HOUR_S)
  const ahead = [hours >= 24 && `${f.count(Math.floor(hours / 24))} d`, `${hours % 24} h`].filter(Boolean).join(' ')
  return (
    <div className="row">
      <span className="figure">{f.dateTime(shown)}</span>
      <Badge tone={offsetSeconds > 0 ? 'info' : 'neutral'}>{offsetSeconds > 0 ? a.ahead(ahead) : a.onTime}</Badge>
    </div>
  )
}

function JumpForm({ onJump }: { readonly onJump: (jump: Jump) => Promise<void> }) {
  const a = useWords(accountWords)
  const { run, busy, error } = useAction(async (form: FormData) => {
    const unit = form.get('unit') as Unit
    const count = Number(typed(form, 'count'))
    if (!Number.isInteger(count) || count < 1 || count > most[unit])
      throw new ApiError(400, '', [{ field: 'count', message: `must be a whole number from 1 to ${most[unit]}` }])
    await onJump(await advance(count, unit))
  })
  const fault = useFaults(error)
  return (
    <Form
      onSubmit={(form) => void run(form)}
      error={error}
      shown={['count', 'days', 'hours', 'to']}
      end={
        <Button type="submit" busy={busy}>
          {a.jump}
        </Button>
      }
    >
      <div className="grid">
        <TextField
          label={a.howMany}
          name="count"
          required
          inputMode="numeric"
          autoComplete="off"
          defaultValue="1"
          error={fault('count', 'days', 'hours', 'to')}
        />
        <SelectField label={a.unit} name="unit" defaultValue="days" options={units.map((unit) => [unit, a[unit]])} />
      </div>
    </Form>
  )
}
