import { type FormEvent, type ReactNode, useEffect, useRef } from 'react'
import type { ApiError } from './api.ts'
import { FormError } from './states.tsx'

type FormProps = {
  /** What stands in the fields, by their names. */
  readonly onSubmit: (fields: FormData) => void
  readonly error: ApiError | undefined
  /** Fields that show what is wrong with them themselves. */
  readonly shown?: readonly string[]
  readonly children: ReactNode
  /** The buttons. */
  readonly end: ReactNode
}

/** The service checks, the page shows: what is refused is said beside its field, and the first of those gets the focus. */
export function Form({ onSubmit, error, shown = [], children, end }: FormProps) {
  const element = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (error !== undefined) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [error])
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    onSubmit(new FormData(event.currentTarget))
  }
  return (
    <form className="stack" ref={element} onSubmit={submit} noValidate>
      {children}
      <FormError error={error} shown={shown} />
      <div className="row">{end}</div>
    </form>
  )
}
