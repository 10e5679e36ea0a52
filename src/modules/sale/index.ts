export { saleChecks } from './audit.ts'
export { checkoutRoutes } from './checkout.routes.ts'
export { createCheckoutParser } from './checkout.ts'
export { type CreateSale, type CreateSaleOutcome, createSales } from './create-sales.ts'
export { expireLateSales, expireSale, expireSales, findNextExpiries } from './expire-sales.ts'
export { findPostedSales, findSales, findSalesById } from './find-sales.ts'
export { countPaidCte, holdSalesCte, payChildrenCte, paySalesCte, takeTurnsCte } from './pay-sales.ts'
export { paymentConfirmation } from './payment-confirmation.ts'
export { createQrImages } from './qr-images.ts'
export { qrImageRoutes, saleRoutes } from './sale.routes.ts'
export {
  changeRefunded,
  findPayableSales,
  findSale,
  lockAnySale,
  type PayableSaleRecord,
} from './sale.store.ts'
export {
  currentTxid,
  fitPayment,
  type PaymentMisfit,
  postingsForPaidSale,
  type Sale,
} from './sale.ts'
export {
  type RefundItem,
  shopperSchema,
  transactionAnswerSchema,
  transactionListSchema,
  type transactionSchema,
  transactionWire,
} from './sale.wire.ts'
export { settleStep } from './settle-legs.ts'
export { findSplitBlocks } from './split-blocks.ts'
