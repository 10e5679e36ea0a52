import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { api, Empty, ErrorState, Loading, Pagination } from '../../kit/index.ts'
import type { Page } from './types.ts'

const PAGE_SIZE = 25

/** Filters and page stand in the address: a list can be linked to, and the back button works. */
export function useListing<Row>(path: `/${string}`, filters: readonly string[] = []) {
  const [asked, setAsked] = useSearchParams()
  const page = Math.max(1, Number(asked.get('page') ?? '1') || 1)
  const filled = [...asked].filter(([name, value]) => filters.includes(name) && value !== '')
  const query = new URLSearchParams([...filled, ['page', String(page)], ['maxPageResults', String(PAGE_SIZE)]])
  const found = useQuery({
    queryKey: [path, query.toString()],
    queryFn: ({ signal }) => api<Page<Row>>(`/operator/api${path}?${query}`, { signal }),
    placeholderData: keepPreviousData,
  })
  const filter = (values: readonly (readonly [name: string, value: string])[]) =>
    setAsked(new URLSearchParams(values.filter(([, value]) => value !== '') as [string, string][]))
  const turn = (to: number) => setAsked(new URLSearchParams([...filled, ['page', String(to)]]))
  return { ...found, asked, page, filter, turn, isFiltered: filled.length > 0 }
}

type ListedProps<Row> = {
  readonly list: ReturnType<typeof useListing<Row>>
  readonly empty: string
  readonly children: (rows: readonly Row[]) => ReactNode
}

/** The rows, or what stands in their place. */
export function Listed<Row>({ list, empty, children }: ListedProps<Row>) {
  const { data, error, refetch, page, turn } = list
  if (data === undefined) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />
  return (
    <>
      {data.result.length === 0 ? <Empty title={empty} /> : children(data.result)}
      <Pagination page={page} pages={data.totalPages} onPage={turn} />
    </>
  )
}
