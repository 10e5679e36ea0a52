import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ApiError, api, sessionKey, useForgetEverything } from '../../kit/index.ts'

type Session = { readonly environment: 'sandbox' | 'production'; readonly signedIn: boolean }

export const useSession = () =>
  useQuery({ queryKey: sessionKey, queryFn: ({ signal }) => api<Session>('/operator/api/session', { signal }) })

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
