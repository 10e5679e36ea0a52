import { useQuery } from '@tanstack/react-query'
import { api } from '../../kit/index.ts'

export type Balance = {
  readonly balance: number
  readonly available: number
  readonly blocked: number
  readonly date: string
}

export const useBalance = () =>
  useQuery({
    queryKey: ['balance'],
    queryFn: ({ signal }) => api<Balance>('/panel/api/v1.1/balance', { signal }),
    meta: { topics: ['money'] },
  })
