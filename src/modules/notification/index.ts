export { notificationChecks } from './audit.ts'
export { keepNotificationDays } from './days.ts'
export { createDispatcher, type Dispatcher, type DispatcherObserver } from './dispatcher.ts'
export { type EventName, queryOf } from './event.ts'
export { type Delivery, type DeliveryAttempt, findDeliveries, findDeliveryMarks } from './find-deliveries.ts'
export { notificationRoutes } from './notification.routes.ts'
export { type News, notificationFor } from './notification.ts'
export {
  addNotificationsCte,
  type Outbox,
  type Outgo,
  outboxAfterCommit,
  outgoColumns,
  outgoRows,
  queueNotificationsCte,
} from './outbox.ts'
export { countWaiting } from './queue.store.ts'
export { sendTest } from './send-test.ts'
export { type Telling, tell } from './tell.ts'
