import jsqr from 'jsqr'
import { PNG } from 'pngjs'
import { describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { checkOut, mandateNews, railSays, recurrenceBody, recurrences } from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { decodeBrCode } from '../../kernel/br-code.ts'
import { partsOfTxid, txidOf } from '../../kernel/txid.ts'

const it = testService()
const given = recurrences(it)

function scan(png: Buffer): string | undefined {
  const { width, height, data } = PNG.sync.read(png)
  return jsqr.default(new Uint8ClampedArray(data), width, height)?.data
}
const pathOf = (url: string) => url.replace('http://pay.test', '')
const referenceIn = (url: string) => /\/qr\/rec\/(\w+)\.png$/.exec(url)![1]!

const composite = { amount: 10.5, recurrence: { immediatePayment: true } }
const alone = { recurrence: {} }
const kinds = [
  ['of a mandate alone', alone],
  ['of a mandate that is paid with the authorization', composite],
] as const

async function asked(account: TestAccount, { recurrence, ...fields }: object & { recurrence: object }, headers = {}) {
  const planId = await given.plan(account)
  const reply = await checkOut(
    account,
    recurrenceBody(planId, given.inDays(5), { ...fields }, { ...recurrence }),
    headers,
  )
  expect(reply.http, reply.text).toBe(200)
  return { ...reply, ...reply.body.response, qrCode: reply.body.response.instructions.qrCode }
}

describe('the code', () => {
  test('of a mandate alone leads to the mandate, and a payer’s bank accepts it', async () => {
    const { uuid, qrCode } = await asked(await it.given.account(), alone)
    const reference = referenceIn(qrCode.url)
    expect(decodeBrCode(qrCode.plain)).toEqual({
      ok: true,
      value: {
        kind: 'recurrence',
        reusable: true,
        merchantName: expect.stringMatching(/^Loja \d+$/),
        merchantCity: expect.any(String),
        recurrenceUrl: `pay.test/rec/${reference}`,
      },
    })
    expect(partsOfTxid(reference)).toMatchObject({ saleId: uuid, renewals: 0 })
  })

  test('of both leads to the charge and to the mandate, on one host, for one payment', async () => {
    const { uuid, qrCode } = await asked(await it.given.account(), composite)
    const reference = referenceIn(qrCode.url)
    const decoded = decodeBrCode(qrCode.plain)
    expect(decoded).toEqual({
      ok: true,
      value: {
        kind: 'dynamic',
        reusable: false,
        merchantName: expect.stringMatching(/^Loja \d+$/),
        merchantCity: expect.any(String),
        locationUrl: expect.stringMatching(/^pay\.test\/pix\/\w{31}$/),
        recurrenceUrl: `pay.test/rec/${reference}`,
      },
    })
    const txid = (decoded as { value: { locationUrl: string } }).value.locationUrl.slice(-31)
    expect(partsOfTxid(txid)).toMatchObject({ saleId: uuid, renewals: 0 })
    expect(partsOfTxid(reference)).toMatchObject({ saleId: uuid, renewals: 0 })
  })

  test('of both is what the QR query of its sale gives', async () => {
    const account = await it.given.account()
    const { uuid, qrCode } = await asked(account, composite)
    const { http, body } = await account.api.get(`/v1.1/transactions/pix/${uuid}`)
    expect([http, body.qrCode.plain]).toEqual([200, qrCode.plain])
    expect(scan(Buffer.from(body.qrCode.base64, 'base64'))).toBe(qrCode.plain)
    expect(scan((await it.api.get(pathOf(body.qrCode.url))).body)).toBe(qrCode.plain)
  })

  test('of a mandate alone is no sale’s', async () => {
    const account = await it.given.account()
    const { uuid, qrCode } = await asked(account, alone)
    expect((await account.api.get(`/v1.1/transactions/pix/${uuid}`)).http).toBe(404)
    expect((await it.api.get(`/qr/${referenceIn(qrCode.url)}.png`)).http).toBe(404)
  })

  test('of a charge is none: a bank collects it without one', async () => {
    const account = await it.given.account()
    const { sale, instructionId } = await given.scheduledCharge(account)
    expect((await account.api.get(`/v1.1/transactions/pix/${sale.uuid}`)).http).toBe(404)
    for (const path of [`/qr/${instructionId}.png`, `/qr/rec/${instructionId}.png`])
      expect((await it.api.get(path)).http).toBe(404)
  })
})

describe('the picture', () => {
  test.each(kinds)('%s is a PNG of the code for anybody, cacheable for ever', async (_what, fields) => {
    const { qrCode } = await asked(await it.given.account(), fields)
    const { http, headers, body } = await it.api.get(pathOf(qrCode.url))
    expect([http, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'image/png',
      'public, max-age=31536000, immutable',
    ])
    expect(scan(body)).toBe(qrCode.plain)
  })

  test.each(kinds)('%s stays the same whatever becomes of the mandate', async (_what, fields) => {
    const account = await it.given.account()
    const { idRec, qrCode } = await asked(account, fields)
    const before = (await it.api.get(pathOf(qrCode.url))).body
    await railSays(it, mandateNews({ idRec }, 'APPROVED'), mandateNews({ idRec }, 'CANCELLED'))
    expect((await it.api.get(pathOf(qrCode.url))).body.equals(before)).toBe(true)
  })

  test.each(kinds)('%s comes with the answer when it is preferred, and only then', async (_what, fields) => {
    const account = await it.given.account()
    const preferred = await asked(account, fields, { prefer: 'return=representation' })
    expect(preferred.headers['preference-applied']).toBe('return=representation')
    const [, base64] = /^data:image\/png;base64,(.+)$/.exec(preferred.qrCode.base64)!
    expect(scan(Buffer.from(base64!, 'base64'))).toBe(preferred.qrCode.plain)
    for (const headers of [{}, { prefer: 'return=minimal' }]) {
      const plain = await asked(account, fields, headers)
      expect(Object.keys(plain.qrCode)).toEqual(['plain', 'url'])
      expect(plain.headers['preference-applied']).toBeUndefined()
    }
  })

  test('of a mandate that never was does not exist', async () => {
    const account = await it.given.account()
    const { qrCode } = await asked(account, alone)
    const reference = referenceIn(qrCode.url)
    const parts = partsOfTxid(reference)!
    const sale = await it.given.sale(account)
    const never = [
      txidOf({ ...parts, renewals: 1 }),
      txidOf({ ...parts, accountId: 1 as typeof parts.accountId }),
      sale.txid,
      '0'.repeat(31),
      'x',
      `${reference}0`,
    ]
    for (const name of never) {
      const { http, body } = await it.api.get(`/qr/rec/${name}.png`)
      expect([name, http, body.message]).toEqual([name, 404, 'there is no such QR code'])
    }
  })
})
