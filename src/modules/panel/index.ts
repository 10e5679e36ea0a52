export { liveRoutes } from './live.routes.ts'
export { panelRoutes } from './panel.routes.ts'
export { panelRecurrenceRoutes } from './recurrence.routes.ts'
