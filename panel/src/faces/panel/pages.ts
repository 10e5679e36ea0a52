import type { ComponentType } from 'react'
import { Credentials } from './credentials.tsx'
import { MandatePage } from './mandate.tsx'
import { Mandates } from './mandates.tsx'
import { Money } from './money.tsx'
import { NewMandate } from './new-mandate.tsx'
import { NewSale } from './new-sale.tsx'
import { Notifications } from './notifications.tsx'
import { Overview } from './overview.tsx'
import { PayoutPage } from './payout.tsx'
import { NewPayout } from './payout-form.tsx'
import { Payouts } from './payouts.tsx'
import { PlanPage } from './plan.tsx'
import { NewPlan } from './plan-form.tsx'
import { Plans } from './plans.tsx'
import { Recipients } from './recipients.tsx'
import { SalePage } from './sale.tsx'
import { Sales } from './sales.tsx'
import { ScheduledPaymentPage } from './scheduled-payment.tsx'
import { ScheduledPayments } from './scheduled-payments.tsx'
import { Settings } from './settings.tsx'

type Page = {
  /** Below /panel. */
  readonly path: string
  /** Its name in the navigation; a page without one is reached from another. */
  readonly word?:
    | 'overview'
    | 'sales'
    | 'plans'
    | 'mandates'
    | 'scheduled'
    | 'money'
    | 'payouts'
    | 'recipients'
    | 'notifications'
    | 'credentials'
    | 'settings'
  /** What only a sandbox has does not exist in production. */
  readonly sandboxOnly?: true
  readonly Page: ComponentType
}

/** Every page of the panel, in the order of the navigation. */
export const pages: readonly Page[] = [
  { path: '/', word: 'overview', Page: Overview },
  { path: '/sales', word: 'sales', Page: Sales },
  { path: '/sales/new', Page: NewSale },
  { path: '/sales/:uuid', Page: SalePage },
  { path: '/plans', word: 'plans', Page: Plans },
  { path: '/plans/new', Page: NewPlan },
  { path: '/plans/:id', Page: PlanPage },
  { path: '/mandates', word: 'mandates', Page: Mandates },
  { path: '/mandates/new', Page: NewMandate },
  { path: '/mandates/:idRec', Page: MandatePage },
  { path: '/scheduled-payments', word: 'scheduled', Page: ScheduledPayments },
  { path: '/scheduled-payments/:instructionId', Page: ScheduledPaymentPage },
  { path: '/money', word: 'money', Page: Money },
  { path: '/payouts', word: 'payouts', Page: Payouts },
  { path: '/payouts/new', Page: NewPayout },
  { path: '/payouts/:uuid', Page: PayoutPage },
  { path: '/recipients', word: 'recipients', Page: Recipients },
  { path: '/notifications', word: 'notifications', Page: Notifications },
  { path: '/credentials', word: 'credentials', Page: Credentials },
  { path: '/settings', word: 'settings', sandboxOnly: true, Page: Settings },
]
