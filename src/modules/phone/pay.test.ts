import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { situationOf, type TestAccount } from '../../../test/harness/given.ts'
import { codeOf, openPhone, type TestPhone } from '../../../test/harness/phones.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { isCpf } from '../../kernel/documents.ts'

const it = testService()

async function readSale(phone: TestPhone, fields?: Record<string, unknown>, given?: TestAccount) {
  const account = given ?? (await it.given.account())
  const sale = await it.given.sale(account, fields)
  return { account, sale, reading: await phone.reading(await codeOf(account, sale)) }
}
const reversalsOf = async ({ api }: TestAccount) => (await api.get('/v1.1/reversals')).body.result
/** Money on its way back takes two seconds. */
const settle = async () => {
  it.clock.advance(3_000)
  await it.sweep()
}

describe('a phone', () => {
  test('is made for a browser at its first use: a name, a CPF, 5,000.00', async () => {
    const phone = await openPhone(it)
    expect(isCpf(phone.document)).toBe(true)
    expect(await phone.view()).toEqual({
      phone: { name: phone.name, document: phone.document, balance: 5000 },
      mandates: [],
      entries: [expect.objectContaining({ kind: 'OPENING', amount: 5000, balanceAfter: 5000 })],
    })
    const again = await phone.api.post('/phone/api/phone')
    expect([again.http, again.body.phone.document, again.headers['set-cookie']]).toEqual([
      200,
      phone.document,
      undefined,
    ])
    expect((await openPhone(it, { name: 'Zé' })).name).toBe('Zé')
  })

  test('its secret is in a cookie that no script and no other site can use, and nowhere else', async () => {
    const opened = await it.api.as({ 'x-quitado-page': '1' }).post('/phone/api/phone')
    const cookie = String(opened.headers['set-cookie'])
    expect(cookie).toMatch(/^quitado-phone=[0-9a-f-]{36}\.\w{32}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict$/)
    const secret = /\.(\w{32});/.exec(cookie)![1]!
    expect(opened.text).not.toContain(secret)
    const [row] = await it.rows<{ text: string }>('select string_agg(p::text, chr(10)) as text from phone p')
    expect(row!.text).not.toContain(secret)
    expect(JSON.stringify(it.logged)).not.toContain(secret)
  })

  test('another secret, another id or none at all is no phone', async () => {
    const phone = await openPhone(it)
    const other = await openPhone(it)
    const [mine, theirs] = [phone, other].map(({ api }) => api)
    expect((await mine!.get('/phone/api/statement')).http).toBe(200)
    const view = (cookie: string) => theirs!.as({ cookie }).get('/phone/api/phone')
    for (const cookie of ['', 'quitado-phone=', `quitado-phone=${randomUUID()}.x`, 'quitado-phone=%00.%00', 'a=b; c'])
      expect((await view(cookie)).body.phone).toBeNull()
    const refused = await it.api.as({ 'x-quitado-page': '1' }).post('/phone/api/readings', { code: 'x' })
    expect([refused.http, refused.body.message]).toEqual([403, 'this browser has no phone yet'])
  })

  test('changes nothing for a page that is not ours', async () => {
    const phone = await openPhone(it)
    const { reading } = await readSale(phone)
    const cookie = String((await it.api.as({ 'x-quitado-page': '1' }).post('/phone/api/phone')).headers['set-cookie'])
    for (const path of ['phone', 'top-ups', 'readings', `readings/${reading.id}/pay`, 'mandates/RN1/approve'])
      expect([path, (await it.api.as({ cookie }).post(`/phone/api/${path}`, {})).http]).toEqual([path, 403])
  })

  test('is topped up once for each time it is asked', async () => {
    const phone = await openPhone(it)
    const id = randomUUID()
    await Promise.all([1, 2, 3].map(() => phone.api.post('/phone/api/top-ups', { id, amount: 12.34 })))
    expect(await phone.balance()).toBe(5012.34)
    expect((await phone.api.post('/phone/api/top-ups', { id: randomUUID(), amount: 1 })).body.phone.balance).toBe(
      5013.34,
    )
    for (const amount of [0, -1, 0.001, 'x', 1_000_000.01])
      expect((await phone.api.post('/phone/api/top-ups', { id: randomUUID(), amount })).http).toBe(400)
    expect(await phone.balance()).toBe(5013.34)
  })
})

describe('paying', () => {
  test('a code pays the sale, once however often it is clicked', async () => {
    const phone = await openPhone(it)
    const { account, sale, reading } = await readSale(phone, { amount: 120.5 })
    expect(reading).toMatchObject({
      receiver: expect.stringMatching(/^Loja/),
      charge: { amount: 120.5, txid: sale.txid, key: account.id },
      mandate: null,
    })
    const clicks = await Promise.all([1, 2, 3, 4].map(() => phone.pay(reading)))
    const paid = clicks.map(({ http, body }) => [http, body.payments.map((line: { outcome: string }) => line.outcome)])
    expect(paid).toEqual(Array(4).fill([200, ['PAID']]))
    expect(await situationOf(account, sale)).toBe('PAID')
    expect(await phone.balance()).toBe(4879.5)
    expect(await reversalsOf(account)).toEqual([])
    const info = (await account.api.get(`/v1.1/transactions/${sale.uuid}/payment_info`)).body
    expect(JSON.stringify(info)).toContain(phone.document)
    expect((await phone.view()).entries[0]).toMatchObject({ kind: 'PAYMENT', amount: -120.5, outcome: 'PAID' })
  })

  test('twice on purpose: the second payment comes back', async () => {
    const phone = await openPhone(it)
    const { account, sale, reading } = await readSale(phone, { amount: 50 })
    const twice = await phone.pay(reading, { times: 2 })
    expect(twice.body.payments.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['PAID', 'REVERSED'])
    expect(twice.body.phone.balance).toBe(4900)
    expect((await phone.pay(reading, { times: 2 })).body.phone.balance).toBe(4900)
    expect(await situationOf(account, sale)).toBe('PAID')
    expect(await reversalsOf(account)).toMatchObject([{ reason: 'ALREADY_PAID', reversedAmount: 50 }])
    await settle()
    expect(await phone.balance()).toBe(4950)
    expect((await phone.view()).entries[0]).toMatchObject({ kind: 'GIVEN_BACK', amount: 50 })
    await settle()
    expect(await phone.balance()).toBe(4950)
  })

  test('once, and then once more on purpose, is twice', async () => {
    const phone = await openPhone(it)
    const { account, reading } = await readSale(phone, { amount: 50 })
    await phone.pay(reading)
    await phone.pay(reading, { times: 2 })
    expect(await phone.balance()).toBe(4900)
    expect(await reversalsOf(account)).toHaveLength(1)
  })

  test('another amount comes back, and the sale can still be paid', async () => {
    const phone = await openPhone(it)
    const { account, sale, reading } = await readSale(phone, { amount: 50 })
    const paid = await phone.pay(reading, { amount: 49.99 })
    expect(paid.body.payments).toMatchObject([{ amount: -49.99, outcome: 'REVERSED' }])
    expect(await reversalsOf(account)).toMatchObject([{ reason: 'AMOUNT_DIFFERS', reversedAmount: 49.99 }])
    expect(await situationOf(account, sale)).toBe('PENDING')
    await settle()
    expect(await phone.balance()).toBe(5000)
    await phone.pay(await phone.reading(await codeOf(account, sale)))
    expect(await situationOf(account, sale)).toBe('PAID')
  })

  test('what was cancelled between reading and paying comes back', async () => {
    const phone = await openPhone(it)
    const { account, sale, reading } = await readSale(phone)
    await account.api.put(`/v1.1/transactions/${sale.uuid}/void`)
    expect((await phone.pay(reading)).body.payments).toMatchObject([{ outcome: 'REVERSED' }])
    expect(await reversalsOf(account)).toMatchObject([{ reason: 'SALE_NOT_PENDING' }])
  })

  test('more than there is in the account is refused, and nothing moves; not even the first of two', async () => {
    const phone = await openPhone(it)
    const { account, sale, reading } = await readSale(phone, { amount: 2600 })
    const twice = await phone.pay(reading, { times: 2 })
    expect([twice.http, twice.body]).toMatchObject([409, { errors: [{ code: 'balance.insufficient' }] }])
    expect(await situationOf(account, sale)).toBe('PENDING')
    expect((await phone.pay(reading)).http).toBe(200)
    expect(await phone.balance()).toBe(2400)
    const next = await readSale(phone, { amount: 2400.01 })
    expect((await phone.pay(next.reading)).http).toBe(409)
    await phone.api.post('/phone/api/top-ups', { id: randomUUID(), amount: 0.01 })
    expect((await phone.pay(next.reading)).http).toBe(200)
    expect(await phone.balance()).toBe(0)
  })

  test('many payments at once never take more than there is', async () => {
    const phone = await openPhone(it)
    const account = await it.given.account()
    const readings = await Promise.all(
      Array.from({ length: 8 }, async () => (await readSale(phone, { amount: 1000 }, account)).reading),
    )
    const answers = await Promise.all(readings.map((reading) => phone.pay(reading)))
    expect(answers.filter(({ http }) => http === 200)).toHaveLength(5)
    expect(await phone.balance()).toBe(0)
  })

  test('a refusal is nobody’s business: the sale stays open, and this reading cannot be paid any more', async () => {
    const phone = await openPhone(it)
    const { account, sale, reading } = await readSale(phone)
    const no = () => phone.api.post(`/phone/api/readings/${reading.id}/refuse`)
    expect((await no()).body).toEqual({ refused: true })
    expect((await no()).http).toBe(200)
    expect((await phone.pay(reading)).body).toMatchObject({ errors: [{ code: 'reading.refused' }] })
    expect(await situationOf(account, sale)).toBe('PENDING')
    const again = await phone.reading(await codeOf(account, sale))
    expect((await phone.pay(again)).http).toBe(200)
    expect((await phone.api.post(`/phone/api/readings/${again.id}/refuse`)).body).toMatchObject({
      errors: [{ code: 'reading.paid' }],
    })
  })

  test('somebody else’s reading is unknown', async () => {
    const [phone, other] = [await openPhone(it), await openPhone(it)]
    const { reading } = await readSale(phone)
    for (const id of [reading.id, randomUUID(), 'x'])
      expect((await other.pay({ id })).body).toMatchObject({ errors: [{ code: 'reading.unknown' }] })
    expect(await other.balance()).toBe(5000)
  })

  test('a link names the charge: its txid is enough', async () => {
    const phone = await openPhone(it)
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 7 })
    const read = await phone.api.post('/phone/api/readings', { charge: sale.txid })
    expect(read.body).toMatchObject({ reading: { charge: { amount: 7 } }, code: await codeOf(account, sale) })
    const unknown = await phone.api.post('/phone/api/readings', { charge: 'x'.repeat(31) })
    expect([unknown.http, unknown.body.refusal.code]).toEqual([200, 'location.unknown'])
  })

  test('money that left the account is reported by whoever looks next, should the process die in between', async () => {
    const phone = await openPhone(it)
    const { account, sale, reading } = await readSale(phone, { amount: 10 })
    const { apply } = it.service.door
    Object.assign(it.service.door, { apply: () => Promise.reject(new Error('the process died')) })
    const died = await phone.pay(reading).finally(() => Object.assign(it.service.door, { apply }))
    expect(died.http).toBe(500)
    expect(await situationOf(account, sale)).toBe('PENDING')
    const { phone: after, entries } = await phone.view()
    expect([after!.balance, entries[0].outcome]).toEqual([4990, 'PAID'])
    expect(await situationOf(account, sale)).toBe('PAID')
    expect((await phone.pay(reading)).body.payments).toMatchObject([{ outcome: 'PAID' }])
    expect(await phone.balance()).toBe(4990)
  })

  test('a refund comes back to the account that paid, once', async () => {
    const phone = await openPhone(it)
    const { account, sale, reading } = await readSale(phone, { amount: 100 })
    await phone.pay(reading)
    await it.given.paidSale(account)
    const refund = await account.api.put(`/v1.1/transactions/${sale.uuid}/refund`, { amount: 30 })
    expect(refund.http, refund.text).toBeLessThan(300)
    await settle()
    await settle()
    expect(await phone.balance()).toBe(4930)
  })

  test('the statement has pages', async () => {
    const phone = await openPhone(it)
    for (let n = 0; n < 55; n += 1) await phone.api.post('/phone/api/top-ups', { id: randomUUID(), amount: 0.01 })
    const first = (await phone.api.get('/phone/api/statement')).body.entries
    expect(first.map(({ seq }: { seq: number }) => seq)).toEqual(Array.from({ length: 50 }, (_, at) => 56 - at))
    const rest = (await phone.api.get(`/phone/api/statement?before=${first.at(-1).seq}`)).body.entries
    expect(rest.map(({ seq }: { seq: number }) => seq)).toEqual([6, 5, 4, 3, 2, 1])
  })
})
