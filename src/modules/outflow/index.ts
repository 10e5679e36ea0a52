export { type AskContext, lookUpOrders, withdrawOrders } from './ask-orders.ts'
export {
  addOutflow,
  addOutflowsCte,
  countOrders,
  type DueOutflow,
  endOutflow,
  findDueOutflows,
  findDueOutflowsOf,
  goOn,
  lockOrder,
  referenceOf,
  wantBack,
} from './outflow.store.ts'
export { settlesAt, withdrawn } from './outflow.ts'
export { type SendContext, sendDueOrders } from './send-orders.ts'
export { beginToSettle, bringNear } from './settle-open.ts'
