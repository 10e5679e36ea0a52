import { describe, expect, test } from 'vitest'
import { pay } from '../../../test/harness/given.ts'
import { signedIn } from '../../../test/harness/pages.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()
type Row = { uuid: string; situation: string }
const uuids = (body: { result: Row[] }) => body.result.map(({ uuid }) => uuid)

describe('the list of sales', () => {
  test('is newest first, in pages, by situation, amount and day', async () => {
    const shop = await signedIn(it)
    const sales: string[] = []
    for (let n = 0; n < 5; n += 1) {
      it.clock.advance(1000)
      sales.unshift((await it.given.sale(shop, { amount: n % 2 ? 10 : 20 })).uuid)
    }
    const list = async (query: string) => (await shop.panel.get(`/panel/api/sales?${query}`)).body
    const paged = await list('maxPageResults=2&page=2')
    expect([paged.totalElements, paged.totalPages, uuids(paged)]).toEqual([5, 3, sales.slice(2, 4)])
    expect(uuids(await list('amount=10'))).toEqual([sales[1], sales[3]])
    await pay(shop, { uuid: sales[4]! })
    expect(uuids(await list('situation=PAID'))).toEqual([sales[4]])
    expect((await list('finalDate=2001-01-01')).totalElements).toBe(0)
    expect((await shop.panel.get('/panel/api/sales?situation=LOST')).http).toBe(400)
  })

  test('shows no whole document', async () => {
    const shop = await signedIn(it)
    await it.given.sale(shop)
    const { text, body } = await shop.panel.get('/panel/api/sales')
    expect(text).not.toContain('52998224725')
    expect(body.result[0].shopper).toEqual({
      name: 'Maria da Silva',
      email: 'maria@example.com',
      document: '***.982.247-**',
    })
  })
})

describe('the search', () => {
  test('finds a sale by whatever name it goes by', async () => {
    const shop = await signedIn(it)
    const sale = await it.given.sale(shop, { referenceCode: 'order = 1%' })
    await it.given.sale(shop)
    const { endToEnd } = (await pay(shop, sale)).body
    const again = (await pay(shop, sale)).body
    const refund = await shop.api.put(`/v1.1/transactions/${sale.uuid}/refund`, { amount: 1 })
    expect(refund.http, refund.text).toBeLessThan(300)
    const [{ id: refundId }] = await it
      .rows<{ id: string }>('select id from refund where sale_id = $1', [sale.uuid])
      .then((rows) => rows as [{ id: string }])
    const names = [
      sale.uuid,
      sale.uuid.toUpperCase(),
      sale.txid,
      endToEnd,
      again.endToEnd,
      again.reversal.uuid,
      refundId,
    ]
    for (const name of [...names, 'order = 1%', ' order = 1% ']) {
      const { body } = await shop.panel.get(`/panel/api/sales?search=${encodeURIComponent(name)}`)
      expect([name, uuids(body)]).toEqual([name, [sale.uuid]])
    }
    const stranger = await signedIn(it)
    for (const name of [...names, 'order = 1%']) {
      const { body } = await stranger.panel.get(`/panel/api/sales?search=${encodeURIComponent(name)}`)
      expect([name, body.totalElements]).toEqual([name, 0])
    }
  })

  test('a reference that looks like a uuid is still a reference', async () => {
    const shop = await signedIn(it)
    const referenceCode = '5f0c3b5e-0a52-4c2e-9a57-2f0d3a6b7c8d'
    const sale = await it.given.sale(shop, { referenceCode })
    expect(uuids((await shop.panel.get(`/panel/api/sales?search=${referenceCode}`)).body)).toEqual([sale.uuid])
  })
})
