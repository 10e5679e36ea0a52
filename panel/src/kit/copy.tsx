import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { kitWords } from './kit-words.ts'
import { useWords } from './words.ts'

const SHOWN_MS = 2_000

/** The clipboard needs a secure page; on plain http (not localhost) the older way still works. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'only-heard'
    document.body.append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    return done
  }
}

type CopyButtonProps = {
  readonly text: string
  /** What is copied, for those who do not see what stands beside the button. */
  readonly what: string
  readonly kind?: 'primary' | 'secondary' | 'quiet'
  readonly small?: boolean
  readonly wide?: boolean
  readonly children?: ReactNode
}

export function CopyButton({ text, what, kind = 'secondary', small = false, wide = false, children }: CopyButtonProps) {
  const w = useWords(kitWords)
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready')
  const timer = useRef<number>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async () => {
    const done = await copyText(text)
    setState(done ? 'copied' : 'failed')
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => setState('ready'), SHOWN_MS)
  }
  const label = state === 'copied' ? w.copied : state === 'failed' ? w.copyFailed : (children ?? w.copy)
  return (
    <>
      <Button
        kind={kind}
        small={small}
        wide={wide}
        aria-label={children === undefined && state === 'ready' ? w.copyWhat(what) : undefined}
        onClick={() => void copy()}
      >
        {state === 'copied' && <span aria-hidden="true">✓</span>}
        {label}
      </Button>
      <span className="only-heard" role="status">
        {state === 'copied' ? w.copied : state === 'failed' ? w.copyFailed : ''}
      </span>
    </>
  )
}

/** A short text to be copied: an api key, an id, a link. */
export function CopyField({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <div className="field">
      <span className="field-label">{label}</span>
      <div className="secret">
        <code>{text}</code>
        <CopyButton small text={text} what={label} />
      </div>
    </div>
  )
}

type CodeBlockProps = {
  /** What it is: named to a screen reader and on the copy button. */
  readonly label: string
  readonly code: string
  /** Long lines break instead of scrolling. */
  readonly wrap?: boolean
}

export function CodeBlock({ label, code, wrap = false }: CodeBlockProps) {
  return (
    <div className={wrap ? 'code code-wrapped' : 'code'}>
      <div className="row-apart">
        <span className="field-label">{label}</span>
        <CopyButton small text={code} what={label} />
      </div>
      <section aria-label={label}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <pre tabIndex={0}>
          <code>{code}</code>
        </pre>
      </section>
    </div>
  )
}

/** The image of a charge, from `/qr/{txid}.png`, or of a mandate. */
export function QrImage({ src, alt }: { readonly src: string; readonly alt?: string }) {
  const w = useWords(kitWords)
  return <img className="qr" src={src} alt={alt ?? w.qrAlt} width="256" height="256" />
}
