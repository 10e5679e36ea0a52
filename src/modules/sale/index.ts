export { saleChecks } from './audit.ts'
export { addChargeSalesCte, cancelChargeSalesCte, countSalesCte } from './charge-sales.ts'
export { checkoutRoutes, wantsImage } from './checkout.routes.ts'
export { checkoutHead, createCheckoutParser, knownShopperField, shopperFrom } from './checkout.ts'
export { type CreateSale, type CreateSaleOutcome, chargeOf, createSales } from './create-sales.ts'
export { expireLateSales, expireSale, expireSales, findNextExpiries } from './expire-sales.ts'
export { findPayable, type Payable } from './find-payable.ts'
export { findPostedSales, findSales, findSalesById } from './find-sales.ts'
export { countPaidCte, holdSalesCte, payChildrenCte, paySalesCte, takeTurnsCte } from './pay-sales.ts'
export { paymentConfirmation } from './payment-confirmation.ts'
export { createQrImages, type QrImages } from './qr-images.ts'
export { qrImageRoutes, saleRoutes } from './sale.routes.ts'
export {
  changeRefunded,
  findChargeSales,
  findPayableSales,
  findSale,
  findSaleHeads,
  lockAnySale,
  type PayableSaleRecord,
  type SaleHead,
} from './sale.store.ts'
export {
  currentTxid,
  expiryOf,
  fitPayment,
  MAX_AGE_MINUTES,
  type PaymentMisfit,
  postingsForPaidCharge,
  postingsForPaidSale,
  type Sale,
  type Shopper,
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
