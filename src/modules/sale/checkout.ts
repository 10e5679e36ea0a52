import { type TSchema, Type } from 'typebox'
import type { Cents } from '../../kernel/cents.ts'
import { hasCnpjShape, hasCpfShape, isCnpj, isCpf, normalizeDocument } from '../../kernel/documents.ts'
import {
  amount,
  anything,
  check,
  email,
  type Fault,
  fault,
  integer,
  isObject,
  jsonText,
  object,
  objectSchema,
  oneOf,
  type Read,
  readFields,
  required,
  text,
  textOrNumber,
  url,
} from '../../kernel/reader.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { paymentMethods } from '../account/index.ts'
import { type SplitRequest, splitRequestSchema } from '../split/index.ts'
import { MAX_AGE_MINUTES, type Shopper } from './sale.ts'

/** A checkout whose fields are all right; what depends on the account is decided in the batch. */
export type CheckoutRequest = {
  readonly amount: Cents
  readonly referenceCode: string
  readonly maxAgeMinutes: number
  readonly callbackUrl: string | null
  readonly shopper: Shopper
  readonly extra: string | null
  /** Null when nothing is shared. Its rules need the account, so they are decided in the batch. */
  readonly split: SplitRequest | null
}

const discontinuedBanks = ['BB', 'BRADESCO', 'CAIXA', 'ITAU', 'SANTANDER', 'ORIGINAL', 'INTER', 'BS2']
const discontinuedMethods = new Set(
  discontinuedBanks.flatMap((bank) => [`${bank}_TRANSFER`, `${bank}_CASH`, `${bank}_DEPOSIT`]),
)

const documentFields = {
  type: required(oneOf(['CPF', 'CNPJ', 'OTHER'], { code: 'shopper.document.type.invalid' })),
  number: required(
    text({
      min: 2,
      max: 25,
      code: 'shopper.document.number.invalid',
      description: 'CPF and CNPJ may carry punctuation.',
    }),
  ),
}
type ShopperDocument = Read<typeof documentFields>

/** Check digits are verified where money is real; a sandbox may invent people. */
function documentFault({ type, number }: ShopperDocument, field: string, verifyDigits: boolean): Fault | undefined {
  const plain = normalizeDocument(number)
  const right = {
    CPF: () => (verifyDigits ? isCpf(plain) : hasCpfShape(plain)),
    CNPJ: () => (verifyDigits ? isCnpj(plain) : hasCnpjShape(plain)),
    OTHER: () => true,
  }[type]()
  return right ? undefined : fault(`${field}.number`, `must be a ${type}`, 'shopper.document.number.invalid')
}

const bankText = (name: string) => text({ max: 60, code: `shopper.bankDetails.${name}.invalid` })

/** In the order in which faults are reported. */
const shopperFields = (verifyDigits: boolean) => ({
  id: textOrNumber({ max: 255, code: 'shopper.id.invalid' }),
  name: required(text({ max: 255, code: 'shopper.name.length', example: 'Maria da Silva' }), 'shopper.name.is_null'),
  email: required(email({ code: 'shopper.email.invalid', example: 'maria@example.com' })),
  document: check(object(documentFields, { code: 'shopper.document.number.invalid' }), (document, field) =>
    documentFault(document, field, verifyDigits),
  ),
  phone: object(
    {
      type: oneOf(['MOBILE', 'HOME', 'WORK', 'OTHER'], { code: 'shopper.phone.type.invalid' }),
      number: text({ max: 25, code: 'shopper.phone.number.invalid' }),
    },
    { code: 'shopper.phone.type.invalid' },
  ),
  bankDetails: object(
    { bank: bankText('bank'), branch: bankText('branch'), account: bankText('account') },
    { code: 'shopper.bankDetails.invalid' },
  ),
})
type ReadShopper = Read<ReturnType<typeof shopperFields>>

export const shopperField = (verifyDigits: boolean) =>
  required(object(shopperFields(verifyDigits), { code: 'shopper.is_null' }), 'shopper.is_null')

/** Whoever is charged again and again is known by CPF or CNPJ. */
export const knownShopperField = (verifyDigits: boolean) => {
  const fields = shopperFields(verifyDigits)
  const known = check(fields.document, ({ type }, field) =>
    type === 'OTHER' ? fault(`${field}.type`, 'must be CPF or CNPJ', 'shopper.document.type.invalid') : undefined,
  )
  // Written over in its place, so that faults keep their order.
  const all = { ...fields, document: required(known, 'shopper.document.is_null') }
  return required(object(all, { code: 'shopper.is_null' }), 'shopper.is_null')
}

/** Fields that every kind of checkout has. */
export const checkoutHead = {
  currency: required(oneOf(['BRL'], { code: 'currency.invalid', message: 'must be BRL', example: 'BRL' })),
  referenceCode: required(
    text({ max: 100, code: 'referenceCode.length', message: 'must have 1 to 100 characters', example: 'order-1' }),
  ),
  maxAge: integer({
    min: MAX_AGE_MINUTES.min,
    max: MAX_AGE_MINUTES.max,
    code: 'maxAge.limit',
    description: 'Minutes until it expires unanswered; 1440 by default.',
  }),
}

/** In the order in which faults are reported. */
const checkoutFields = (verifyDigits: boolean, splits: boolean) => ({
  currency: checkoutHead.currency,
  amount: required(amount({ example: 99.9 })),
  referenceCode: checkoutHead.referenceCode,
  maxAge: checkoutHead.maxAge,
  paymentMethod: required(
    check(
      anything(
        Type.String({
          enum: [...paymentMethods],
          examples: ['PIX'],
          description: 'PIX. The other methods are known but not offered yet: they answer 400 `paymentMethod.invalid`.',
        }),
      ),
      (method, field) => methodFault(method, field, splits),
    ),
  ),
  callbackURL: url({ code: 'callbackURL.invalid', description: 'Receives the payment confirmation of this charge.' }),
  observation: text({ max: 255, code: 'observation.length' }),
  redirectURL: url({ code: 'redirectURL.invalid' }),
  shopper: shopperField(verifyDigits),
  taxData: jsonText({ maxBytes: 8_192, objectOnly: true, code: 'taxData.invalid' }),
  sellersTransactions: jsonText({ maxBytes: 32_768, code: 'sellersTransactions.invalid' }),
  recurrence: jsonText({ maxBytes: 32_768, code: 'recurrence.invalid' }),
  split: anything(splitRequestSchema),
})

const checkoutExample = {
  currency: 'BRL',
  amount: 10.5,
  referenceCode: 'order-1',
  paymentMethod: 'PIX',
  shopper: { name: 'Maria da Silva', email: 'maria@example.com', document: { type: 'CPF', number: '529.982.247-25' } },
}

export type CheckoutParser = {
  readonly schema: TSchema
  /** All broken fields at once, in the order of the contract. */
  parse(body: unknown): Result<CheckoutRequest, readonly Fault[]>
}

export function createCheckoutParser(verifyDigits: boolean): CheckoutParser {
  const alone = checkoutFields(verifyDigits, false)
  const withSplit = checkoutFields(verifyDigits, true)
  return {
    schema: objectSchema(alone, { examples: [checkoutExample] }),
    parse(body) {
      const splits = isObject(body) && body['split'] != null
      const read = readFields(splits ? withSplit : alone, body)
      if (!read.ok) return refuse(read.refusal)
      return ok(requestFrom(read.value, splits ? splitFrom(read.value, body) : null))
    },
  }
}

type ReadCheckout = Read<ReturnType<typeof checkoutFields>>

const schedulingFields = ['scheduledDate', 'schedule', 'scheduling']

const splitFrom = (value: ReadCheckout, body: Record<string, unknown>): SplitRequest => ({
  split: body['split'],
  paymentMethod: String(value.paymentMethod),
  recurrence: value.recurrence !== undefined,
  scheduled: schedulingFields.some((name) => body[name] != null),
  sellersTransactions: value.sellersTransactions !== undefined,
  taxData: value.taxData !== undefined,
})

const requestFrom = (value: ReadCheckout, split: SplitRequest | null): CheckoutRequest => ({
  amount: value.amount,
  referenceCode: value.referenceCode,
  maxAgeMinutes: value.maxAge ?? MAX_AGE_MINUTES.default,
  callbackUrl: value.callbackURL ?? null,
  shopper: shopperFrom(value.shopper),
  extra: extraText(value),
  split,
})

function methodFault(method: unknown, field: string, splits: boolean): Fault | undefined {
  if (typeof method === 'string' && discontinuedMethods.has(method))
    return fault(field, 'bank transfer and cash deposit are discontinued', 'bank_transfer.discontinued')
  const known = paymentMethods.includes(method as 'PIX')
  // With split, another known method is the split's error (split.unsupportedPaymentMethod), not the field's.
  const passes = method === 'PIX' || (known && splits)
  return passes ? undefined : fault(field, 'unknown payment method', 'paymentMethod.invalid')
}

/** As stored and as echoed: what was not sent is not there. */
export function shopperFrom({ id, name, email, document, phone, bankDetails }: ReadShopper): Shopper {
  return {
    id: id ?? null,
    name,
    email,
    ...(document && { document: plainDocument(document) }),
    ...(phone && { phone: phone as NonNullable<Shopper['phone']> }),
    ...(bankDetails && { bankDetails: bankDetails as NonNullable<Shopper['bankDetails']> }),
  }
}

const plainDocument = ({ type, number }: ShopperDocument) => ({
  type,
  number: type === 'OTHER' ? number : normalizeDocument(number),
})

type Extra = { observation?: string | undefined; redirectURL?: string | undefined } & Partial<
  Record<'taxData' | 'sellersTransactions' | 'recurrence', string | undefined>
>

/** The JSON parts are text already: they are put together, not read again. */
function extraText(value: Extra): string | null {
  const parts: string[] = []
  if (value.observation !== undefined) parts.push(`"observation":${JSON.stringify(value.observation)}`)
  if (value.redirectURL !== undefined) parts.push(`"redirectURL":${JSON.stringify(value.redirectURL)}`)
  for (const name of ['taxData', 'sellersTransactions', 'recurrence'] as const)
    if (value[name] !== undefined) parts.push(`"${name}":${value[name]}`)
  return parts.length === 0 ? null : `{${parts.join(',')}}`
}

export const duplicatedReference: Fault = fault('referenceCode', 'was used before', 'referenceCode.duplicated')
