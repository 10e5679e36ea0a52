export {
  addOutflow,
  addOutflowsCte,
  type DueOutflow,
  endOutflow,
  findDueOutflows,
  findDueOutflowsOf,
  referenceOf,
} from './outflow.store.ts'
export { settlesAt } from './outflow.ts'
export { type SendContext, sendDueOrders } from './send-orders.ts'
