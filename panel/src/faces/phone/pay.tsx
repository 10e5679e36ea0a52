import { type FormEvent, useCallback, useEffect, useId, useRef, useState } from 'react'
import { AreaField, Button, Card, Loading, Notice, useAction, useWords } from '../../kit/index.ts'
import { Checks } from './checks.tsx'
import { decodeImage } from './decode-image.ts'
import { faultText, faultWords } from './fault-words.ts'
import { Offer } from './offer.tsx'
import { type Found, readCode } from './phone-api.ts'
import { Refused } from './refused.tsx'
import { words } from './words.ts'

type Asked = Parameters<typeof readCode>[0]

/** A link says what to read: `?code=` the text itself, `?charge=` the txid that the pay page has. */
function askedByLink(): Asked | undefined {
  const query = new URLSearchParams(location.search)
  const [code, charge] = [query.get('code'), query.get('charge')]
  return charge ? { charge } : code ? { code } : undefined
}

export function Pay({ refresh }: { readonly refresh: () => Promise<void> }) {
  const [found, setFound] = useState<Found>()
  const read = useAction(async (asked: Asked) => {
    setFound(await readCode(asked))
    await refresh()
  })
  const { run } = read
  const followed = useRef(false)
  useEffect(() => {
    const asked = askedByLink()
    if (asked === undefined || followed.current) return
    followed.current = true
    // Once: whoever loads the page again has read it already.
    history.replaceState(null, '', location.pathname)
    void run(asked)
  }, [run])
  const again = useCallback(() => setFound(undefined), [])

  if (read.busy) return <Loading />
  if (found?.reading) return <Offer found={found} reading={found.reading} refresh={refresh} again={again} />
  return (
    <div className="stack">
      {found && <NotRead found={found} />}
      <Refused error={read.error} />
      <CodeForm read={(code) => void run({ code })} />
    </div>
  )
}

function NotRead({ found }: { readonly found: Found }) {
  const w = useWords(words)
  const faults = useWords(faultWords)
  return (
    <Card title={w.notRead}>
      <div className="stack">
        <Notice tone="bad" alert>
          {faultText(faults, found.refusal!)}
        </Notice>
        {found.checks.length > 0 && <Checks checks={found.checks} />}
      </div>
    </Card>
  )
}

function CodeForm({ read }: { readonly read: (code: string) => void }) {
  const w = useWords(words)
  const [code, setCode] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (code.trim() !== '') read(code.trim())
  }
  return (
    <div className="stack">
      <form className="stack" onSubmit={submit}>
        <AreaField
          label={w.code}
          hint={w.codeHint}
          required
          rows={4}
          spellCheck={false}
          autoComplete="off"
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
        <Button kind="primary" wide type="submit">
          {w.read}
        </Button>
      </form>
      <ImageField read={read} />
    </div>
  )
}

function ImageField({ read }: { readonly read: (code: string) => void }) {
  const w = useWords(words)
  const [missing, setMissing] = useState(false)
  const decode = useAction(async (file: File) => {
    setMissing(false)
    const code = await decodeImage(file)
    if (code === undefined) setMissing(true)
    else read(code)
  })
  const id = useId()
  return (
    <div className="stack-tight">
      {/* The browser's own file button speaks the browser's language: the label is the button instead. */}
      <label className="button button-secondary button-wide phone-picture">
        {w.image}
        <input
          className="only-heard"
          type="file"
          accept="image/*"
          aria-busy={decode.busy}
          aria-invalid={missing || undefined}
          aria-describedby={`${id}-hint`}
          onChange={(event) => {
            const file = event.target.files?.[0]
            // The same picture may be chosen again.
            event.target.value = ''
            if (file) void decode.run(file)
          }}
        />
      </label>
      <span className="field-hint" id={`${id}-hint`}>
        {w.imageHint}
      </span>
      {missing && (
        <Notice tone="bad" alert>
          {w.noCodeInImage}
        </Notice>
      )}
    </div>
  )
}
