import { useQuery } from '@tanstack/react-query'
import { api } from '../../kit/index.ts'

/** What a sandbox account knows of itself, and may change. */
export type Settings = {
  readonly account: { readonly id: string; readonly name: string; readonly email: string | null }
  readonly splitEnabled: boolean
  readonly uniqueReferenceCode: boolean
  readonly autoSettle: boolean
  readonly overdraftLimit: number
  readonly fees: {
    readonly PIX: { readonly percent: number; readonly fixed: number }
    readonly PAYOUT: { readonly fixed: number }
  }
  readonly boleto: { readonly enabled: boolean; readonly fee: number | null }
}

export const settingsPath = '/panel/api/v1.1/sandbox/account'

export const useSettings = () =>
  useQuery({ queryKey: ['settings'], queryFn: ({ signal }) => api<Settings>(settingsPath, { signal }) })
