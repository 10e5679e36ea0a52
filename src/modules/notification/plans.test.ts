import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Reply } from '../../../test/harness/api-client.ts'
import type { TestAccount } from '../../../test/harness/given.ts'
import { startTestService } from '../../../test/harness/test-service.ts'

// A merchant that became busy after the last look at the tables: the planner expects one row of it at most. A join of two
// lists of such rows, each compared with each, then takes minutes for a few thousand of them.
let it: Awaited<ReturnType<typeof startTestService>>
let newcomer: TestAccount

async function write(account: TestAccount, count: number) {
  await it.rows(
    `insert into notification (account_id, id, resource_id, turn, event, created_at, url, payload)
     select a.id, gen_random_uuid(), gen_random_uuid(), 1, 'PAYMENT_CONFIRMATION', a.created_at, 'http://127.0.0.1:1/', '{}'
     from account a, generate_series(1, $2::integer) where a.uuid = $1`,
    [account.id, count],
  )
  await it.rows(
    `insert into notification_attempt (account_id, notification_id, number, at, duration_ms, status, response_code, last, request_headers,
       response_headers, response_body)
     select n.account_id, n.id, 1, n.created_at, 5, case when n.id::text < '8' then 'SUCCESS' else 'HTTP_REQUEST_TIMEOUT' end, 0, true, '{}',
       '{}', ''
     from notification n join account a on a.id = n.account_id where a.uuid = $1`,
    [account.id],
  )
}

beforeAll(async () => {
  it = await startTestService()
  for (const table of ['notification_default', 'notification_attempt_default', 'notification_queue'])
    await it.rows(`alter table ${table} set (autovacuum_enabled = false)`)
  await write(await it.given.account(), 2_000)
  await it.rows('analyze')
  newcomer = await it.given.account()
  await newcomer.api.put('/v1.1/account/notifications', { payment: { url: 'http://127.0.0.1:1/' } })
  await write(newcomer, 40)
})
afterAll(() => it.stop())

/** The plans of what a request asks of the notifications. */
async function plansOf(request: () => Promise<Reply>): Promise<string[]> {
  const asked = vi.spyOn(pg.Client.prototype, 'query')
  const reply = await request()
  const queries = asked.mock.calls.map(([query, values]) => {
    const named = query as unknown as { text?: string; values?: unknown[] }
    return { text: named.text ?? String(query), values: (named.values ?? values ?? []) as unknown[] }
  })
  asked.mockRestore()
  expect(reply.http, reply.text).toBeLessThan(300)
  const plans: string[] = []
  for (const { text, values } of queries.filter(({ text }) => /from\s+notification|notification n/.test(text))) {
    const rows = await it.rows<{ 'QUERY PLAN': string }>(`explain (costs off) ${text}`, values)
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
  }
  expect(plans.length).toBeGreaterThan(0)
  return plans
}
const comparesEachWithEach = (plan: string) => /Nested Loop[^\n]*\n\s+Join Filter/.test(plan)

describe('for an account that the statistics do not know yet, rows are found one by one, not compared each with each', () => {
  const list = (query: string) => () => newcomer.api.get(`/v1.1/notifications?${query}`)
  const again = (body: object) => () => newcomer.api.post('/v1.1/notifications/redeliver', body)

  const findsOneByOne = async (request: () => Promise<Reply>) => {
    for (const plan of await plansOf(request)) expect(comparesEachWithEach(plan), plan).toBe(false)
  }

  test.each([
    ['all of the list', list('')],
    ['those of an event', list('eventType=PAYMENT_CONFIRMATION')],
    ['those of a day', list('initialDate=2026-01-01&finalDate=2027-01-01')],
  ])('%s', (_what, request) => findsOneByOne(request))

  // With 6,000 notifications, half of them failed, three of these ran into the time-out of a statement: 503 after 15 s.
  // The pending and all again grow with the square of what waits.
  test.each([
    ['the pending', list('state=PENDING')],
    ['the failed', list('state=FAILED')],
    ['the delivered', list('state=DELIVERED')],
    ['sending the failed again', again({ onlyFailed: true })],
    ['sending all again', again({})],
  ])('%s', (_what, request) => findsOneByOne(request))
})
