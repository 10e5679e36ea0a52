import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, type ListAddress } from '../../kit/index.ts'
import type { Page } from './types.ts'

const PAGE_SIZE = 25

export function useListing<Row>(path: `/${string}`, { query }: ListAddress) {
  return useQuery({
    queryKey: [path, query],
    queryFn: ({ signal }) => api<Page<Row>>(`/operator/api${path}?maxPageResults=${PAGE_SIZE}&${query}`, { signal }),
    placeholderData: keepPreviousData,
  })
}
