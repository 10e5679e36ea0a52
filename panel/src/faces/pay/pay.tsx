import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { ApiError, api, Card, Facts, Frame, Loading, Notice, useFormats, useTitle, useWords } from '../../kit/index.ts'
import { askAgainAfter, type Charge } from './charge.ts'
import { Open } from './open.tsx'
import './pay.css'
import { words } from './words.ts'

/** `/pay/{txid}`: a charge as its payer sees it. It turns to paid by itself. */
export default function Pay() {
  const w = useWords(words)
  const [txid] = useState(() => decodeURIComponent(location.pathname.split('/')[2] ?? ''))
  const { data, error } = useQuery({
    queryKey: ['charge', txid],
    queryFn: ({ signal }) => api<{ charge: Charge }>(`/pay/api/${encodeURIComponent(txid)}`, { signal }),
    refetchInterval: ({ state }) => (isUnknown(state.error) ? false : askAgainAfter(state.data?.charge)),
  })
  useTitle(w.title)
  const charge = data?.charge
  return (
    <Frame narrow>
      {charge ? <Shown charge={charge} /> : isUnknown(error) ? <Unknown /> : <Loading />}
      {error && !isUnknown(error) && (
        <Notice tone="waiting" alert>
          {w.reconnecting}
        </Notice>
      )}
    </Frame>
  )
}

const isUnknown = (error: unknown): boolean => error instanceof ApiError && error.http === 404

function Shown({ charge }: { readonly charge: Charge }) {
  const w = useWords(words)
  const { money, dateTime } = useFormats()
  const amount = [w.amount, <strong key="amount">{money(charge.amount)}</strong>] as const
  const receiver = [w.receiver, charge.receiver] as const
  const told = { PENDING: w.waiting, PAID: w.paid, EXPIRED: w.expired, CANCELLED: w.cancelled }[charge.state]
  return (
    <>
      <p className="only-heard" role="status">
        {told}
      </p>
      {charge.state === 'PENDING' && <Open charge={charge} />}
      {charge.state === 'PAID' && (
        <Ended title={w.paid} tone="good" path="m5 12.5 4.5 4.5 9.5-10" hint={w.paidHint}>
          <Facts items={[amount, receiver, [w.paidAt, charge.paidAt && dateTime(charge.paidAt)]]} />
        </Ended>
      )}
      {charge.state === 'EXPIRED' && (
        <Ended title={w.expired} tone="waiting" path="M12 6v6.5l4 2.5" hint={w.askAgain}>
          <Facts items={[amount, receiver, [w.expiredAt, dateTime(charge.expiresAt)]]} />
        </Ended>
      )}
      {charge.state === 'CANCELLED' && (
        <Ended title={w.cancelled} tone="bad" path="m7 7 10 10M17 7 7 17" hint={w.askAgain}>
          <Facts items={[amount, receiver]} />
        </Ended>
      )}
    </>
  )
}

type EndedProps = {
  readonly title: string
  readonly tone: 'good' | 'waiting' | 'bad'
  readonly path: string
  readonly hint: string
  readonly children: ReactNode
}

function Ended({ title, tone, path, hint, children }: EndedProps) {
  useTitle(title)
  // The page changed under the payer's hands: a look at the top again.
  useEffect(() => {
    window.scrollTo(0, 0)
  }, [])
  return (
    <Card>
      <div className="stack centred">
        <svg className={`pay-mark tone-${tone}`} viewBox="0 0 24 24" aria-hidden="true">
          <path d={path} />
        </svg>
        <h1>{title}</h1>
      </div>
      {children}
      <p className="muted">{hint}</p>
    </Card>
  )
}

function Unknown() {
  const w = useWords(words)
  return (
    <div className="state">
      <h1>{w.unknown}</h1>
      <p>{w.unknownHint}</p>
    </div>
  )
}
