import { type ListAddress, useListing } from '../../kit/index.ts'
import type { Page } from './types.ts'

const PAGE_SIZE = 25

export const useOperatorListing = <Row>(path: `/${string}`, address: ListAddress) =>
  useListing<Page<Row>>(`/operator/api${path}?maxPageResults=${PAGE_SIZE}`, address)
