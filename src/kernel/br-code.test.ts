import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type BrCode,
  type BrCodeFault,
  brCodeText,
  crc16,
  type DecodedBrCode,
  decodeBrCode,
  encodeBrCode,
} from './br-code.ts'
import { CENTS_MAX, cents } from './cents.ts'

const RUNS = { numRuns: 10_000 }
const PROPERTY = { timeout: 60_000 }

const fulano = { merchantName: 'Fulano de Tal', merchantCity: 'BRASILIA' }
const merchant = { merchantName: 'MERCHANT TEST LTDA', merchantCity: 'SAO PAULO' }
const maria = { merchantName: 'MARIA DA SILVA', merchantCity: 'RECIFE', key: '52998224725' }
const qr = 'pix.example.com/qr/v2'
const cobUrl = `${qr}/9d36b84fc70b478fb95c12729b90ca25`
const cobvUrl = `${qr}/cobv/9d36b84fc70b478fb95c12729b90ca25`
const recurrenceUrl = `${qr}/rec/5f0c2a1b9d3e4c6f8a7b6c5d4e3f2a1b`

// Those named "bcb" are published by the Central Bank; the CRC of the others was computed by two other programs.
// biome-ignore format: one code a row.
const validCodes: readonly [name: string, text: string, code: BrCode][] = [
  ['bcb manual, static', '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D',
    { kind: 'static', ...fulano, key: '123e4567-e12b-12d1-a456-426655440000' }],
  ['static, EVP, amount, txid', '00020126580014br.gov.bcb.pix01367d9f0335-8dcc-4054-9bf9-0dbd61d36906520400005303986540510.505802BR5918PADARIA PAO QUENTE6009SAO PAULO62140510PEDIDO00016304D66F',
    { kind: 'static', merchantName: 'PADARIA PAO QUENTE', merchantCity: 'SAO PAULO', key: '7d9f0335-8dcc-4054-9bf9-0dbd61d36906', amount: cents(1050), txid: 'PEDIDO0001' }],
  ['static, CPF', '00020126330014br.gov.bcb.pix0111529982247255204000053039865802BR5914MARIA DA SILVA6006RECIFE62070503***6304F4D4',
    { kind: 'static', ...maria }],
  ['static, CNPJ, info, one cent', '00020126490014br.gov.bcb.pix0114112223330001810209Pedido 4252040000530398654040.015802BR5917LOJA EXEMPLO LTDA6008CURITIBA62070503***63044D47',
    { kind: 'static', merchantName: 'LOJA EXEMPLO LTDA', merchantCity: 'CURITIBA', key: '11222333000181', amount: cents(1), info: 'Pedido 42' }],
  ['static, CNPJ with letters', '00020126360014br.gov.bcb.pix011412ABC34501DE3552040000530398654101234567.895802BR5915EMPRESA NOVA SA6014BELO HORIZONTE62060502A163049350',
    { kind: 'static', merchantName: 'EMPRESA NOVA SA', merchantCity: 'BELO HORIZONTE', key: '12ABC34501DE35', amount: cents(123_456_789), txid: 'A1' }],
  ['static, phone', '00020126360014br.gov.bcb.pix0114+55619123456785204000053039865802BR5904JOAO6005NATAL62070503***630407E6',
    { kind: 'static', merchantName: 'JOAO', merchantCity: 'NATAL', key: '+5561912345678' }],
  ['static, e-mail', '00020126360014br.gov.bcb.pix0114pix@bcb.gov.br520400005303986540599.905802BR5912SERVICOS WEB6012PORTO ALEGRE62070503***63043A80',
    { kind: 'static', merchantName: 'SERVICOS WEB', merchantCity: 'PORTO ALEGRE', key: 'pix@bcb.gov.br', amount: cents(9990) }],
  ['dynamic, cob', '00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca255204000053039865802BR5918MERCHANT TEST LTDA6009SAO PAULO62070503***6304497F',
    { kind: 'dynamic', ...merchant, locationUrl: cobUrl }],
  ['dynamic, cobv, postal code', '00020101021226810014br.gov.bcb.pix2559pix.example.com/qr/v2/cobv/9d36b84fc70b478fb95c12729b90ca255204000053039865802BR5918MERCHANT TEST LTDA6009SAO PAULO61080131010062070503***630421E2',
    { kind: 'dynamic', ...merchant, postalCode: '01310100', locationUrl: cobvUrl }],
  ['journey 2, recurrence alone', '00020126180014br.gov.bcb.pix5204000053039865802BR5918MERCHANT TEST LTDA6009SAO PAULO62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/5f0c2a1b9d3e4c6f8a7b6c5d4e3f2a1b63048B3E',
    { kind: 'recurrence', ...merchant, recurrenceUrl }],
  ['journey 3, cob and recurrence', '00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca255204000053039865802BR5918MERCHANT TEST LTDA6009SAO PAULO62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/5f0c2a1b9d3e4c6f8a7b6c5d4e3f2a1b6304A265',
    { kind: 'dynamic', ...merchant, locationUrl: cobUrl, recurrenceUrl }],
  ['journey 4, cobv and recurrence', '00020101021226810014br.gov.bcb.pix2559pix.example.com/qr/v2/cobv/9d36b84fc70b478fb95c12729b90ca255204000053039865802BR5918MERCHANT TEST LTDA6009SAO PAULO62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/5f0c2a1b9d3e4c6f8a7b6c5d4e3f2a1b630496BE',
    { kind: 'dynamic', ...merchant, locationUrl: cobvUrl, recurrenceUrl }],
  ['journey 4, static and recurrence', '00020126360014br.gov.bcb.pix011411222333000181520400005303986540549.905802BR5918MERCHANT TEST LTDA6009SAO PAULO62160512FATURA20261180800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/5f0c2a1b9d3e4c6f8a7b6c5d4e3f2a1b6304C372',
    { kind: 'static', ...merchant, key: '11222333000181', amount: cents(4990), txid: 'FATURA202611', recurrenceUrl }],
  ['the longest', '00020101021226990014br.gov.bcb.pix2577h.psp.example/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa5204000053039865802BR5925NNNNNNNNNNNNNNNNNNNNNNNNN6015CCCCCCCCCCCCCCC61080131010062070503***80990014br.gov.bcb.pix2577h.psp.example/rec/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb6304058A',
    { kind: 'dynamic', merchantName: 'N'.repeat(25), merchantCity: 'C'.repeat(15), postalCode: '01310100', locationUrl: `h.psp.example/${'a'.repeat(63)}`, recurrenceUrl: `h.psp.example/rec/${'b'.repeat(59)}` }],
  ['bcb openapi, journey 2', '00020126180014br.gov.bcb.pix5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/2353c790eefb11eaadc10242ac120002630462C9',
    { kind: 'recurrence', ...fulano, recurrenceUrl: `${qr}/rec/2353c790eefb11eaadc10242ac120002` }],
  ['bcb openapi, journey 3', '00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/94ed2badcbc04c15b0bb7fa35319489063047741',
    { kind: 'dynamic', ...fulano, locationUrl: `${qr}/8b3da2f39a4140d1a91abd93113bd441`, recurrenceUrl: `${qr}/rec/94ed2badcbc04c15b0bb7fa353194890` }],
  ['bcb openapi, journey 4', '00020101021226810014br.gov.bcb.pix2559pix.example.com/qr/v2/cobv/1e6c54d3ec9449b7a7fc53b6b0f998e75204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/3ffa640fa4f14080adccb949fa2dc0d06304A441',
    { kind: 'dynamic', ...fulano, locationUrl: `${qr}/cobv/1e6c54d3ec9449b7a7fc53b6b0f998e7`, recurrenceUrl: `${qr}/rec/3ffa640fa4f14080adccb949fa2dc0d0` }],
  ['a CRC with three zeros', '00020126330014br.gov.bcb.pix0111529982247255204000053039865802BR5914MARIA DA SILVA6006RECIFE62080504T2446304000B',
    { kind: 'static', ...maria, txid: 'T244' }],
  ['a CRC with two zeros', '00020126330014br.gov.bcb.pix0111529982247255204000053039865802BR5914MARIA DA SILVA6006RECIFE62080504T26863040060',
    { kind: 'static', ...maria, txid: 'T268' }],
  ['another CRC with two zeros', '00020126330014br.gov.bcb.pix0111529982247255204000053039865802BR5914MARIA DA SILVA6006RECIFE62080504T4856304009C',
    { kind: 'static', ...maria, txid: 'T485' }],
]

const read = (code: BrCode): DecodedBrCode => ({ ...code, reusable: code.kind !== 'dynamic' })

/** A code that is right in its CRC, so that only the rule under test can refuse it. */
function sealed(body: string): string {
  const payload = `${body}6304`
  return payload + crc16(payload).toString(16).toUpperCase().padStart(4, '0')
}
const field = (id: string, value: string) => id + String(value.length).padStart(2, '0') + value
const pix = (...fields: string[]) => field('00', 'br.gov.bcb.pix') + fields.join('')

const root = {
  '00': '01',
  '26': pix(field('01', '52998224725')),
  '52': '0000',
  '53': '986',
  '58': 'BR',
  '59': 'MARIA DA SILVA',
  '60': 'RECIFE',
  '62': field('05', '***'),
}
/** In the order of the ids; an object would put '26' before '00'. */
const inOrder = (fields: Record<string, string | undefined>) =>
  Object.entries(fields)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([id, value]) => (value === undefined ? [] : [field(id, value)]))

/** The static code above with some fields replaced, added, or (undefined) left out. */
const codeWith = (changes: Record<string, string | undefined>) => sealed(inOrder({ ...root, ...changes }).join(''))
const withUrl = (url: string) => codeWith({ '26': pix(field('25', url)) })

describe('the CRC', () => {
  test.each([
    ['', 0xffff],
    ['A', 0xb915],
    ['123456789', 0x29b1],
  ])('of %j', (text, crc) => {
    expect(crc16(text)).toBe(crc)
  })

  test('catches the change of any one character', PROPERTY, () => {
    const printable = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code))
    const texts = fc.constantFrom(...validCodes.map(([, text]) => text))
    fc.assert(
      fc.property(texts, fc.nat(), printable, (text, place, other) => {
        const at = place % text.length
        fc.pre(text[at] !== other)
        const changed = text.slice(0, at) + other + text.slice(at + 1)
        expect(crc16(changed)).not.toBe(crc16(text))
        const decoded = decodeBrCode(changed)
        expect(['brCode.crcWrong', 'brCode.crcMissing']).toContain(decoded.ok || decoded.refusal.code)
      }),
      RUNS,
    )
  })
})

describe('a valid code', () => {
  test.each(validCodes)('%s: is written as published', (_, text, code) => {
    expect(encodeBrCode(code)).toBe(text)
  })

  test.each(validCodes)('%s: is read back', (_, text, code) => {
    expect(decodeBrCode(text)).toEqual({ ok: true, value: read(code) })
  })

  test('a name is cut to 25 characters and a city to 15, and neither is left empty', () => {
    const long = { ...maria, merchantName: 'N'.repeat(30), merchantCity: 'C'.repeat(30) }
    expect(encodeBrCode({ kind: 'static', ...long })).toContain(`5802BR5925${'N'.repeat(25)}6015${'C'.repeat(15)}6207`)
    const none = { ...maria, merchantName: '', merchantCity: '日本' }
    expect(encodeBrCode({ kind: 'static', ...none })).toContain('5802BR5909RECEBEDOR6006BRASIL6207')
  })

  test('the txid *** may be given, and is read as none', () => {
    expect(encodeBrCode({ kind: 'static', ...maria, txid: '***' })).toBe(encodeBrCode({ kind: 'static', ...maria }))
  })

  test('an info of which nothing survives is left out', () => {
    expect(encodeBrCode({ kind: 'static', ...maria, info: ' 日本 ' })).toBe(encodeBrCode({ kind: 'static', ...maria }))
  })

  test.each([
    [1, '54040.01'],
    [100, '54041.00'],
    [199, '54041.99'],
    [100_000_000_010, '54131000000000.10'],
    [CENTS_MAX, '54139999999999.99'],
  ])('%d cents are written exactly', (amount, written) => {
    const text = encodeBrCode({ kind: 'static', ...maria, amount: cents(amount) })
    expect(text).toContain(`5303986${written}5802BR`)
    expect(decodeBrCode(text)).toMatchObject({ value: { amount } })
  })
})

describe('the encoder throws, for it is our bug', () => {
  const dynamic = (locationUrl: string): BrCode => ({ kind: 'dynamic', ...merchant, locationUrl })
  const keyed = (extra: Partial<Extract<BrCode, { kind: 'static' }>>): BrCode => ({
    kind: 'static',
    ...maria,
    ...extra,
  })
  const of77 = `h/${'a'.repeat(75)}`

  test('77 characters of URL or key fit', () => {
    expect(encodeBrCode(dynamic(of77))).toContain('26990014br.gov.bcb.pix2577h/')
    expect(encodeBrCode(keyed({ key: 'k'.repeat(77) }))).toContain('26990014br.gov.bcb.pix0177k')
    expect(encodeBrCode(keyed({ info: 'i'.repeat(62) }))).toContain('26990014br.gov.bcb.pix011152998224725')
  })

  // biome-ignore format: one bug a row.
  const bugs: readonly [string, BrCode, string][] = [
    ['a URL with https', dynamic(`https://${cobUrl}`), 'no scheme'],
    ['a URL with a scheme in capitals', dynamic(`HTTP://${cobUrl}`), 'no scheme'],
    ['a recurrence URL with a scheme', { kind: 'recurrence', ...merchant, recurrenceUrl: `https://${qr}` }, 'no scheme'],
    ['a URL of 78 characters', dynamic(`${of77}a`), 'at most 77'],
    ['a URL without a path', dynamic('pix.example.com/'), 'a path'],
    ['a URL without a host', dynamic('/qr/v2/1'), 'a host'],
    ['a URL with a space', dynamic('pix.example.com/q r'), 'a URL'],
    ['a URL with an accent', dynamic('pix.example.com/é'), 'a URL'],
    ['two hosts', { kind: 'dynamic', ...merchant, locationUrl: cobUrl, recurrenceUrl: 'other.example/rec/1' }, 'one host'],
    ['a key of 78 characters', keyed({ key: 'k'.repeat(78) }), 'a key'],
    ['an empty key', keyed({ key: '' }), 'a key'],
    ['a key with an accent', keyed({ key: 'joão@example.com' }), 'a key'],
    ['key and info over 99 together', keyed({ info: 'i'.repeat(63) }), '99'],
    ['a txid of 26 characters', keyed({ txid: 'a'.repeat(26) }), 'txid'],
    ['an empty txid', keyed({ txid: '' }), 'txid'],
    ['a txid with a hyphen', keyed({ txid: 'PEDIDO-1' }), 'txid'],
    ['no cent', keyed({ amount: cents(0) }), 'cents'],
    ['fewer than no cents', keyed({ amount: cents(-1) }), 'cents'],
    ['half a cent', keyed({ amount: 0.5 as ReturnType<typeof cents> }), 'cents'],
    ['14 characters of amount', keyed({ amount: cents(CENTS_MAX + 1) }), 'cents'],
    ['a postal code with a hyphen', keyed({ postalCode: '01310-100' }), 'postal code'],
  ]
  test.each(bugs)('%s', (_, code, why) => {
    expect(() => encodeBrCode(code)).toThrow(why)
  })
})

describe('the decoder refuses', () => {
  const plain = inOrder(root)
  const whole = validCodes[2]![1]
  type Row = [why: string, text: string, fault: BrCodeFault]
  type PlainCode = 'textInvalid' | 'crcMissing' | 'crcWrong' | 'structureInvalid' | 'destinationInvalid'
  const other = (code: PlainCode, why: string, text: string): Row => [why, text, { code: `brCode.${code}` }]
  const missing = (id: string, why: string, text: string): Row => [why, text, { code: 'brCode.fieldMissing', id }]
  const invalid = (id: string, why: string, text: string): Row => [
    `${id}: ${why}`,
    text,
    { code: 'brCode.fieldInvalid', id },
  ]
  const misplaced = (id: string, why: string, text: string): Row => [why, text, { code: 'brCode.orderInvalid', id }]
  const destination = (why: string, ...account: string[]): Row =>
    other('destinationInvalid', why, codeWith({ '26': pix(...account) }))

  test('nothing of the code that the others are made from', () => {
    expect(sealed(plain.join(''))).toBe(whole)
  })

  // biome-ignore format: one fault a row.
  const faults: readonly Row[] = [
    other('crcWrong', 'a wrong CRC', `${whole.slice(0, -1)}5`),
    other('crcMissing', 'a truncated code', validCodes[7]![1].slice(0, -1)),
    other('crcMissing', 'no CRC', whole.slice(0, -8)),
    other('crcMissing', 'a CRC in lower case', whole.slice(0, -4) + whole.slice(-4).toLowerCase()),
    other('crcMissing', 'something after the CRC', `${whole}\u0020`),
    other('textInvalid', 'no text', ''),
    other('textInvalid', 'an accent', codeWith({ '59': 'JOÃO' })),
    other('textInvalid', 'a line feed', `${whole}\n`),
    other('textInvalid', 'over 512 characters', codeWith(Object.fromEntries([81, 82, 83, 84, 85].map((id) => [id, 'x'.repeat(99)])))),
    other('structureInvalid', 'an id that is no number', sealed(`${plain.join('')}6A0150`)),
    other('structureInvalid', 'a length that runs over the end', sealed(`${plain.join('')}64101`)),
    other('structureInvalid', 'an empty field', sealed(`${plain.join('')}6400`)),
    other('structureInvalid', 'a template that is not made of fields', codeWith({ '26': 'br.gov.bcb.pix' })),
    other('structureInvalid', 'a field that runs out of its template', codeWith({ '62': '0504***' })),
    misplaced('52', 'ids out of order', sealed([...plain.slice(0, 2), plain[3], plain[2], ...plain.slice(4)].join(''))),
    misplaced('00', 'an id twice', sealed([plain[0], ...plain].join(''))),
    misplaced('26-00', 'ids out of order in a template', codeWith({ '26': field('01', '52998224725') + pix() })),
    misplaced('63', 'a CRC before the end', codeWith({ '63': '1D3D' })),
    ...Object.keys(root).map((id) => missing(id, `no field ${id}`, codeWith({ [id]: undefined }))),
    invalid('00', 'another format', codeWith({ '00': '02' })),
    invalid('01', 'neither 11 nor 12', codeWith({ '01': '13' })),
    invalid('52', 'three digits', codeWith({ '52': '000' })),
    invalid('53', 'dollars', codeWith({ '53': '840' })),
    invalid('54', 'a comma', codeWith({ '54': '1,00' })),
    invalid('54', 'three decimals', codeWith({ '54': '1.000' })),
    invalid('54', '14 characters', codeWith({ '54': '12345678901.00' })),
    invalid('54', 'nothing to pay', codeWith({ '54': '0.00' })),
    invalid('58', 'another country', codeWith({ '58': 'AR' })),
    invalid('59', '26 characters', codeWith({ '59': 'N'.repeat(26) })),
    invalid('60', '16 characters', codeWith({ '60': 'C'.repeat(16) })),
    invalid('61', '11 characters', codeWith({ '61': '01310100000' })),
    missing('62-05', 'no txid', codeWith({ '62': field('01', '1') })),
    invalid('62-05', '26 characters', codeWith({ '62': field('05', 'a'.repeat(26)) })),
    invalid('62-05', 'a sign', codeWith({ '62': field('05', 'a-1') })),
    missing('26', 'another scheme only', codeWith({ '26': field('00', 'com.example') })),
    invalid('27', 'PIX twice', codeWith({ '27': root['26'] })),
    invalid('26-02', '73 characters', codeWith({ '26': pix(field('02', 'i'.repeat(73))) })),
    invalid('26-01', 'a space in the key', codeWith({ '26': pix(field('01', 'a b')) })),
    invalid('26-03', 'a cash agent of 7 digits', codeWith({ '26': pix(field('01', 'k'), field('03', '1234567')) })),
    invalid('26-25', 'a scheme', withUrl(`https://${cobUrl}`)),
    invalid('26-25', 'no path', withUrl('pix.example.com')),
    invalid('80-25', 'a scheme', codeWith({ '80': pix(field('25', `http://${qr}`)) })),
    missing('80-25', 'a recurrence without URL', codeWith({ '80': pix() })),
    ['two hosts', codeWith({ '26': pix(field('25', cobUrl)), '80': pix(field('25', 'a.example/rec/1')) }), { code: 'brCode.hostsDiffer' }],
    destination('neither key nor URL'),
    destination('key and URL', field('01', 'k'), field('25', cobUrl)),
    destination('URL and info', field('02', 'info'), field('25', cobUrl)),
    destination('URL and cash agent', field('03', '12345678'), field('25', cobUrl)),
    destination('info alone', field('02', 'info')),
    other('destinationInvalid', 'info and recurrence', codeWith({ '26': pix(field('02', 'i')), '80': pix(field('25', recurrenceUrl)) })),
  ]
  test.each(faults)('%s', (_, text, fault) => {
    expect(decodeBrCode(text)).toEqual({ ok: false, refusal: fault })
  })
})

describe('the decoder accepts what a bank accepts', () => {
  // biome-ignore format: one code a row.
  const accepted: readonly [string, string, Partial<DecodedBrCode>][] = [
    ['a GUI in capitals', codeWith({ '26': pix(field('01', 'k')).toUpperCase() }), { key: 'K' }],
    ['11: reusable', codeWith({ '01': '11' }), { reusable: true }],
    ['12: once, for a key too', codeWith({ '01': '12' }), { kind: 'static', reusable: false }],
    ['a URL without 01: reusable', withUrl(cobUrl), { kind: 'dynamic', reusable: true }],
    ['an amount of whole reais', codeWith({ '54': '10' }), { amount: cents(1000) }],
    ['an amount with one decimal', codeWith({ '54': '10.5' }), { amount: cents(1050) }],
    ['a cash agent beside a key', codeWith({ '26': pix(field('01', 'k'), field('03', '12345678')) }), { key: 'k' }],
    ['another scheme first', codeWith({ '26': field('00', 'com.example'), '27': pix(field('01', 'k')) }), { key: 'k' }],
    ['unreserved templates of others', codeWith({ '80': field('00', 'a.b'), '85': pix(field('25', recurrenceUrl)) }), { recurrenceUrl }],
    ['a host in other letters', codeWith({ '26': pix(field('25', cobUrl)), '80': pix(field('25', 'PIX.example.com/rec/1')) }), { locationUrl: cobUrl }],
    ['an id between 63 and 80', codeWith({ '64': '0002pt' }), { key: maria.key }],
  ]
  test.each(accepted)('%s', (_, text, value) => {
    expect(decodeBrCode(text)).toMatchObject({ ok: true, value })
  })

  test('an amount beside a URL is ignored', () => {
    const decoded = decodeBrCode(codeWith({ '26': pix(field('25', cobUrl)), '54': '9.99' }))
    expect(decoded.ok && 'amount' in decoded.value).toBe(false)
  })
})

describe('the text of a name or city', () => {
  // biome-ignore format: one text a row.
  const texts: readonly [text: string, max: number, written: string][] = [
    ['Padaria Pão Quente', 25, 'Padaria Pao Quente'],
    ['São João del-Rei', 15, 'Sao Joao del-Re'],
    ['AÇÃO ÀÉÎÕÜ ñandú', 25, 'ACAO AEIOU nandu'],
    ['Strauß & Ærø Łódź Þór', 25, 'Strauss & AEro Lodz THor'],
    ['Café “1º de Maio” – SP', 25, 'Cafe "1o de Maio" - SP'],
    ['e\u0301 decomposed', 25, 'e decomposed'],
    ['ễ ṩ', 25, 'e s'],
    ['  two\u00a0\t\n words  ', 25, 'two words'],
    ['日本 Loja 😀 Tóquio', 25, 'Loja Toquio'],
    ['ABCD EFGH', 5, 'ABCD'],
    ['ABCD EFGH', 4, 'ABCD'],
    ['\u0000A\u200bB\ud800', 25, 'AB'],
    ['', 25, 'FALLBACK'],
    ['日本 😀', 25, 'FALLBACK'],
  ]
  test.each(texts)('%j within %d', (text, max, written) => {
    expect(brCodeText(text, max, 'FALLBACK')).toBe(written)
  })

  test('a fallback must fit by itself', () => {
    expect(() => brCodeText('', 5, 'FALLBACK')).toThrow('fallback')
    expect(() => brCodeText('', 5, '')).toThrow('fallback')
  })
})
