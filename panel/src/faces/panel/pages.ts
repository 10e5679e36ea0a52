import type { ComponentType } from 'react'
import { MandatePage } from './mandate.tsx'
import { Mandates } from './mandates.tsx'
import { NewMandate } from './new-mandate.tsx'
import { Overview } from './overview.tsx'
import { PlanPage } from './plan.tsx'
import { NewPlan } from './plan-form.tsx'
import { Plans } from './plans.tsx'
import { SalePage } from './sale.tsx'
import { Sales } from './sales.tsx'
import { ScheduledPaymentPage } from './scheduled-payment.tsx'
import { ScheduledPayments } from './scheduled-payments.tsx'

type Page = {
  /** Below /panel. */
  readonly path: string
  /** Its name in the navigation; a page without one is reached from another. */
  readonly word?: 'overview' | 'sales' | 'plans' | 'mandates' | 'scheduled'
  readonly Page: ComponentType
}

/** Every page of the panel, in the order of the navigation. */
export const pages: readonly Page[] = [
  { path: '/', word: 'overview', Page: Overview },
  { path: '/sales', word: 'sales', Page: Sales },
  { path: '/sales/:uuid', Page: SalePage },
  { path: '/plans', word: 'plans', Page: Plans },
  { path: '/plans/new', Page: NewPlan },
  { path: '/plans/:id', Page: PlanPage },
  { path: '/mandates', word: 'mandates', Page: Mandates },
  { path: '/mandates/new', Page: NewMandate },
  { path: '/mandates/:idRec', Page: MandatePage },
  { path: '/scheduled-payments', word: 'scheduled', Page: ScheduledPayments },
  { path: '/scheduled-payments/:instructionId', Page: ScheduledPaymentPage },
]
