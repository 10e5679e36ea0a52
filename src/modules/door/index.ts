export { applyRailEvents, type DoorContext, type RailEventOutcome } from './apply-rail-events.ts'
export { doorChecks } from './audit.ts'
export { createDoor, type Door } from './door.ts'
export { findPayer } from './inbox.store.ts'
