import { useQuery } from '@tanstack/react-query'
import { api, sessionKey } from '../../kit/index.ts'

export type SignedIn = {
  readonly environment: 'sandbox' | 'production'
  readonly account: { readonly id: string; readonly name: string; readonly email: string | null }
  readonly clock: { readonly now: string; readonly offsetSeconds: number }
  readonly sessionEndsAt: string
}
type Session = SignedIn | { readonly environment: 'sandbox' | 'production'; readonly account: null }

export const useSession = () =>
  useQuery({
    queryKey: sessionKey,
    queryFn: ({ signal }) => api<Session>('/panel/api/session', { signal }),
    meta: { topics: ['clock'] },
  })
