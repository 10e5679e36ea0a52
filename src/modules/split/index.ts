export {
  addLegsCte,
  addMessagesCte,
  countMessages,
  dropMessages,
  dropMessagesCte,
  findLegs,
  type Leg,
  type LegRow,
  legColumns,
  legRows,
  legsOfSql,
  type Message,
  postponeMessages,
  takeMessages,
} from './leg.store.ts'
export { recipientRoutes } from './split.routes.ts'
export {
  namedRecipients,
  type ResolvedLeg,
  renewalFaults,
  resolveLegs,
  type Settlement,
  type SplitRequest,
  splitTotal,
  wholeFault,
} from './split.ts'
export { parentBlock, recipientBlock, type SplitBlock, splitBlockSchema, splitRequestSchema } from './split.wire.ts'
