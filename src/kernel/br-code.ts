// The BR Code (EMV QR) of PIX: the text inside the picture, and the same text as "copia e cola".
// A field is a 2-digit id, a 2-digit length and a value; a template is a field whose value is made of fields.
// Every text is kept in printable ASCII, so that characters and bytes are the same count for every reader.

import { assert, assertNever } from './assert.ts'
import { CENTS_MAX, type Cents, cents } from './cents.ts'
import { ok, type Result, refuse } from './result.ts'

export const MERCHANT_NAME_MAX = 25
export const MERCHANT_CITY_MAX = 15

type Merchant = {
  merchantName: string
  merchantCity: string
  /** CEP, 8 digits. */
  postalCode?: string
}

/** A URL here has no scheme: the payer's bank adds `https://`. */
export type BrCode = Merchant &
  (
    | { kind: 'dynamic'; locationUrl: string; recurrenceUrl?: string }
    | { kind: 'recurrence'; recurrenceUrl: string }
    | {
        kind: 'static'
        key: string
        /** Absent: the payer types the amount. */
        amount?: Cents
        /** Shares the 99 characters of template 26 with the key. */
        info?: string
        /** Absent, or `***`: the receiver learns of no txid. */
        txid?: string
        recurrenceUrl?: string
      }
  )

/** The same shapes, read back: texts as they stand in the code, no `txid` where the code says `***`. */
export type DecodedBrCode = BrCode & { reusable: boolean }

/** `id` is the place in the code: `59`, or `26-25` for a field inside a template. */
export type BrCodeFault =
  | { code: 'brCode.textInvalid' }
  | { code: 'brCode.crcMissing' }
  | { code: 'brCode.crcWrong' }
  | { code: 'brCode.structureInvalid' }
  | { code: 'brCode.orderInvalid'; id: string }
  | { code: 'brCode.fieldMissing'; id: string }
  | { code: 'brCode.fieldInvalid'; id: string }
  | { code: 'brCode.destinationInvalid' }
  | { code: 'brCode.hostsDiffer' }

// A code must name somebody even when nothing of the name survives; the payer sees the name in DICT, not this one.
const NAME_FALLBACK = 'RECEBEDOR'
const CITY_FALLBACK = 'BRASIL'

const GUI = 'br.gov.bcb.pix'
const GUI_FIELD = `0014${GUI}`
const TXID_NONE = '***'
const NO_TXID_FIELD = `62070503${TXID_NONE}`
const FIELD_LENGTH_MAX = 99
const URL_LENGTH_MAX = 77
const CODE_LENGTH_MAX = 512

const printable = /^[ -~]+$/
const keyForm = /^[!-~]{1,77}$/
const txidForm = /^(?:[A-Za-z0-9]{1,25}|\*{3})$/
/** No scheme, a host, a path. */
const urlForm = /^(?![A-Za-z][A-Za-z0-9+.-]*:\/\/)[!-.0-~]+\/[!-~]+$/

const isUrl = (url: string): boolean => url.length <= URL_LENGTH_MAX && urlForm.test(url)
const hostOf = (url: string): string => url.slice(0, url.indexOf('/')).toLowerCase()

// ---- CRC-16/CCITT-FALSE: polynomial 0x1021, initial 0xFFFF, not reflected ----

const crcOfByte = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})

/** For ASCII only: one character is one byte. */
export function crc16(text: string): number {
  let crc = 0xffff
  for (let at = 0; at < text.length; at++) crc = (crc << 8) ^ crcOfByte[((crc >> 8) ^ text.charCodeAt(at)) & 0xff]!
  return crc & 0xffff
}

const crcText = (payload: string): string => crc16(payload).toString(16).toUpperCase().padStart(4, '0')

// ---- Text ----

// Letters and signs that have no canonical decomposition into ASCII and marks.
// biome-ignore format: a table reads better in rows.
const asciiByName: Readonly<Record<string, string>> = {
  ß: 'ss', ẞ: 'SS', æ: 'ae', Æ: 'AE', œ: 'oe', Œ: 'OE', ø: 'o', Ø: 'O', ł: 'l', Ł: 'L', đ: 'd', Đ: 'D',
  ð: 'd', Ð: 'D', þ: 'th', Þ: 'TH', ħ: 'h', Ħ: 'H', ı: 'i', º: 'o', ª: 'a',
  '‘': "'", '’': "'", '“': '"', '”': '"', '–': '-', '—': '-', '…': '...',
}

const asciiOfAny = (sign: string): string =>
  asciiByName[sign] ?? (/\s/.test(sign) ? ' ' : sign.normalize('NFD').replace(/[^ -~]/g, ''))

// Normalizing costs more than the rest of a code, and Brazilian names stay within the Latin blocks: those are ready.
const LATIN_END = 0x250
const asciiOfLatin = Array.from({ length: LATIN_END }, (_, code) => asciiOfAny(String.fromCharCode(code)))

const asciiOf = (sign: string): string => asciiOfLatin[sign.charCodeAt(0)] ?? asciiOfAny(sign)

const alreadyPlain = /^[!-~]+(?: [!-~]+)*$/

/** Printable ASCII with single spaces, none at the ends. Empty when nothing survives. */
function asciiText(text: string): string {
  if (alreadyPlain.test(text)) return text
  return text
    .replace(/[^ -~]/g, asciiOf)
    .replace(/ {2,}/g, ' ')
    .trim()
}

export function brCodeText(text: string, max: number, fallback: string): string {
  const cut = asciiText(text).slice(0, max).trimEnd()
  if (cut !== '') return cut
  assert(fallback.length <= max && alreadyPlain.test(fallback), 'a fallback must stand by itself')
  return fallback
}

// ---- Encode ----

const lengthText = Array.from({ length: FIELD_LENGTH_MAX + 1 }, (_, length) => String(length).padStart(2, '0'))

function field(id: string, value: string): string {
  assert(value.length > 0 && value.length <= FIELD_LENGTH_MAX, 'a field of a BR Code holds 1 to 99 characters')
  return id + lengthText[value.length]! + value
}

function urlField(url: string): string {
  assert(isUrl(url), 'a URL in a BR Code has a host, a path, no scheme and at most 77 characters')
  return field('25', url)
}

/** Whole numbers only: a quotient of floats could print another cent. `CENTS_MAX` fills the 13 characters of field 54. */
function amountText(amount: Cents): string {
  assert(Number.isInteger(amount) && amount > 0 && amount <= CENTS_MAX, 'an amount is whole cents, 1 or more')
  const centsOver = amount % 100
  return `${(amount - centsOver) / 100}.${lengthText[centsOver]!}`
}

function accountFields(code: BrCode): string {
  switch (code.kind) {
    case 'dynamic':
      return GUI_FIELD + urlField(code.locationUrl)
    case 'recurrence':
      return GUI_FIELD
    case 'static': {
      assert(keyForm.test(code.key), 'a key has 1 to 77 visible characters')
      const info = asciiText(code.info ?? '')
      return GUI_FIELD + field('01', code.key) + (info === '' ? '' : field('02', info))
    }
    default:
      return assertNever(code)
  }
}

function postalField(code: BrCode): string {
  if (code.postalCode === undefined) return ''
  assert(/^\d{8}$/.test(code.postalCode), 'a postal code has 8 digits')
  return field('61', code.postalCode)
}

function txidField(code: BrCode): string {
  // In a code with a URL the bank reads the txid at the URL.
  if (code.kind !== 'static') return NO_TXID_FIELD
  const txid = code.txid ?? TXID_NONE
  assert(txidForm.test(txid), 'a txid in a BR Code has 1 to 25 letters and digits')
  return field('62', field('05', txid))
}

function recurrenceField(code: BrCode): string {
  if (code.recurrenceUrl === undefined) return ''
  if (code.kind === 'dynamic') {
    assert(hostOf(code.locationUrl) === hostOf(code.recurrenceUrl), 'both URLs of a composite code are on one host')
  }
  return field('80', GUI_FIELD + urlField(code.recurrenceUrl))
}

export function encodeBrCode(code: BrCode): string {
  const amount = code.kind === 'static' && code.amount !== undefined ? field('54', amountText(code.amount)) : ''
  const payload =
    (code.kind === 'dynamic' ? '000201010212' : '000201') +
    field('26', accountFields(code)) +
    '520400005303986' +
    amount +
    '5802BR' +
    field('59', brCodeText(code.merchantName, MERCHANT_NAME_MAX, NAME_FALLBACK)) +
    field('60', brCodeText(code.merchantCity, MERCHANT_CITY_MAX, CITY_FALLBACK)) +
    postalField(code) +
    txidField(code) +
    recurrenceField(code) +
    '6304'
  return payload + crcText(payload)
}

// ---- Decode ----

type Fields = ReadonlyMap<string, string>
type FieldForm = readonly [id: string, mandatory: boolean, fits: (value: string) => boolean]

const fits = (form: RegExp) => (value: string) => form.test(value)

const rootForms: readonly FieldForm[] = [
  ['00', true, fits(/^01$/)],
  ['01', false, fits(/^1[12]$/)],
  ['52', true, fits(/^\d{4}$/)],
  ['53', true, fits(/^986$/)],
  ['54', false, fits(/^(?=.{1,13}$)\d+(?:\.\d{1,2})?$/)],
  ['58', true, fits(/^BR$/)],
  ['59', true, fits(/^.{1,25}$/)],
  ['60', true, fits(/^.{1,15}$/)],
  ['61', false, fits(/^.{1,10}$/)],
  ['62', true, fits(printable)],
]
const accountForms: readonly FieldForm[] = [
  ['01', false, fits(keyForm)],
  ['02', false, fits(/^.{1,72}$/)],
  ['03', false, fits(/^[0-9A-Z]{8}$/)],
  ['25', false, isUrl],
]
const additionalForms: readonly FieldForm[] = [['05', true, fits(txidForm)]]
const recurrenceForms: readonly FieldForm[] = [['25', true, isUrl]]

function parseFields(text: string, place = ''): Result<Fields, BrCodeFault> {
  const fields = new Map<string, string>()
  let idBefore = ''
  for (let at = 0; at < text.length; ) {
    const header = text.slice(at, at + 4)
    if (!/^\d{4}$/.test(header)) return refuse({ code: 'brCode.structureInvalid' })
    const id = header.slice(0, 2)
    const length = Number(header.slice(2))
    const value = text.slice(at + 4, at + 4 + length)
    if (length === 0 || value.length < length) return refuse({ code: 'brCode.structureInvalid' })
    if (id <= idBefore) return refuse({ code: 'brCode.orderInvalid', id: place + id })
    fields.set(id, value)
    idBefore = id
    at += 4 + length
  }
  return ok(fields)
}

function findFault(fields: Fields, forms: readonly FieldForm[], place = ''): BrCodeFault | undefined {
  for (const [id, mandatory, fitsForm] of forms) {
    const value = fields.get(id)
    if (value === undefined && mandatory) return { code: 'brCode.fieldMissing', id: place + id }
    if (value !== undefined && !fitsForm(value)) return { code: 'brCode.fieldInvalid', id: place + id }
  }
  return undefined
}

/** The one template of PIX among the ids of a range; templates of other payment schemes are passed over. */
function findTemplate(root: Fields, from: string, to: string): Result<[id: string, Fields] | undefined, BrCodeFault> {
  let found: [id: string, Fields] | undefined
  for (const [id, value] of root) {
    if (id < from || id > to) continue
    const template = parseFields(value, `${id}-`)
    if (!template.ok) return template
    if (template.value.get('00')?.toLowerCase() !== GUI) continue
    if (found) return refuse({ code: 'brCode.fieldInvalid', id })
    found = [id, template.value]
  }
  return ok(found)
}

function decodeTxid(root: Fields): Result<string, BrCodeFault> {
  const additional = parseFields(root.get('62')!, '62-')
  if (!additional.ok) return additional
  const fault = findFault(additional.value, additionalForms, '62-')
  return fault ? refuse(fault) : ok(additional.value.get('05')!)
}

function decodeRecurrenceUrl(root: Fields): Result<string | undefined, BrCodeFault> {
  const found = findTemplate(root, '80', '99')
  if (!found.ok) return found
  if (!found.value) return ok(undefined)
  const [id, recurrence] = found.value
  const fault = findFault(recurrence, recurrenceForms, `${id}-`)
  return fault ? refuse(fault) : ok(recurrence.get('25')!)
}

function decodeAccount(root: Fields): Result<Fields, BrCodeFault> {
  const found = findTemplate(root, '26', '51')
  if (!found.ok) return found
  if (!found.value) return refuse({ code: 'brCode.fieldMissing', id: '26' })
  const [id, account] = found.value
  const fault = findFault(account, accountForms, `${id}-`)
  return fault ? refuse(fault) : ok(account)
}

function centsOf(amount: string): Cents {
  const [reais, over = ''] = amount.split('.')
  return cents(Number(reais) * 100 + Number(over.padEnd(2, '0')))
}

type Parts = { root: Fields; account: Fields; txid: string; recurrenceUrl: string | undefined }

/** Who is paid: exactly one of key and URL, or neither when the code only asks for a recurrence. */
function decodeDestination({ root, account, txid, recurrenceUrl }: Parts): Result<DecodedBrCode, BrCodeFault> {
  const postalCode = root.get('61')
  const common = {
    reusable: root.get('01') !== '12',
    merchantName: root.get('59')!,
    merchantCity: root.get('60')!,
    ...(postalCode !== undefined && { postalCode }),
  }
  const recurrence = recurrenceUrl === undefined ? {} : { recurrenceUrl }
  const key = account.get('01')
  const info = account.get('02')
  const locationUrl = account.get('25')
  // Additional information and the cash agent (03) belong to a key.
  const keyOnly = info !== undefined || account.has('03')
  if (locationUrl !== undefined) {
    if (key !== undefined || keyOnly) return refuse({ code: 'brCode.destinationInvalid' })
    const oneHost = recurrenceUrl === undefined || hostOf(recurrenceUrl) === hostOf(locationUrl)
    // An amount beside a URL is ignored: the charge at the URL says how much.
    return oneHost
      ? ok({ kind: 'dynamic', ...common, locationUrl, ...recurrence })
      : refuse({ code: 'brCode.hostsDiffer' })
  }
  if (key === undefined) {
    if (recurrenceUrl === undefined || keyOnly) return refuse({ code: 'brCode.destinationInvalid' })
    return ok({ kind: 'recurrence', ...common, recurrenceUrl })
  }
  const amountText = root.get('54')
  const amount = amountText === undefined ? undefined : centsOf(amountText)
  if (amount === 0) return refuse({ code: 'brCode.fieldInvalid', id: '54' })
  return ok({
    kind: 'static',
    ...common,
    key,
    ...(amount !== undefined && { amount }),
    ...(info !== undefined && { info }),
    ...(txid !== TXID_NONE && { txid }),
    ...recurrence,
  })
}

/** As strict as a payer's bank: what this accepts, a bank can pay. The order of the checks is the precedence. */
export function decodeBrCode(text: string): Result<DecodedBrCode, BrCodeFault> {
  if (text.length > CODE_LENGTH_MAX || !printable.test(text)) return refuse({ code: 'brCode.textInvalid' })
  if (!/6304[0-9A-F]{4}$/.test(text)) return refuse({ code: 'brCode.crcMissing' })
  if (crcText(text.slice(0, -4)) !== text.slice(-4)) return refuse({ code: 'brCode.crcWrong' })

  const root = parseFields(text.slice(0, -8))
  if (!root.ok) return root
  // Cut off above as the last field, so one that is still here came too early.
  if (root.value.has('63')) return refuse({ code: 'brCode.orderInvalid', id: '63' })
  const fault = findFault(root.value, rootForms)
  if (fault) return refuse(fault)

  const txid = decodeTxid(root.value)
  if (!txid.ok) return txid
  const account = decodeAccount(root.value)
  if (!account.ok) return account
  const recurrenceUrl = decodeRecurrenceUrl(root.value)
  if (!recurrenceUrl.ok) return recurrenceUrl
  return decodeDestination({
    root: root.value,
    account: account.value,
    txid: txid.value,
    recurrenceUrl: recurrenceUrl.value,
  })
}
