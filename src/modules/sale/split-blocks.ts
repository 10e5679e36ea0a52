import type { SaleId } from '../../kernel/ids.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { findLegs, parentBlock, recipientBlock, type SplitBlock } from '../split/index.ts'
import { findSettlements } from './sale.store.ts'
import type { Sale } from './sale.ts'

/** The split blocks of some sales, by sale: a parent's with the present state of its legs, a recipient's with its own. */
export async function findSplitBlocks(db: Queryable, sales: readonly Sale[]): Promise<Map<SaleId, SplitBlock>> {
  const blocks = new Map<SaleId, SplitBlock>()
  const shared = sales.filter((sale) => sale.legs > 0)
  const legs = await findLegs(db, shared)
  const settlements = shared.length === 0 ? new Map() : await findSettlements(db, [...legs.values()].flat())
  for (const sale of shared)
    blocks.set(
      sale.id,
      parentBlock(sale.amount, legs.get(sale.id) ?? [], ({ transactionId }) => settlements.get(transactionId)!),
    )
  for (const sale of sales)
    if (sale.settlement !== null) blocks.set(sale.id, recipientBlock(sale.amount, sale.settlement))
  return blocks
}
