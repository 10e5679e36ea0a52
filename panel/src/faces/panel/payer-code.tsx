import type { ReactNode } from 'react'
import { ButtonLink, Card, CopyField, isSandbox, QrImage, useWords } from '../../kit/index.ts'
import { words } from './words.ts'

type PayerCodeProps = {
  readonly plain: string
  readonly image: string
  readonly hint: string
  readonly toPhone: string
  /** Other ways to the payer. */
  readonly children?: ReactNode
}

/** What a payer scans or pastes; in a sandbox the toy bank takes it from here. */
export function PayerCode({ plain, image, hint, toPhone, children }: PayerCodeProps) {
  const w = useWords(words)
  return (
    <Card title={w.askPayer}>
      <p className="muted">{hint}</p>
      <div className="side-by-side">
        <QrImage src={image} />
        <div className="stack">
          <CopyField label={w.code} text={plain} />
          {children}
          {isSandbox() && (
            <ButtonLink href={`/phone?code=${encodeURIComponent(plain)}`} target="_blank" rel="noreferrer">
              {toPhone}
            </ButtonLink>
          )}
        </div>
      </div>
    </Card>
  )
}
