import { useSearchParams } from 'wouter'
import { amountAsDigits } from './typed.ts'

export type ListAddress = {
  /** As it stands in the address, to begin a field with. */
  readonly of: (filter: string) => string
  /** What to ask the service for: known filters that are filled in, and the page. */
  readonly query: string
  readonly isFiltered: boolean
  readonly page: number
  readonly filter: (form: FormData) => void
  readonly clear: () => void
  readonly turn: (page: number) => void
}

const sent = (name: string, value: string): string => (name === 'amount' ? amountAsDigits(value) : value)

/**
 * Filters and page stand in the address: a list can be linked to, and the back button works. `firstPage` is the service's
 * number of the first page; a person's is 1.
 */
export function useListAddress(filters: readonly string[], firstPage: 0 | 1 = 1): ListAddress {
  const [asked, setAsked] = useSearchParams()
  const given = [...asked].filter(([name, value]) => value !== '' && filters.includes(name))
  const page = Math.max(1, Math.floor(Number(asked.get('page') ?? '1')) || 1)
  const query = given.map(([name, value]) => [name, sent(name, value)])
  return {
    of: (filter) => asked.get(filter) ?? '',
    query: new URLSearchParams(page > 1 ? [...query, ['page', String(page - 1 + firstPage)]] : query).toString(),
    isFiltered: given.length > 0,
    page,
    filter(form) {
      const filled = filters.map((name) => [name, String(form.get(name) ?? '').trim()])
      setAsked(new URLSearchParams(filled.filter(([, value]) => value !== '')))
    },
    clear: () => setAsked(new URLSearchParams()),
    turn: (to) => setAsked(new URLSearchParams([...given, ['page', String(to)]])),
  }
}
