import { useEffect, useState } from 'react'
import { ButtonLink, Card, CopyButton, isSandbox, QrImage, useFormats, useWords } from '../../kit/index.ts'
import { type Charge, timeLeft } from './charge.ts'
import { words } from './words.ts'

/** A charge that waits for its payment. */
export function Open({ charge }: { readonly charge: Charge }) {
  const w = useWords(words)
  const { money } = useFormats()
  const code = charge.brCode ?? ''
  return (
    <div className="stack">
      <Card>
        <div className="stack-tight centred">
          <h1 className="figure">{w.pay(money(charge.amount))}</h1>
          <p>{w.to(charge.receiver)}</p>
          <Countdown charge={charge} />
        </div>
        <div className="pay-ways">
          <QrImage src={`/qr/${charge.txid}.png`} />
          <CopyButton kind="primary" wide text={code} what={w.what}>
            {w.copy}
          </CopyButton>
          <details className="pay-code">
            <summary>{w.showCode}</summary>
            <code>{code}</code>
          </details>
        </div>
        {isSandbox() && (
          <ButtonLink href={`/phone?code=${encodeURIComponent(code)}`} wide>
            {w.toyBank}
          </ButtonLink>
        )}
        <p className="row muted" aria-hidden="true">
          <span className="spinner" />
          {w.waiting}
        </p>
      </Card>
      <Card title={w.steps}>
        <ol className="pay-steps">
          <li>{w.step1}</li>
          <li>{w.step2}</li>
          <li>{w.step3}</li>
        </ol>
      </Card>
    </div>
  )
}

const TICK_MS = 500

/** By the charge's own clock: every answer of the service sets it anew, between answers it runs by itself. */
function Countdown({ charge }: { readonly charge: Charge }) {
  const w = useWords(words)
  const [seconds, setSeconds] = useState(charge.secondsLeft)
  useEffect(() => {
    const endsAt = performance.now() + charge.secondsLeft * 1000
    const tick = () => setSeconds((endsAt - performance.now()) / 1000)
    tick()
    const timer = setInterval(tick, TICK_MS)
    return () => clearInterval(timer)
  }, [charge])
  const { days, clock } = timeLeft(seconds)
  return (
    <p className="muted">
      {w.timeLeft}:{' '}
      <span className="number" role="timer">
        {days > 0 && `${w.days(days)} `}
        {clock}
      </span>
    </p>
  )
}
