import type { ComponentType } from 'react'
import { Overview } from './overview.tsx'
import { SalePage } from './sale.tsx'
import { Sales } from './sales.tsx'

type Page = {
  /** Below /panel. */
  readonly path: string
  /** Its name in the navigation; a page without one is reached from another. */
  readonly word?: 'overview' | 'sales'
  readonly Page: ComponentType
}

/** Every page of the panel, in the order of the navigation. */
export const pages: readonly Page[] = [
  { path: '/', word: 'overview', Page: Overview },
  { path: '/sales', word: 'sales', Page: Sales },
  { path: '/sales/:uuid', Page: SalePage },
]
