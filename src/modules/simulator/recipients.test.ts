import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()
const PATH = '/v1.1/sandbox/recipients'
const NOT_FOUND = {
  status: -1,
  message: 'validation failure',
  errorCount: 1,
  errors: [{ field: 'recipientId', message: 'split.recipientNotFound' }],
  main_error_message: 'split.recipientNotFound',
}

const create = (account: TestAccount, fields: object = {}) => account.api.post(PATH, { name: 'Fornecedor', ...fields })
const setActive = (account: TestAccount, recipientId: string, active: unknown) =>
  account.api.put(`${PATH}/${recipientId}`, { active })
const links = (account: TestAccount) =>
  it.rows<{ recipient: string; active: boolean }>(
    `select r.uuid as recipient, l.active from recipient l join account a on a.id = l.account_id
     join account r on r.id = l.recipient_account_id where a.uuid = $1`,
    [account.id],
  )

describe('sandbox recipients', () => {
  test('a new recipient is a linked account with credentials of its own and a masked document', async () => {
    const parent = await it.given.account()
    const answer = await create(parent, { document: '529.982.247-25' })
    expect(answer.http).toBe(201)
    expect(answer.body).toEqual({
      status: 0,
      message: 'success',
      recipient: {
        recipientId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'Fornecedor',
        document: '***.982.247-**',
        status: 'ACTIVE',
      },
      credentials: {
        apiKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
        apiToken: expect.stringMatching(/^[0-9a-f-]{36}$/),
        webhookSecret: expect.stringMatching(/^whsec_/),
      },
    })
    expect(await links(parent)).toEqual([{ recipient: answer.body.recipient.recipientId, active: true }])
    const { apiKey, apiToken } = answer.body.credentials
    const own = await it.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken }).get('/v1.1/sandbox/account')
    expect(own.body.account).toEqual({ id: answer.body.recipient.recipientId, name: 'Fornecedor', email: null })
  })

  test('without a document it has none', async () => {
    const parent = await it.given.account()
    expect((await create(parent)).body.recipient.document).toBeNull()
  })

  test('wrong fields are all named', async () => {
    const parent = await it.given.account()
    const answer = await parent.api.post(PATH, { document: 'x' })
    expect([answer.http, answer.body.errors]).toEqual([
      400,
      [
        { field: 'name', message: 'may not be null' },
        { field: 'document', message: 'must have 2 to 25 characters' },
      ],
    ])
    expect(await links(parent)).toEqual([])
  })

  test('is deactivated and activated again, as often as one likes', async () => {
    const parent = await it.given.account()
    const { recipientId } = (await create(parent)).body.recipient
    for (const active of [false, false, true, true, false]) {
      const answer = await setActive(parent, recipientId, active)
      expect(answer.http).toBe(200)
      expect(answer.body).toEqual({
        status: 0,
        message: 'success',
        recipient: { recipientId, name: 'Fornecedor', document: null, status: active ? 'ACTIVE' : 'INACTIVE' },
      })
      expect((await links(parent))[0]!.active).toBe(active)
    }
  })

  test('missing, unlinked, another parent’s, oneself or no uuid at all: the same not found', async () => {
    const [parent, stranger] = [await it.given.account(), await it.given.account()]
    const { recipientId } = (await create(stranger)).body.recipient
    const operator = '00000000-0000-7000-8000-000000000001'
    for (const id of [randomUUID(), stranger.id, recipientId, parent.id, operator, 'x', '%00', 'a'.repeat(2_000)]) {
      const answer = await setActive(parent, id, false)
      expect([answer.http, answer.body], id).toEqual([404, NOT_FOUND])
    }
    expect(await links(stranger)).toEqual([{ recipient: recipientId, active: true }])
  })

  test.each([undefined, null, 'true', 1, ''])('active must be true or false, not %j', async (active) => {
    const parent = await it.given.account()
    const { recipientId } = (await create(parent)).body.recipient
    const answer = await setActive(parent, recipientId, active)
    expect([answer.http, answer.body.errors.map(({ field }: { field: string }) => field)]).toEqual([400, ['active']])
  })

  test('many created at once are all linked', async () => {
    const parent = await it.given.account()
    const made = await Promise.all(Array.from({ length: 25 }, () => create(parent)))
    expect(made.map(({ http }) => http)).toEqual(made.map(() => 201))
    expect(await links(parent)).toHaveLength(25)
  })
})
