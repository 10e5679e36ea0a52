import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'
import { ApiError, api } from '../../kit/index.ts'

type Session = { readonly environment: 'sandbox' | 'production'; readonly signedIn: boolean }

const key = ['session']

export const useSession = () =>
  useQuery({ queryKey: key, queryFn: ({ signal }) => api<Session>('/operator/api/session', { signal }) })

/** Nothing that was seen stays for whoever comes next. */
export function useForgetEverything(): () => Promise<void> {
  const queries = useQueryClient()
  return useCallback(async () => {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== key[0] })
    await queries.invalidateQueries({ queryKey: key })
  }, [queries])
}

/** A session that ended is seen by the next question of any page. */
export function useEndOfSession(): void {
  const queries = useQueryClient()
  const forget = useForgetEverything()
  useEffect(
    () =>
      queries.getQueryCache().subscribe((event) => {
        if (event.type !== 'updated' || event.action.type !== 'error') return
        if (event.action.error instanceof ApiError && event.action.error.http === 401) void forget()
      }),
    [queries, forget],
  )
}
