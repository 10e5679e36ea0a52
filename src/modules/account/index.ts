export { accountRoutes } from './account.routes.ts'
export {
  findAccountsAhead,
  findAccountTerms,
  findApiToken,
  findClockOffsets,
  lockAccountTerms,
  opensSecrets,
  releaseClock,
  setClockOffset,
  takeClock,
  type VersionedTerms,
} from './account.store.ts'
export {
  type AccountTerms,
  accountNow,
  accountStatuses,
  feeFor,
  OPERATOR_ACCOUNT_ID,
  paymentMethods,
} from './account.ts'
export { addressBlock, attemptKeys, pruneAttempts } from './attempts.ts'
export { type Authenticator, type Caller, createAuthenticator } from './authenticate.ts'
export { findCredentialFacts } from './credential-facts.ts'
export { createDeliveryCredentials, type DeliveryCredentials, type DeliverySecrets } from './delivery-credentials.ts'
export { findNotificationSettings, type NotificationSettings } from './notification-settings.ts'
export { type OpenAccountRefusal, type OpenedAccount, openAccount } from './open-account.ts'
export { hashPassword, PASSWORD_MAX, passwordField } from './password.ts'
export {
  findLinkedRecipients,
  findRecipient,
  findRecipientNames,
  type LinkedRecipient,
  linkRecipient,
  listAllRecipients,
  listRecipients,
  type Recipient,
  setRecipientActive,
} from './recipients.ts'
export { recipientSchema, recipientWire } from './recipients.wire.ts'
export { type RememberedTerms, rememberTerms, termsHold } from './remembered-terms.ts'
export { OVERLAP_HOURS_MAX, rotateToken } from './rotate-credentials.ts'
export { findOwner, pruneSessions, setSignIn } from './session.store.ts'
export { operatorTimes, panelTimes, type Session } from './session.ts'
export {
  type AccountProfile,
  findAccountIdByUuid,
  findAccountProfile,
  listAccountProfiles,
  updateSettings,
} from './settings.ts'
export {
  accountSchema,
  accountWire,
  credentialsSchema,
  operatorSettingsFields,
  settingsChanges,
  settingsFields,
  settingsSchema,
  settingsWire,
} from './settings.wire.ts'
export {
  attempt,
  changePassword,
  checkPassword,
  createSessions,
  openChecked,
  type Sessions,
  type TooMany,
} from './sign-in.ts'
