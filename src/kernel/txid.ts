import { assert } from './assert.ts'
import { decodeBase62, encodeBase62, uuidFromBase62, uuidToBase62 } from './base62.ts'
import type { Brand } from './brand.ts'
import type { AccountId, ChargeId, SaleId } from './ids.ts'

/** The charge's name at the rail: 31 alphanumerics that carry account, sale and how often the sale was renewed. */
export type Txid = Brand<string, 'Txid'>

export type TxidParts = { accountId: AccountId; saleId: SaleId; renewals: number }

const ACCOUNT_WIDTH = 6
const SALE_WIDTH = 22
const RENEWALS_WIDTH = 3
const shape = /^[0-9A-Za-z]{31}$/

/** The last number is no renewal: it marks the charge of a recurrence. */
const CHARGE_MARK = 62 ** RENEWALS_WIDTH - 1
export const RENEWALS_MAX = CHARGE_MARK - 1

/** So a callback, a QR image and a pay page find their account without an index over all accounts. */
export function txidOf(parts: TxidParts): Txid {
  assert(parts.renewals <= RENEWALS_MAX, 'a sale was renewed more often than its txid can count')
  return encode(parts)
}

function encode({ accountId, saleId, renewals }: TxidParts): Txid {
  const account = encodeBase62(BigInt(accountId), ACCOUNT_WIDTH)
  return `${account}${uuidToBase62(saleId)}${encodeBase62(BigInt(renewals), RENEWALS_WIDTH)}` as Txid
}

export function partsOfTxid(text: string): TxidParts | undefined {
  if (!shape.test(text)) return undefined
  const saleId = uuidFromBase62(text.slice(ACCOUNT_WIDTH, ACCOUNT_WIDTH + SALE_WIDTH))
  const accountId = decodeBase62(text.slice(0, ACCOUNT_WIDTH))
  const renewals = decodeBase62(text.slice(ACCOUNT_WIDTH + SALE_WIDTH))
  if (saleId === undefined || accountId === undefined || renewals === undefined) return undefined
  return { accountId: Number(accountId) as AccountId, saleId: saleId as SaleId, renewals: Number(renewals) }
}

type ChargeParts = { accountId: AccountId; chargeId: ChargeId }

/** `instructionId` on the wire: known from the day the charge is planned, before there is a sale. */
export const chargeTxidOf = ({ accountId, chargeId }: ChargeParts): Txid =>
  encode({ accountId, saleId: chargeId as string as SaleId, renewals: CHARGE_MARK })

export function chargeOfTxid(text: string): ChargeParts | undefined {
  const parts = partsOfTxid(text)
  return parts?.renewals === CHARGE_MARK
    ? { accountId: parts.accountId, chargeId: parts.saleId as string as ChargeId }
    : undefined
}
