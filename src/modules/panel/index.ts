export { liveRoutes } from './live.routes.ts'
export { panelRoutes } from './panel.routes.ts'
