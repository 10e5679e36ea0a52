import jsqr from 'jsqr'
import { PNG } from 'pngjs'
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { checkoutBody, type TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { partsOfTxid, txidOf } from '../../kernel/txid.ts'
import { qrCodeAnswerSchema } from './sale.wire.ts'

const it = testService()

const qrOf = (account: TestAccount, uuid: string) => account.api.get(`/v1.1/transactions/pix/${uuid}`)
function scan(png: Buffer): string | undefined {
  const { width, height, data } = PNG.sync.read(png)
  return jsqr.default(new Uint8ClampedArray(data), width, height)?.data
}
const pathOf = (url: string) => url.replace('http://pay.test', '')

describe('the QR query', () => {
  test('gives what the checkout gave, and the picture as bare Base64', async () => {
    const account = await it.given.account()
    const made = await account.api.post('/v1.1/checkout/transparent', checkoutBody())
    const { uuid, instructions } = made.body.response
    const { http, body } = await qrOf(account, uuid)
    expect(http).toBe(200)
    expect(Value.Check(qrCodeAnswerSchema, body)).toBe(true)
    const { base64, ...qrCode } = body.qrCode
    expect({ ...body, qrCode }).toEqual({ status: 0, message: 'success', qrCode: instructions.qrCode })
    expect(base64).toMatch(/^iVBORw0KGgo[\w+/]+=*$/)
    expect(scan(Buffer.from(base64, 'base64'))).toBe(instructions.qrCode.plain)
  })

  test('follows a renewal', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    const renewed = await account.api.put(`/v1.1/checkout/transparent/${sale.uuid}`)
    const { plain, url } = (await qrOf(account, sale.uuid)).body.qrCode
    expect({ plain, url }).toEqual(renewed.body.response.instructions.qrCode)
  })

  test('answers in every state, with a trailing slash too', async () => {
    const account = await it.given.account()
    for (const sale of [
      await it.given.sale(account),
      await it.given.paidSale(account),
      await it.given.cancelledSale(account),
    ])
      expect((await qrOf(account, `${sale.uuid}/`)).http).toBe(200)
  })

  test('finds nothing where there is nothing, and nothing of another’s', async () => {
    const [account, other] = [await it.given.account(), await it.given.account()]
    const theirs = await it.given.sale(other)
    for (const uuid of ['019a8d3c-0000-7000-8000-000000000001', 'x', theirs.uuid]) {
      const { http, body } = await qrOf(account, uuid)
      expect([http, body]).toEqual([
        404,
        {
          status: 998,
          message: 'transaction not found',
          errorCount: 1,
          errors: [{ field: 'saleToken', message: 'non-existent transaction' }],
        },
      ])
    }
  })

  test('is forbidden without credentials, in the words of the contract', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const { http, body } = await it.api.get(`/v1.1/transactions/pix/${sale.uuid}`)
    expect([http, body]).toEqual([
      403,
      {
        status: -1,
        message: 'field validation failure',
        errorCount: 1,
        errors: [{ error: 'Forbidden', message: 'Access Denied' }],
      },
    ])
  })
})

describe('the public picture', () => {
  test('is a PNG of the code for anybody, cacheable for ever', async () => {
    const account = await it.given.account()
    const made = await account.api.post('/v1.1/checkout/transparent', checkoutBody())
    const { plain, url } = made.body.response.instructions.qrCode
    const { http, headers, body } = await it.api.get(pathOf(url))
    expect([http, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'image/png',
      'public, max-age=31536000, immutable',
    ])
    expect(scan(body)).toBe(plain)
  })

  test('of an old txid stays what it was after a renewal', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const before = (await it.api.get(`/qr/${sale.txid}.png`)).body
    await account.api.put(`/v1.1/transactions/${sale.uuid}/void`)
    const renewed = await account.api.put(`/v1.1/checkout/transparent/${sale.uuid}`)
    const { plain, url } = renewed.body.response.instructions.qrCode
    expect((await it.api.get(`/qr/${sale.txid}.png`)).body.equals(before)).toBe(true)
    expect(scan((await it.api.get(pathOf(url))).body)).toBe(plain)
    expect(scan(before)).not.toBe(plain)
  })

  test('of a txid that was never issued does not exist', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    const parts = partsOfTxid(sale.txid)!
    const never = [
      txidOf({ ...parts, renewals: 1 }),
      txidOf({ ...parts, accountId: 1 as typeof parts.accountId }),
      '0'.repeat(31),
      'x',
      `${sale.txid}0`,
    ]
    for (const txid of never) {
      const { http, body } = await it.api.get(`/qr/${txid}.png`)
      expect([http, body.status, body.errors]).toEqual([404, -1, []])
    }
  })
})
