import { generatePixPayload } from '@brazilian-utils/brazilian-utils/generate-pix-payload'
import { getPixPayloadInfo } from '@brazilian-utils/brazilian-utils/get-pix-payload-info'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type BrCode,
  brCodeText,
  type DecodedBrCode,
  decodeBrCode,
  encodeBrCode,
  MERCHANT_CITY_MAX,
  MERCHANT_NAME_MAX,
} from './br-code.ts'
import { CENTS_MAX, cents } from './cents.ts'

const RUNS = { numRuns: 10_000 }

// Without `size` nearly all texts would be shorter than the limits they are to pass.
const long = { maxLength: 60, size: 'max' } as const
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', ...long }),
  fc.string({ unit: 'binary', ...long }),
  fc.string(long),
)
const token = fc.stringMatching(/^[a-z0-9]{1,20}$/)
const merchants = fc.record(
  { merchantName: anyText, merchantCity: anyText, postalCode: fc.stringMatching(/^[0-9]{8}$/) },
  { requiredKeys: ['merchantName', 'merchantCity'] },
)
const urls = token.map((path) => `pix.example.com/qr/v2/${path}`)
const recurrenceUrls = token.map((path) => `pix.example.com/qr/v2/rec/${path}`)
const keys = fc.oneof(fc.uuid(), fc.constantFrom('52998224725', '12ABC34501DE35', '+5561912345678', 'pix@bcb.gov.br'))
const amounts = fc.integer({ min: 1, max: CENTS_MAX }).map(cents)
const txids = fc.stringMatching(/^([A-Za-z0-9]{1,25}|\*\*\*)$/)
const shapes: fc.Arbitrary<BrCode> = fc
  .oneof(
    fc.tuple(
      merchants,
      fc.record(
        { kind: fc.constant('dynamic' as const), locationUrl: urls, recurrenceUrl: recurrenceUrls },
        { requiredKeys: ['kind', 'locationUrl'] },
      ),
    ),
    fc.tuple(merchants, fc.record({ kind: fc.constant('recurrence' as const), recurrenceUrl: recurrenceUrls })),
    fc.tuple(
      merchants,
      fc.record(
        {
          kind: fc.constant('static' as const),
          key: keys,
          amount: amounts,
          info: fc.string({ unit: 'grapheme', maxLength: 10 }),
          txid: txids,
          recurrenceUrl: recurrenceUrls,
        },
        { requiredKeys: ['kind', 'key'] },
      ),
    ),
  )
  .map(([merchant, code]) => ({ ...merchant, ...code }))

/** What a reader must find: texts as written, nothing where nothing was said. */
function expected(code: BrCode): DecodedBrCode {
  const { merchantName, merchantCity, ...rest } = { ...code, reusable: code.kind !== 'dynamic' }
  const name = brCodeText(merchantName, MERCHANT_NAME_MAX, 'RECEBEDOR')
  const value = { ...rest, merchantName: name, merchantCity: brCodeText(merchantCity, MERCHANT_CITY_MAX, 'BRASIL') }
  if (value.kind !== 'static') return value
  const { info = '', txid = '***', ...others } = value
  const infoWritten = brCodeText(info, 99, 'A')
  const hasInfo = infoWritten === brCodeText(info, 99, 'B')
  return { ...others, ...(hasInfo && { info: infoWritten }), ...(txid !== '***' && { txid }) }
}

describe('for any merchant and charge', { timeout: 60_000 }, () => {
  test('a text is plain, fits and stays the same when asked twice, whatever it was', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 30 }), (text, max) => {
        const written = brCodeText(text, max, '-')
        expect(written).toMatch(/^[!-~]+( [!-~]+)*$/)
        expect(written.length).toBeLessThanOrEqual(max)
        expect(brCodeText(written, max, '-')).toBe(written)
      }),
      RUNS,
    )
  })

  test('what is written is read back', () => {
    fc.assert(
      fc.property(shapes, (code) => {
        expect(decodeBrCode(encodeBrCode(code))).toEqual({ ok: true, value: expected(code) })
      }),
      RUNS,
    )
  })

  test('another program reads the same', () => {
    fc.assert(
      fc.property(shapes, (code) => {
        fc.pre(code.kind !== 'recurrence')
        const { merchantName, merchantCity, ...rest } = expected(code)
        const amount = rest.kind === 'static' && rest.amount !== undefined ? { amount: rest.amount / 100 } : {}
        expect(getPixPayloadInfo(encodeBrCode(code))).toMatchObject({
          merchantName,
          merchantCity,
          pointOfInitiation: rest.reusable ? 'static' : 'dynamic',
          ...(rest.kind === 'dynamic' && { url: rest.locationUrl }),
          ...(rest.kind === 'static' && {
            key: rest.key,
            ...(rest.txid !== undefined && { txid: rest.txid }),
            ...amount,
          }),
        })
      }),
      RUNS,
    )
  })

  test('another program writes the same', () => {
    // That program knows neither composite codes nor letters that do not decompose into ASCII and marks.
    const letters = /[^ßẞæÆœŒøØłŁđĐðÐþÞħĦıºª]/
    const latin = fc
      .integer({ min: 0x20, max: 0x24f })
      .map((code) => String.fromCharCode(code))
      .filter((sign) => letters.test(sign))
    const names = fc
      .string({ unit: latin, minLength: 1, ...long })
      .filter((text) => brCodeText(text, 99, '\\') !== '\\')
    const details = fc.record(
      {
        amount: amounts,
        txid: fc.stringMatching(/^[A-Za-z0-9]{1,25}$/),
        info: fc.string({ unit: latin, maxLength: 30 }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(names, names, keys, urls, details, (merchantName, merchantCity, key, url, { amount, info, txid }) => {
        const dynamic = encodeBrCode({ kind: 'dynamic', merchantName, merchantCity, locationUrl: url })
        expect(dynamic).toBe(generatePixPayload({ merchantName, merchantCity, url }))
        const extra = {
          ...(amount !== undefined && { amount }),
          ...(info !== undefined && { info }),
          ...(txid !== undefined && { txid }),
        }
        const written = encodeBrCode({ kind: 'static', merchantName, merchantCity, key, ...extra })
        const description = info === undefined ? {} : { description: info }
        const inReais = amount === undefined ? {} : { amount: amount / 100 }
        const theirs = {
          merchantName,
          merchantCity,
          key,
          ...inReais,
          ...description,
          ...(txid !== undefined && { txid }),
        }
        expect(written).toBe(generatePixPayload(theirs))
      }),
      RUNS,
    )
  })
})
