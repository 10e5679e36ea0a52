import type { FormEvent } from 'react'
import { useSearchParams } from 'wouter'

export type Filters = {
  /** What is asked for now, to stand in the fields. */
  readonly value: (name: string) => string
  /** From 1. */
  readonly page: number
  /** For the service, whose pages of recurrences begin at 0. */
  readonly query: string
  readonly isFiltered: boolean
  readonly submit: (event: FormEvent<HTMLFormElement>) => void
  readonly clear: () => void
  readonly turn: (page: number) => void
}

/** Filters and page stand in the address: a list can be linked to, and the back button works. */
export function useFilters(names: readonly string[]): Filters {
  const [asked, setAsked] = useSearchParams()
  const page = Math.max(1, Math.floor(Number(asked.get('page') ?? '1')) || 1)
  const filled = names.flatMap((name) => {
    const value = asked.get(name) ?? ''
    return value === '' ? [] : [[name, value]]
  })
  return {
    value: (name) => asked.get(name) ?? '',
    page,
    query: new URLSearchParams([...filled, ['page', String(page - 1)]]).toString(),
    isFiltered: filled.length > 0,
    submit(event) {
      event.preventDefault()
      const form = new FormData(event.currentTarget)
      const given = names.map((name) => [name, String(form.get(name) ?? '').trim()])
      setAsked(new URLSearchParams(given.filter(([, value]) => value !== '')))
    },
    clear: () => setAsked(new URLSearchParams()),
    turn: (to) => setAsked(new URLSearchParams([...filled, ['page', String(to)]])),
  }
}
