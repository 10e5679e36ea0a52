import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { api } from '../../kit/index.ts'

export type SignedIn = {
  readonly environment: 'sandbox' | 'production'
  readonly account: { readonly id: string; readonly name: string; readonly email: string | null }
  readonly clock: { readonly now: string; readonly offsetSeconds: number }
  readonly sessionEndsAt: string
}
type Session = SignedIn | { readonly environment: 'sandbox' | 'production'; readonly account: null }

const key = ['session']

export const useSession = () =>
  useQuery({ queryKey: key, queryFn: ({ signal }) => api<Session>('/panel/api/session', { signal }) })

/** Whatever was known is of whoever was signed in before. */
export function useForgetEverything(): () => Promise<void> {
  const queries = useQueryClient()
  return useCallback(async () => {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== key[0] })
    await queries.invalidateQueries({ queryKey: key })
  }, [queries])
}
