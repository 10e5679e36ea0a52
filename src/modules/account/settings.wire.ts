import { type Static, type TSchema, Type } from 'typebox'
import { type Cents, centsToWire, type ShareUnits, shareFromWire, shareToWire } from '../../kernel/cents.ts'
import {
  amountOrZero,
  type Field,
  flag,
  integer,
  object,
  oneOf,
  type Read,
  withoutUndefined,
} from '../../kernel/reader.ts'
import { nullable } from '../../kernel/schema.ts'
import { accountStatuses } from './account.ts'
import type { AccountProfile, AccountSettings } from './settings.ts'

const percent: Field<ShareUnits, false> = {
  schema: Type.Number({ minimum: 0, maximum: 100, description: 'Per cent, at most four decimals.' }),
  required: false,
  read(value, field, faults) {
    const share = shareFromWire(value)
    if (share === undefined) faults.push({ field, message: 'must be from 0 to 100 with at most four decimals' })
    return share
  },
}

/** What a sandbox account may change about itself. */
export const settingsFields = {
  splitEnabled: flag(),
  uniqueReferenceCode: flag(),
  autoSettle: flag(),
  overdraftLimit: amountOrZero(),
  fees: object({ PIX: object({ percent, fixed: amountOrZero() }), PAYOUT: object({ fixed: amountOrZero() }) }),
  boleto: object({ enabled: flag(), fee: amountOrZero() }),
}

/** What an operator may change besides. */
export const operatorSettingsFields = {
  ...settingsFields,
  splitRecipientsMax: integer({ min: 1, max: 1_000 }),
  rateLimitPerSecond: integer({
    min: 0,
    max: 1_000_000,
    description: 'Requests a second for each api key; 0 is no limit.',
  }),
  status: oneOf(accountStatuses),
}

/** Keeps what was sent and leaves the rest alone. */
export function settingsChanges(read: Partial<Read<typeof operatorSettingsFields>>): Partial<AccountSettings> {
  const { fees, boleto, rateLimitPerSecond } = read
  return withoutUndefined({
    splitEnabled: read.splitEnabled,
    splitRecipientsMax: read.splitRecipientsMax,
    uniqueReferenceCode: read.uniqueReferenceCode,
    autoSettle: read.autoSettle,
    overdraftLimit: read.overdraftLimit,
    pixFeeShare: fees?.PIX?.percent,
    pixFeeFixed: fees?.PIX?.fixed,
    payoutFeeFixed: fees?.PAYOUT?.fixed,
    boletoEnabled: boleto?.enabled,
    boletoFee: boleto?.fee,
    rateLimitPerSecond: rateLimitPerSecond === 0 ? null : rateLimitPerSecond,
    status: read.status,
  })
}

export const settingsSchema = {
  splitEnabled: Type.Boolean(),
  uniqueReferenceCode: Type.Boolean(),
  autoSettle: Type.Boolean(),
  overdraftLimit: Type.Number(),
  fees: Type.Object({
    PIX: Type.Object({ percent: Type.Number(), fixed: Type.Number() }),
    PAYOUT: Type.Object({ fixed: Type.Number() }),
  }),
  boleto: Type.Object({ enabled: Type.Boolean(), fee: nullable(Type.Number()) }),
} satisfies Record<string, TSchema>
const settingsObject = Type.Object(settingsSchema)

const wireOrNull = (amount: Cents | null): number | null => (amount === null ? null : centsToWire(amount))

export const settingsWire = (settings: AccountSettings): Static<typeof settingsObject> => ({
  splitEnabled: settings.splitEnabled,
  uniqueReferenceCode: settings.uniqueReferenceCode,
  autoSettle: settings.autoSettle,
  overdraftLimit: centsToWire(settings.overdraftLimit),
  fees: {
    PIX: { percent: shareToWire(settings.pixFeeShare), fixed: centsToWire(settings.pixFeeFixed) },
    PAYOUT: { fixed: centsToWire(settings.payoutFeeFixed) },
  },
  boleto: { enabled: settings.boletoEnabled, fee: wireOrNull(settings.boletoFee) },
})

export const accountSchema = Type.Object({ id: Type.String(), name: Type.String(), email: nullable(Type.String()) })
export const accountWire = ({ uuid, name, email }: Pick<AccountProfile, 'uuid' | 'name' | 'email'>) => ({
  id: uuid,
  name,
  email,
})

export const credentialsSchema = Type.Object({
  apiKey: Type.String(),
  apiToken: Type.String(),
  webhookSecret: Type.String(),
})
