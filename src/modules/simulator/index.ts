export { outflowSimulatorRoutes } from './outflow.routes.ts'
export { registrationRoutes, selfServiceRoutes } from './self-service.routes.ts'
export { type AutoSettleContext, settleDueOutflows } from './settle-outflow.ts'
export { simulatorRoutes } from './simulator.routes.ts'
