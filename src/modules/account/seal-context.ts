import type { AccountId } from '../../kernel/ids.ts'

/** A sealed value opens only in its own place. */
export const sealContext = {
  token: (accountId: AccountId) => `account ${accountId} api token`,
  webhookSecret: (accountId: AccountId) => `account ${accountId} webhook secret`,
}
