import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { waitingSql } from '../../test/harness/patience.ts'
import { newEndToEnd, railPayment } from '../../test/harness/rail-payment.ts'
import { startTestService, testService } from '../../test/harness/test-service.ts'
import { auditRules } from '../audit.ts'
import { TookTooLong } from '../modules/ledger/index.ts'
import { clientConfig } from '../platform/database/database.ts'

const it = testService()
const ACCOUNTS = '/operator/v1/accounts'
const PATIENT = { timeout: 30_000 }

describe('accounts are found', () => {
  const search = async (text: string, more = '') => {
    const { http, body } = await it.operator.get(`${ACCOUNTS}?search=${encodeURIComponent(text)}${more}`)
    expect(http).toBe(200)
    return body.result.map(({ id }: { id: string }) => id) as string[]
  }
  const create = async (name: string, email?: string) => {
    const { body } = await it.operator.post(ACCOUNTS, { name, ...(email && { email }) })
    return { ...body.account, ...body.credentials } as { id: string; number: number; apiKey: string }
  }

  test('by id, number, api key, and a part of the name or e-mail in any case', async () => {
    const one = await create('Padaria Ágata', 'Agata@Example.com')
    const two = await create('Padaria Âmbar')
    for (const text of [one.id, one.id.toUpperCase(), String(one.number), one.apiKey, 'ÁGATA', 'agata@ex', ' ágata '])
      expect([text, await search(text)]).toEqual([text, [one.id]])
    expect((await search('padaria')).sort()).toEqual([one.id, two.id].sort())
    expect(await search('padaria', '&maxPageResults=1&page=2')).toHaveLength(1)
    expect((await search('  ')).length).toBeGreaterThan(1)
    for (const text of ['%', '_', "' or true --", randomUUID(), '9'.repeat(15), '9'.repeat(100)])
      expect([text, await search(text)]).toEqual([text, []])
    expect((await it.operator.get(`${ACCOUNTS}?search=${'x'.repeat(101)}`)).http).toBe(400)
  })

  test('by status', async () => {
    const { id } = await create('Loja Parada')
    await it.operator.send('PATCH', `${ACCOUNTS}/${id}`, { status: 'SUSPENDED' })
    expect(await search('loja parada', '&status=SUSPENDED')).toEqual([id])
    expect(await search('loja parada', '&status=ACTIVE')).toEqual([])
    expect((await it.operator.get(`${ACCOUNTS}?status=GONE`)).body.errors[0].field).toBe('status')
  })

  test('but never the operator’s own', async () => {
    expect(await search('Operator')).toEqual([])
    expect(await search('00000000-0000-7000-8000-000000000001')).toEqual([])
    expect(await search('1')).not.toContain('00000000-0000-7000-8000-000000000001')
  })
})

test('the recipients of an account are listed, also those that are switched off', async () => {
  const [parent, one, two] = [await it.given.account(), await it.given.account(), await it.given.account()]
  for (const { id } of [one, two]) await it.operator.post(`${ACCOUNTS}/${parent.id}/recipients`, { recipientId: id })
  await it.operator.put(`${ACCOUNTS}/${parent.id}/recipients/${one.id}`, { active: false })
  const { http, body } = await it.operator.get(`${ACCOUNTS}/${parent.id}/recipients?maxPageResults=10`)
  expect([http, body.totalElements]).toEqual([200, 2])
  const statusOf = new Map(body.result.map((each: Record<string, string>) => [each['recipientId'], each['status']]))
  expect(statusOf).toEqual(
    new Map([
      [one.id, 'INACTIVE'],
      [two.id, 'ACTIVE'],
    ]),
  )
  expect((await it.operator.get(`${ACCOUNTS}/${randomUUID()}/recipients`)).http).toBe(404)
  expect((await it.operator.get(`${ACCOUNTS}/${one.id}/recipients`)).body.result).toEqual([])
})

describe('news that was set aside', () => {
  test('is listed newest first beside what was heard first, with documents masked', async () => {
    const own = await startTestService()
    onTestFinished(() => own.stop())
    own.clock.set('2026-11-16 12:00:00')
    const account = await own.given.account()
    const sale = await own.given.sale(account, { amount: 40 })
    const endToEnd = newEndToEnd()
    const payment = railPayment(own.clock, sale, { endToEnd })
    await own.service.door.apply([payment])
    own.clock.advance(1_000)
    await own.service.door.apply([railPayment(own.clock, sale, { endToEnd, amount: 4_100 })])
    own.clock.advance(1_000)
    await own.service.door.apply([{ kind: 'mandate', rail: 'sandbox', idRec: 'RN1', state: 'APPROVED', payer: null }])
    const { body } = await own.operator.get('/operator/v1/conflicts')
    const { number } = (await own.operator.get(`${ACCOUNTS}/${account.id}`)).body.account
    const lie = body.result.at(-1)
    expect(lie).toEqual({
      id: expect.any(String),
      rail: 'sandbox',
      kind: 'payment',
      railId: endToEnd,
      received: '2026-11-16 12:00:01',
      event: {
        endToEnd,
        txid: sale.txid,
        amount: 41,
        settledAt: '2026-11-16 12:00:01',
        payer: { document: '***.982.247-**', name: 'Pagador de Teste', ispb: '99999004' },
      },
      first: {
        accountNumber: number,
        outcome: 'APPLIED',
        uuid: sale.uuid,
        amount: 40,
        received: '2026-11-16 12:00:00',
      },
    })
    expect(body.totalElements).toBe(body.result.length)
    for (const other of body.result.slice(0, -1)) expect(other).toMatchObject({ kind: 'mandate', first: null })
    const second = (await own.operator.get('/operator/v1/conflicts?maxPageResults=1&page=1')).body
    expect(second.result).toEqual([body.result[0]])
  })
})

describe('the audit', () => {
  const path = '/operator/v1/audit'

  test('runs in the service and tells every rule; a broken one with examples', async () => {
    const own = await startTestService()
    onTestFinished(() => own.stop())
    expect((await own.operator.get(path)).body).toEqual({ status: 0, message: 'success', audit: null })
    await own.given.paidSale(await own.given.account())
    const begun = await own.operator.post(path)
    expect([begun.http, begun.body.audit.trouble]).toEqual([202, null])
    const ended = async (state: string) =>
      vi.waitFor(async () => {
        const { audit } = (await own.operator.get(path)).body
        expect(audit.state).toBe(state)
        return audit
      }, PATIENT)
    const clean = await ended('DONE')
    const names = (await auditRules(own.connection)).map(({ check }) => check)
    expect(clean.rules.map(({ rule }: { rule: string }) => rule)).toEqual(names)
    expect([clean.broken, clean.endedAt]).toEqual([0, expect.any(String)])
    await own.rows('update book set version = version + 1 where version > 0')
    await own.operator.post(path)
    const audit = await ended('DONE')
    const gaps = audit.rules.find(({ rule }: { rule: string }) => rule.startsWith('the sequence of a book has no gaps'))
    expect(gaps).toEqual({
      rule: expect.any(String),
      holds: false,
      count: 1,
      examples: [{ account_id: expect.any(String) }],
    })
    expect(own.logged.some((line) => line['alarm'] === true && line['msg'] === 'an audit found broken rules')).toBe(
      true,
    )
  })

  test('may not take longer than it is given, and can be cut short', async () => {
    await expect(auditRules(it.connection, { limitMs: 0 })).rejects.toThrow(TookTooLong)
    const locker = new pg.Client(clientConfig(it.connection))
    await locker.connect()
    await locker.query('begin')
    await locker.query('lock table book in access exclusive mode')
    try {
      await expect(auditRules(it.connection, { limitMs: 100 })).rejects.toThrow(TookTooLong)
      const cut = new AbortController()
      const running = auditRules(it.connection, { signal: cut.signal })
      const rejected = expect(running).rejects.toThrow()
      await vi.waitFor(async () => {
        expect(await it.rows(`${waitingSql} and query like '%broken_count%'`)).toHaveLength(1)
      }, PATIENT)
      cut.abort()
      await rejected
      await expect(auditRules(it.connection, { signal: cut.signal })).rejects.toThrow()
    } finally {
      await locker.query('rollback')
      await locker.end()
    }
  })

  test('is the operator’s alone', async () => {
    const { api } = await it.given.account()
    for (const asked of [await api.post(path), await api.get(path), await it.api.get(path), await it.api.post(path)])
      expect(asked.http).toBe(403)
  })
})
