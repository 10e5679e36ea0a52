export { accountRoutes } from './account.routes.ts'
export {
  findAccountsAhead,
  findAccountTerms,
  findApiToken,
  lockAccountTerms,
  releaseClock,
  setClockOffset,
  takeClock,
} from './account.store.ts'
export {
  type AccountStatus,
  type AccountTerms,
  accountNow,
  accountStatuses,
  feeFor,
  methodsOpenTo,
  OPERATOR_ACCOUNT_ID,
  type PaymentMethod,
  paymentMethods,
} from './account.ts'
export { type Authenticator, type Caller, createAuthenticator } from './authenticate.ts'
export {
  findNotificationSettings,
  type NotificationSettings,
  type NotificationSettingsView,
  type SwitchableGroup,
  switchableGroups,
  type UpdateNotificationsRefusal,
  updateNotificationSettings,
} from './notification-settings.ts'
export { type NewAccount, type OpenAccountRefusal, type OpenedAccount, openAccount } from './open-account.ts'
export { linkRecipient, type Recipient, type SetRecipientRefusal, setRecipientActive } from './recipients.ts'
export { OVERLAP_HOURS_MAX, rotateToken, rotateWebhookSecret } from './rotate-credentials.ts'
export {
  type AccountProfile,
  type AccountSettings,
  findAccountIdByUuid,
  findAccountProfile,
  listAccountProfiles,
  type UpdateSettingsRefusal,
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
