import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ApiPath, api } from './api.ts'
import type { ListAddress } from './list-address.ts'

/** Registration has nothing to list. */
type ListPath = Exclude<ApiPath, '/register/api'>

/**
 * What the address asks for of a list; the page before it stays until this one is there. `topics`: news of which it is to
 * be read again.
 */
export function useListing<Answer>(path: ListPath, { query }: ListAddress, topics: readonly string[] = []) {
  return useQuery({
    queryKey: [path, query],
    queryFn: ({ signal }) => api<Answer>(`${path}${path.includes('?') ? '&' : '?'}${query}`, { signal }),
    placeholderData: keepPreviousData,
    meta: { topics },
  })
}
