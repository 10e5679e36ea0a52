import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { Badge, useFormats, useWords } from '../../kit/index.ts'
import type { SignedIn } from './session.ts'
import { secondsAfter } from './wire-time.ts'
import { accountWords } from './words-account.ts'

/** On every page, while the account's time is not the real one: dates there are of another day than the reader's. */
export function ClockBadge({ clock: { now, offsetSeconds } }: Pick<SignedIn, 'clock'>) {
  return <span role="status">{offsetSeconds !== 0 && <Ahead now={now} />}</span>
}

function Ahead({ now }: { readonly now: string }) {
  const a = useWords(accountWords)
  const f = useFormats()
  const day = f.date(useRunning(now))
  return (
    <Link className="clock-link" href="/settings">
      <Badge tone="waiting">{a.accountDate(day)}</Badge>
    </Link>
  )
}

/** A wire timestamp that goes on by itself between two looks at the service. */
export function useRunning(now: string): string {
  const [shown, setShown] = useState(now)
  useEffect(() => {
    const began = performance.now()
    const show = () => setShown(secondsAfter(now, Math.floor((performance.now() - began) / 1000)))
    show()
    const timer = setInterval(show, 1000)
    return () => clearInterval(timer)
  }, [now])
  return shown
}
