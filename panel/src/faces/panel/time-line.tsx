import type { ReactNode } from 'react'
import { Badge, useBookName, useFormats, useWords } from '../../kit/index.ts'
import { Webhook } from './delivery.tsx'
import { type Happening, toneOf } from './sale-types.ts'
import { misfitWords, type TransferName, transferWords, words } from './words.ts'

export function TimeLine({ events }: { readonly events: readonly Happening[] }) {
  const w = useWords(words)
  const f = useFormats()
  return (
    <ol className="time-line">
      {events.map((event) => (
        <li key={keyOf(event)} className="stack-tight">
          <div className="row-apart">
            <strong>
              <Title event={event} />
            </strong>
            <span className="small muted number">{event.at === null ? w.unknownTime : f.dateTime(event.at)}</span>
          </div>
          <Details event={event} />
        </li>
      ))}
    </ol>
  )
}

/** The same thing keeps its place when more happens: what was opened stays open. */
function keyOf(event: Happening): string {
  if (event.kind === 'transfer') return `transfer ${event.sequence}`
  if (event.kind === 'notification') return event.id
  return 'uuid' in event ? `${event.kind} ${event.uuid}` : event.kind
}

function Title({ event }: { readonly event: Happening }): ReactNode {
  const w = useWords(words)
  switch (event.kind) {
    case 'created':
      return w.created
    case 'renewed':
      return w.renewed(event.times)
    case 'paid':
      return w.wasPaid
    case 'cancelled':
      return w.cancelled
    case 'refund':
      return w.refundAskedFor
    case 'refund.closed':
      return w.refundClosed
    case 'reversal':
      return w.reversalMade
    case 'reversal.closed':
      return w.reversalClosed
    case 'transfer':
      return `${w.transfer} ${event.sequence}`
    case 'notification':
      return `${w.webhook} ${event.eventType}`
  }
}

function Details({ event }: { readonly event: Happening }): ReactNode {
  const w = useWords(words)
  const names = useWords(transferWords)
  const misfits: Readonly<Record<string, string>> = useWords(misfitWords)
  const bookName = useBookName()
  const f = useFormats()
  switch (event.kind) {
    case 'created':
      return <p className="muted">{f.money(event.amount)}</p>
    case 'paid':
      return (
        <p className="muted">
          {f.money(event.amount)} {event.payer?.name && w.by(event.payer.name)} {event.payer?.document}
        </p>
      )
    case 'refund':
    case 'reversal':
      return (
        <p className="muted">
          {f.money(event.amount)}
          {event.reason && ` · ${event.kind === 'reversal' ? (misfits[event.reason] ?? event.reason) : event.reason}`}
        </p>
      )
    case 'refund.closed':
    case 'reversal.closed':
      return (
        <p className="muted">
          {f.money(event.amount)} <Badge tone={toneOf[event.situation]!}>{w[event.situation]}</Badge>
        </p>
      )
    case 'transfer':
      return (
        <p className="muted">
          {names[event.transfer as TransferName] ?? event.transfer} · {bookName(event.from)} → {bookName(event.to)} ·{' '}
          {f.money(event.amount)}
          {event.recipient && ` · ${event.recipient.name ?? event.recipient.recipientId}`}
        </p>
      )
    case 'notification':
      return <Webhook delivery={event} />
    default:
      return null
  }
}
