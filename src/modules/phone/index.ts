export { phoneChecks } from './audit.ts'
export { type ChargeToCollect, collectFromPhones } from './collect-from-phones.ts'
export { giveBackToPhone } from './give-back.ts'
export { phoneRoutes } from './phone.routes.ts'
