import { useEffect, useRef, useState } from 'react'
import {
  api,
  Badge,
  Button,
  ButtonLink,
  Card,
  CodeBlock,
  CopyField,
  FormError,
  Notice,
  QrImage,
  useAction,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { curlLine, firstCharge, type Made, type Registered, txidOf } from './registration.ts'
import { words } from './words.ts'

export function Welcome({ registered }: { readonly registered: Registered }) {
  const w = useWords(words)
  const { account, credentials } = registered
  const heading = useRef<HTMLHeadingElement>(null)
  const title = w.welcome(account.name)
  useTitle(title)
  // The form is gone: whoever reads by ear starts here.
  useEffect(() => heading.current?.focus(), [])
  return (
    <div className="stack">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <Card title={w.credentials}>
        <Notice tone="waiting">{w.once}</Notice>
        <CopyField label="x-api-key" text={credentials.apiKey} />
        <CopyField label="x-api-token" text={credentials.apiToken} />
        <CopyField label="webhookSecret" text={credentials.webhookSecret} />
      </Card>
      <FirstCharge registered={registered} />
      <div>
        <NewWindow href="/panel" text={w.openPanel} />
      </div>
    </div>
  )
}

function FirstCharge({ registered }: { readonly registered: Registered }) {
  const w = useWords(words)
  const [made, setMade] = useState<readonly Made[]>([])
  const { run, busy, error } = useAction(async () => {
    const body = firstCharge(`first-charge-${made.length + 1}`)
    const answer = await api<Made>('/panel/api/v1.1/checkout/transparent', { method: 'POST', body })
    setMade((before) => [...before, answer])
  })
  const last = made.at(-1)
  return (
    <Card title={w.firstCharge}>
      <CodeBlock label={w.curl} code={curlLine(location.origin, registered.credentials)} />
      <p className="muted">{w.orClick}</p>
      <FormError error={error} />
      <div>
        <Button kind={last ? 'secondary' : 'primary'} busy={busy} onClick={() => void run()}>
          {last ? w.chargeAgain : w.charge}
        </Button>
      </div>
      <div role="status">{last && <MadeCharge key={last.response.uuid} made={last} />}</div>
    </Card>
  )
}

function MadeCharge({ made }: { readonly made: Made }) {
  const w = useWords(words)
  const { plain } = made.response.instructions.qrCode
  const txid = txidOf(made)
  return (
    <div className="stack">
      <Badge tone="good">{w.made}</Badge>
      <div className="row">
        <QrImage src={`/qr/${txid}.png`} />
        <div className="stack-tight">
          <NewWindow href={`/pay/${txid}`} text={w.openPay} />
          <NewWindow href={`/phone?code=${encodeURIComponent(plain)}`} text={w.openPhone} />
        </div>
      </div>
      <CopyField label={w.code} text={plain} />
    </div>
  )
}

/** This page holds what is shown once, so links leave it open. */
function NewWindow({ href, text }: { readonly href: string; readonly text: string }) {
  const w = useWords(words)
  return (
    <ButtonLink href={href} target="_blank" rel="noopener">
      {text} <span className="only-heard">{w.newWindow}</span>
    </ButtonLink>
  )
}
