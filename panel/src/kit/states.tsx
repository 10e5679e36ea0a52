import { Component, type ReactNode } from 'react'
import { ApiError } from './api.ts'
import { Button } from './button.tsx'
import { Notice } from './data.tsx'
import { useFaultText } from './faults.ts'
import { kitWords } from './kit-words.ts'
import { useWords } from './words.ts'

export function Loading() {
  const w = useWords(kitWords)
  return (
    <div className="state" role="status">
      <span className="spinner" aria-hidden="true" />
      <span>{w.loading}</span>
    </div>
  )
}

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="state">
    <strong>{title}</strong>
    {children}
  </div>
)

/** What to tell a person about an error: words of their language where the page can know them. */
export function useErrorText(): (error: unknown) => string {
  const w = useWords(kitWords)
  const fault = useFaultText()
  return (error) => {
    if (!(error instanceof ApiError)) return w.broken
    if (error.http === 0) return w.offline
    if (error.http === 401) return w.signedOut
    if (error.http === 404) return w.notThere
    if (error.http === 429) return w.tooMany
    if (error.http >= 500) return w.trouble
    const details = error.causes.map(({ field, message, code }) => {
      const said = message ?? code
      const known = said && fault(said)
      // What is known of it is a sentence; what is not needs the name of its field.
      return known === said ? [field, said].filter(Boolean).join(': ') : known
    })
    return `${w.refused}: ${[...new Set(details)].join(' ') || error.message}`
  }
}

type ErrorStateProps = { readonly error: unknown; readonly onRetry?: () => void }

/** In place of what could not be loaded. */
export function ErrorState({ error, onRetry }: ErrorStateProps) {
  const w = useWords(kitWords)
  const text = useErrorText()(error)
  return (
    <div className="state" role="alert">
      <strong>{text}</strong>
      {onRetry && <Button onClick={onRetry}>{w.retry}</Button>}
    </div>
  )
}

/** Above the buttons of a form whose action was refused. Faults that a field shows itself are named in `shown`. */
export function FormError({
  error,
  shown = [],
}: {
  readonly error: ApiError | undefined
  readonly shown?: readonly string[]
}) {
  const text = useErrorText()
  if (error === undefined) return null
  const isShown =
    error.causes.length > 0 && error.causes.every(({ field }) => field !== undefined && shown.includes(field))
  return isShown ? null : (
    <Notice tone="bad" alert>
      {text(error)}
    </Notice>
  )
}

export function NotFound() {
  const w = useWords(kitWords)
  return (
    <div className="state">
      <h1>{w.notFound}</h1>
      <p>{w.notFoundHint}</p>
    </div>
  )
}

function Broken() {
  const w = useWords(kitWords)
  return (
    <div className="state" role="alert">
      <strong>{w.broken}</strong>
      <Button onClick={() => location.reload()}>{w.retry}</Button>
    </div>
  )
}

/** A bug in one page leaves a sentence and a button, not a white window. */
export class Guard extends Component<{ readonly children: ReactNode }, { readonly failed: boolean }> {
  override state = { failed: false }
  static getDerivedStateFromError = () => ({ failed: true })
  override render() {
    return this.state.failed ? <Broken /> : this.props.children
  }
}
