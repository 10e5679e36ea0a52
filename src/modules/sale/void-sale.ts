import { assert } from '../../kernel/assert.ts'
import type { AccountId, SaleId } from '../../kernel/ids.ts'
import { findMove } from '../../kernel/moves.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { findSale, lockSale, moveSale } from './sale.store.ts'
import { type Sale, saleMoves } from './sale.ts'

export type VoidSaleRefusal = { code: 'sale.notFound' } | { code: 'sale.notPending' } | { code: 'sale.isCharge' }

export async function voidSale(
  tx: Transaction,
  { accountId, saleId }: { accountId: AccountId; saleId: SaleId | undefined },
): Promise<Result<Sale, VoidSaleRefusal>> {
  // It is at the payer's bank: whoever cancels it cancels the charge, and holds the mandate before the sale.
  const seen = saleId && (await findSale(tx, accountId, saleId))
  if (seen && seen.chargeId !== null) return refuse({ code: 'sale.isCharge' })
  const sale = saleId && (await lockSale(tx, accountId, saleId))
  if (!sale) return refuse({ code: 'sale.notFound' })
  const move = findMove(saleMoves, sale.state, 'void')
  if (!move) return refuse({ code: 'sale.notPending' })

  const moved = await moveSale(tx, sale, move)
  assert(moved, 'a locked sale changed under us')
  return ok({ ...sale, state: move[2] })
}
