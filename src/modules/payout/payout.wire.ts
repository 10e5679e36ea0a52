import { type Static, Type } from 'typebox'
import { wireTimestamp } from '../../kernel/calendar.ts'
import { centsToWire } from '../../kernel/cents.ts'
import {
  amount,
  email,
  type Field,
  type Fields,
  fault,
  isObject,
  object,
  oneOf,
  type Read,
  required,
  text,
  url,
} from '../../kernel/reader.ts'
import { nullable } from '../../kernel/schema.ts'
import type { NewPayout } from './create-payout.ts'
import { type Beneficiary, type Payout, payoutStates, payoutTotal } from './payout.ts'

const pixKey = text({ max: 77, description: 'CPF, CNPJ, e-mail, phone or random key.' })
const documentFields = {
  type: required(oneOf(['CPF', 'CNPJ', 'OTHER'])),
  number: required(text({ min: 2, max: 25 })),
}
const accountFields = {
  type: oneOf(['CHECKING', 'SAVING']),
  bankCode: text({ max: 8 }),
  branch: text({ max: 10 }),
  account: text({ max: 20 }),
}
const wholeAccount = {
  type: required(accountFields.type),
  bankCode: required(accountFields.bankCode),
  branch: required(accountFields.branch),
  account: required(accountFields.account),
}
const beneficiaryFields = {
  name: required(text({ max: 255, example: 'Fornecedor Ltda' })),
  email: email(),
  document: object(documentFields),
  bankDetails: object({ ...accountFields, pixKey }),
  pixKey,
}
const byKey = object(beneficiaryFields)
const byAccount = object({ ...beneficiaryFields, bankDetails: object({ ...wholeAccount, pixKey }) })

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && !(typeof value === 'string' && value.trim() === '')

/** Goes to one PIX key, wherever it is said, or to a bank account, which is then whole. */
const beneficiary: Field<Read<typeof beneficiaryFields>, false> = {
  ...byKey,
  read(value, field, faults) {
    if (!isObject(value)) return byKey.read(value, field, faults)
    const bank = isObject(value['bankDetails']) ? value['bankDetails'] : {}
    const keys = [value['pixKey'], bank['pixKey']].filter(isGiven)
    const read = (keys.length > 0 ? byKey : byAccount).read(value, field, faults)
    if (keys.length === 0 && !isGiven(value['bankDetails']))
      faults.push(fault(`${field}.bankDetails`, 'must have a pixKey, or a type, bankCode, branch and account'))
    if (keys.length > 0 && ['bankCode', 'branch', 'account'].some((name) => isGiven(bank[name])))
      faults.push(fault(`${field}.bankDetails`, 'must have a pixKey or an account, not both'))
    if (keys.length === 2 && keys[0] !== keys[1])
      faults.push(fault(`${field}.pixKey`, 'differs from bankDetails.pixKey'))
    return read
  },
}

export const payoutFields = {
  amount: required(amount({ example: 25 })),
  currency: required(oneOf(['BRL'])),
  referenceCode: required(text({ max: 100, example: 'payout-1' })),
  beneficiary: required(beneficiary),
  callbackURL: url({}),
  notes: text({ max: 255 }),
} satisfies Fields

export const payoutExample = {
  amount: 25,
  currency: 'BRL',
  referenceCode: 'payout-1',
  beneficiary: { name: 'Fornecedor Ltda', bankDetails: { pixKey: 'fornecedor@example.com' } },
}

export const payoutFrom = (read: Read<typeof payoutFields>): NewPayout => ({
  amount: read.amount,
  referenceCode: read.referenceCode,
  beneficiary: beneficiaryFrom(read.beneficiary),
  callbackUrl: read.callbackURL ?? null,
  notes: read.notes ?? null,
})

function beneficiaryFrom({ name, email, document, bankDetails, pixKey }: Read<typeof beneficiaryFields>): Beneficiary {
  const bank = pixKey === undefined ? bankDetails : { ...bankDetails, pixKey }
  return {
    name,
    ...(email !== undefined && { email }),
    ...(document && { document }),
    ...(bank && { bankDetails: bank as NonNullable<Beneficiary['bankDetails']> }),
  }
}

const beneficiarySchema = Type.Object({
  name: Type.String(),
  email: Type.Optional(Type.String()),
  document: Type.Optional(Type.Object({ type: Type.String(), number: Type.String() })),
  bankDetails: Type.Optional(
    Type.Object({
      type: Type.Optional(Type.String()),
      bankCode: Type.Optional(Type.String()),
      branch: Type.Optional(Type.String()),
      account: Type.Optional(Type.String()),
      pixKey: Type.Optional(Type.String()),
    }),
  ),
})

export const payoutSchema = Type.Object({
  id: Type.Integer(),
  uuid: Type.String({ format: 'uuid' }),
  type: Type.String(),
  situation: Type.String({ enum: [...payoutStates] }),
  currency: Type.String(),
  amount: Type.Number(),
  serviceFee: Type.Number(),
  total: Type.Number(),
  referenceCode: Type.String(),
  creation: Type.String(),
  processingDate: nullable(Type.String()),
  error_code: Type.Optional(Type.String()),
  notes: nullable(Type.String()),
  beneficiary: beneficiarySchema,
})

export const payoutWire = (payout: Payout): Static<typeof payoutSchema> => ({
  id: payout.number,
  uuid: payout.id,
  type: 'PAYOUT',
  situation: payout.state,
  currency: 'BRL',
  amount: centsToWire(payout.amount),
  serviceFee: centsToWire(payout.fee),
  total: centsToWire(payoutTotal(payout)),
  referenceCode: payout.referenceCode,
  creation: wireTimestamp(payout.createdAt),
  processingDate: payout.state === 'PAID' ? wireTimestamp(payout.closedAt!) : null,
  ...(payout.errorCode !== null && { error_code: payout.errorCode }),
  notes: payout.notes,
  beneficiary: payout.beneficiary,
})
