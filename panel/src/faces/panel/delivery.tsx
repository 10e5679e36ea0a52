import { useQuery } from '@tanstack/react-query'
import { api, Badge, CodeBlock, ErrorState, Loading, useFormats, useWords } from '../../kit/index.ts'
import { type Attempt, type Delivery, toneOf } from './sale-types.ts'
import { words } from './words.ts'

type WebhookProps = {
  readonly delivery: Delivery
  /** Attempts stand open: for whoever came to look at them. */
  readonly open?: boolean
}

/** A notification, whether it arrived, and every attempt. */
export function Webhook({ delivery, open = false }: WebhookProps) {
  const w = useWords(words)
  return (
    <div className="stack-tight">
      <div className="row">
        <Badge tone={toneOf[delivery.state]!}>{delivery.state === 'PENDING' ? w.waiting : w[delivery.state]}</Badge>
        <span className="small muted">{w.attempts(delivery.attempts.length)}</span>
        <code className="small">{delivery.endpoint}</code>
      </div>
      {delivery.attempts.map((attempt) => (
        <AttemptDetails key={attempt.number} attempt={attempt} open={open} />
      ))}
    </div>
  )
}

/** Request and response side by side; one below the other on a phone. */
function AttemptDetails({ attempt, open }: { readonly attempt: Attempt; readonly open: boolean }) {
  const w = useWords(words)
  const f = useFormats()
  const answered = attempt.responseCode > 0 ? String(attempt.responseCode) : (attempt.failure ?? w.noAnswer)
  return (
    <details open={open}>
      <summary>
        {w.attempt(attempt.number)} · {answered} · {f.dateTime(attempt.date)} ·{' '}
        {w.duration(f.count(attempt.durationMs))}
      </summary>
      <div className="side-by-side">
        <CodeBlock
          label={w.request}
          code={`POST ${attempt.endpoint}\n${headerLines(attempt.request.headers)}\n\n${pretty(attempt.request.payload)}`}
        />
        <CodeBlock
          label={w.response}
          code={`${answered}\n${headerLines(attempt.response.headers)}\n\n${pretty(attempt.response.body)}`}
        />
      </div>
    </details>
  )
}

const headerLines = (headers: Readonly<Record<string, unknown>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Everything that was told of one thing, as it is told. */
export const useDeliveries = (uuid: string) =>
  useQuery({
    queryKey: ['deliveries', uuid],
    queryFn: ({ signal }) =>
      api<{ deliveries: readonly Delivery[] }>(`/panel/api/deliveries/${encodeURIComponent(uuid)}`, { signal }),
    meta: { topics: ['deliveries'] },
  })

type DeliveriesProps = { readonly of: string; readonly none: string; readonly open?: boolean }

export function Deliveries({ of: uuid, none, open = false }: DeliveriesProps) {
  const w = useWords(words)
  const { data, error, refetch } = useDeliveries(uuid)
  if (data === undefined) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />
  if (data.deliveries.length === 0) return <p className="muted">{none}</p>
  return (
    <ol className="time-line">
      {data.deliveries.map((delivery) => (
        <li key={delivery.id} className="stack-tight">
          <strong>{`${w.webhook} ${delivery.eventType}`}</strong>
          <Webhook delivery={delivery} open={open} />
        </li>
      ))}
    </ol>
  )
}
