export { registrationRoutes, selfServiceRoutes } from './self-service.routes.ts'
export { simulatorRoutes } from './simulator.routes.ts'
