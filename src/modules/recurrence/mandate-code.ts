import type { SaleId } from '../../kernel/ids.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { Rail } from '../../rail/rail.ts'
import { findAccountTerms } from '../account/index.ts'
import { findSale } from '../sale/index.ts'
import { mandateToOpen, referenceOfMandate } from './create-mandate.ts'
import type { Mandate } from './mandate.ts'

/** The text of a mandate's QR code, with its first payment where it has one. It never changes. */
export async function findMandateCode(db: Queryable, rail: Rail, mandate: Mandate): Promise<string> {
  const { accountId, id, idRec, immediate } = mandate
  const sale = immediate ? await findSale(db, accountId, id as string as SaleId) : undefined
  const account = (await findAccountTerms(db, [accountId])).get(accountId)!
  const [opened] = await rail.openMandates([mandateToOpen(mandate, sale ?? null, account, idRec.slice(-11))])
  return opened!.brCode
}

/** Where its image is served. */
export const mandateImagePath = (mandate: Pick<Mandate, 'accountId' | 'id'>): string =>
  `/qr/rec/${referenceOfMandate(mandate)}.png`
