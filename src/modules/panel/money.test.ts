import { describe, expect, test } from 'vitest'
import { signedIn } from '../../../test/harness/pages.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { csvCell } from './statement-csv.ts'

const it = testService()

describe('the statement as CSV', () => {
  test('has every line of the statement, page after page', async () => {
    const shop = await signedIn(it)
    for (let n = 0; n < 3; n += 1) await it.given.paidSale(shop, { amount: 10 + n })
    const { result } = (await shop.api.get('/v1.1/statement')).body
    const reply = await shop.panel.get('/panel/api/statement.csv')
    expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(reply.headers['content-disposition']).toBe('attachment; filename="statement.csv"')
    const [head, ...rows] = reply.text.trimEnd().split('\r\n')
    expect(head).toBe('id,date,type,saleToken,description,amount,balance')
    expect(rows).toEqual(
      result.map((line: Record<string, unknown>) =>
        head!
          .split(',')
          .map((name) => line[name])
          .join(','),
      ),
    )
    expect(rows).toHaveLength(6)
  })

  test('keeps to its days, and to its account', async () => {
    const [shop, other] = [await signedIn(it), await signedIn(it)]
    await it.given.paidSale(shop)
    const rows = async (who: typeof shop, query = '') =>
      (await who.panel.get(`/panel/api/statement.csv${query}`)).text.trimEnd().split('\r\n').length - 1
    const [today] = (await shop.panel.get('/panel/api/overview')).body.now.split(' ')
    expect(await rows(shop, `?initialDate=${today}&finalDate=${today}`)).toBe(2)
    expect(await rows(shop, '?finalDate=2001-01-01')).toBe(0)
    expect(await rows(other)).toBe(0)
    expect((await shop.panel.get('/panel/api/statement.csv?initialDate=soon')).http).toBe(400)
  })

  test.each([
    ['=1+1', "'=1+1"],
    ['+55', "'+55"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['=a,"b"', `"'=a,""b"""`],
    ['plain', 'plain'],
    [-12.5, '-12.5'],
  ])('the cell %j is written %s', (value, written) => {
    expect(csvCell(value)).toBe(written)
  })
})

describe('credentials', () => {
  test('are shown without their token, with the end of the one before', async () => {
    const shop = await signedIn(it)
    const before = await shop.panel.get('/panel/api/credentials')
    expect(before.body).toMatchObject({ apiKey: shop.apiKey, previousTokenEndsAt: null, previousSecretEndsAt: null })
    expect(before.text).not.toContain(shop.apiToken)
    const rotated = (await shop.panel.post('/panel/api/v1.1/account/credentials/rotate', { overlapHours: 1 })).body
    const after = await shop.panel.get('/panel/api/credentials')
    expect(after.body.previousTokenEndsAt).toBe(rotated.previousTokenEndsAt)
    expect(after.text).not.toContain(rotated.credentials.apiToken)
    expect((await shop.api.get('/v1.1/balance')).http).toBe(200)
    it.clock.advance(3_600_000)
    expect((await shop.panel.get('/panel/api/credentials')).body.previousTokenEndsAt).toBeNull()
  })
})

test('recipients are listed, also those that are switched off', async () => {
  const [shop, other] = [await signedIn(it), await signedIn(it)]
  const add = async (name: string) => {
    it.clock.advance(1000)
    return (await shop.panel.post('/panel/api/v1.1/sandbox/recipients', { name })).body.recipient.recipientId
  }
  const [one, two] = [await add('Um'), await add('Dois')]
  await shop.panel.put(`/panel/api/v1.1/sandbox/recipients/${one}`, { active: false })
  const { body } = await shop.panel.get('/panel/api/recipients')
  expect(body.result).toEqual([
    expect.objectContaining({ recipientId: two, name: 'Dois', status: 'ACTIVE' }),
    expect.objectContaining({ recipientId: one, name: 'Um', status: 'INACTIVE' }),
  ])
  expect((await other.panel.get('/panel/api/recipients')).body.totalElements).toBe(0)
})
