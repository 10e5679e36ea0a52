export { saleChecks } from './audit.ts'
export { checkoutRoutes } from './checkout.routes.ts'
export { type CheckoutRequest, createCheckoutParser } from './checkout.ts'
export { type CreateSale, type CreateSaleOutcome, createSales } from './create-sales.ts'
export { expireSale, expireSales, findNextExpiry } from './expire-sales.ts'
export { findSales } from './find-sales.ts'
export { countPaidCte, holdSalesCte, paySalesCte } from './pay-sales.ts'
export { createQrImages } from './qr-images.ts'
export { qrImageRoutes, saleRoutes } from './sale.routes.ts'
export { findPayableSales, findSale, type PayableSaleRecord } from './sale.store.ts'
export {
  currentTxid,
  fitPayment,
  type PaymentMisfit,
  postingsForPaidSale,
  type Sale,
  type SaleState,
  saleMoves,
  saleStates,
} from './sale.ts'
export { voidSale } from './void-sale.ts'
