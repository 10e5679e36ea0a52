import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()
const PATH = '/v1.1/split/recipients'

type Listed = { recipientId: string; name: string; document: string | null; status: string }
const newRecipient = async (parent: TestAccount, fields: object = {}): Promise<Listed> =>
  (await parent.api.post('/v1.1/sandbox/recipients', { name: 'Fornecedor', ...fields })).body.recipient
const setActive = (parent: TestAccount, recipientId: string, active: boolean) =>
  parent.api.put(`/v1.1/sandbox/recipients/${recipientId}`, { active })
const setStatus = (accountId: string, status: string) =>
  it.operator.send('PATCH', `/operator/v1/accounts/${accountId}`, { status })
const list = (parent: TestAccount, query = '') => parent.api.get(`${PATH}${query}`)
const idsIn = (body: { recipients: Listed[] }) => body.recipients.map(({ recipientId }) => recipientId)

const refusal = (field: string, code: string) => ({
  status: -1,
  message: 'validation failure',
  errorCount: 1,
  errors: [{ field, message: code }],
  main_error_message: code,
})
const notFound = refusal('recipientId', 'split.recipientNotFound')
const notEnabled = refusal('split', 'split.notEnabled')
const forbidden = {
  status: -1,
  message: 'field validation failure',
  errorCount: 1,
  errors: [{ error: 'Forbidden', message: 'Access Denied' }],
}

describe('the list of recipients', () => {
  test('of an account without any is empty', async () => {
    const parent = await it.given.account({ splitEnabled: true })
    for (const path of ['', '/']) {
      const { http, body } = await list(parent, path)
      expect([http, body]).toEqual([
        200,
        { status: 0, message: 'success', recipients: [], page: 0, size: 50, totalPages: 0, totalRecipients: 0 },
      ])
    }
  })

  test('shows each with its document masked, and nothing else of it', async () => {
    const parent = await it.given.account({ splitEnabled: true })
    const person = await newRecipient(parent, { name: 'Ana', document: '529.982.247-25' })
    const company = await newRecipient(parent, { name: 'Beta Ltda', document: '11.222.333/0001-81' })
    const nobody = await newRecipient(parent, { name: 'Caio' })
    const { body } = await list(parent)
    expect(body).toEqual({
      status: 0,
      message: 'success',
      recipients: [
        { recipientId: nobody.recipientId, name: 'Caio', document: null, status: 'ACTIVE' },
        { recipientId: company.recipientId, name: 'Beta Ltda', document: '11.222.***/0001-**', status: 'ACTIVE' },
        { recipientId: person.recipientId, name: 'Ana', document: '***.982.247-**', status: 'ACTIVE' },
      ],
      page: 0,
      size: 50,
      totalPages: 1,
      totalRecipients: 3,
    })
  })

  test('has the most recently linked first, also of those linked in one instant', async () => {
    const parent = await it.given.account({ splitEnabled: true })
    const made: string[] = []
    for (const later of [0, 0, 1_000, 0, 60_000]) {
      it.clock.advance(later)
      made.unshift((await newRecipient(parent)).recipientId)
    }
    expect(idsIn((await list(parent)).body)).toEqual(made)
  })

  test('has the active ones only, and none whose account is not open', async () => {
    const parent = await it.given.account({ splitEnabled: true })
    const made: string[] = []
    for (let count = 0; count < 4; count += 1) made.unshift((await newRecipient(parent)).recipientId)
    await setActive(parent, made[0]!, false)
    await setStatus(made[1]!, 'CLOSED')
    await setStatus(made[2]!, 'SUSPENDED')
    const { body } = await list(parent)
    expect([idsIn(body), body.totalRecipients]).toEqual([[made[3]], 1])
    await setActive(parent, made[0]!, true)
    await setStatus(made[2]!, 'ACTIVE')
    expect(idsIn((await list(parent)).body)).toEqual([made[0], made[2], made[3]])
  })

  test('is the caller’s own: neither another parent’s nor whom one is linked to', async () => {
    const [parent, other] = [
      await it.given.account({ splitEnabled: true }),
      await it.given.account({ splitEnabled: true }),
    ]
    const theirs = await newRecipient(other)
    await it.operator.post(`/operator/v1/accounts/${other.id}/recipients`, { recipientId: parent.id })
    expect((await list(parent)).body.totalRecipients).toBe(0)
    expect(idsIn((await list(other)).body).sort()).toEqual([theirs.recipientId, parent.id].sort())
  })

  describe('in pages', () => {
    let parent: TestAccount
    const made: string[] = []
    beforeAll(async () => {
      parent = await it.given.account({ splitEnabled: true })
      for (let count = 0; count < 105; count += 1) made.unshift((await newRecipient(parent)).recipientId)
    })

    test.each([
      ['', 0, 50, 3, [0, 50]],
      ['?page=0', 0, 50, 3, [0, 50]],
      ['?page=1', 1, 50, 3, [50, 100]],
      ['?page=2', 2, 50, 3, [100, 105]],
      ['?page=3', 3, 50, 3, [105, 105]],
      ['?page=1000000000', 1_000_000_000, 50, 3, [105, 105]],
      ['?page=-1', 0, 50, 3, [0, 50]],
      ['?size=100', 0, 100, 2, [0, 100]],
      ['?size=100&page=1', 1, 100, 2, [100, 105]],
      ['?size=101', 0, 100, 2, [0, 100]],
      ['?size=999999999999', 0, 100, 2, [0, 100]],
      ['?size=1&page=104', 104, 1, 105, [104, 105]],
      ['?size=0', 0, 1, 105, [0, 1]],
      ['?size=-5&page=2', 2, 1, 105, [2, 3]],
      ['?size=35&page=2', 2, 35, 3, [70, 105]],
      ['?size=36&page=2', 2, 36, 3, [72, 105]],
      ['?size=&page=', 0, 50, 3, [0, 50]],
      ['?unknown=1', 0, 50, 3, [0, 50]],
    ] as const)('%s', async (query, page, size, totalPages, [from, to]) => {
      const { http, body } = await list(parent, query)
      expect(http).toBe(200)
      expect(body).toMatchObject({ status: 0, page, size, totalPages, totalRecipients: 105 })
      expect(idsIn(body)).toEqual(made.slice(from, to))
    })

    test.each(['page=x', 'page=1.5', 'page=1e1', 'size=x', 'size=5%20', 'size=1&size=2'])(
      '?%s is no number',
      async (query) => {
        const { http, body } = await list(parent, `?${query}`)
        expect([http, body]).toEqual([
          400,
          {
            status: -1,
            message: 'field validation failure',
            errorCount: 1,
            errors: [{ field: query.split('=')[0], message: 'invalid value' }],
          },
        ])
      },
    )
  })
})

describe('one recipient', () => {
  test('is shown as in the list', async () => {
    const parent = await it.given.account({ splitEnabled: true })
    const { recipientId } = await newRecipient(parent, { name: 'Ana', document: '52998224725' })
    const recipient = { recipientId, name: 'Ana', document: '***.982.247-**', status: 'ACTIVE' }
    for (const id of [recipientId, recipientId.toUpperCase(), `${recipientId}/`]) {
      const { http, body } = await parent.api.get(`${PATH}/${id}`)
      expect([http, body]).toEqual([200, { status: 0, message: 'success', recipient }])
    }
  })

  test('missing, unlinked, another’s, oneself, whoever one is linked to, or no uuid at all: the same 404', async () => {
    const [parent, other] = [
      await it.given.account({ splitEnabled: true }),
      await it.given.account({ splitEnabled: true }),
    ]
    const theirs = await newRecipient(other)
    await it.operator.post(`/operator/v1/accounts/${other.id}/recipients`, { recipientId: parent.id })
    const operator = '00000000-0000-7000-8000-000000000001'
    const ids = [randomUUID(), other.id, theirs.recipientId, parent.id, operator, 'x', '%00', 'a'.repeat(2_000)]
    for (const id of ids) {
      const { http, body } = await parent.api.get(`${PATH}/${id}`)
      expect([http, body], id).toEqual([404, notFound])
    }
  })

  test('inactive, suspended or closed is that 404 too, until it is active again', async () => {
    const parent = await it.given.account({ splitEnabled: true })
    const { recipientId } = await newRecipient(parent)
    const look = async () => {
      const { http, body } = await parent.api.get(`${PATH}/${recipientId}`)
      return http === 404 ? [http, body] : [http]
    }
    await setActive(parent, recipientId, false)
    expect(await look()).toEqual([404, notFound])
    await setActive(parent, recipientId, true)
    expect(await look()).toEqual([200])
    for (const status of ['SUSPENDED', 'CLOSED']) {
      await setStatus(recipientId, status)
      expect(await look(), status).toEqual([404, notFound])
    }
    await setStatus(recipientId, 'ACTIVE')
    expect(await look()).toEqual([200])
  })
})

describe('where split is off', () => {
  test('both answer 403 split.notEnabled, whoever is asked for and however', async () => {
    const parent = await it.given.account()
    const { recipientId } = await newRecipient(parent)
    for (const path of ['', '?size=x', '?page=x&size=x', `/${recipientId}`, `/${randomUUID()}`, '/x']) {
      const { http, body } = await parent.api.get(`${PATH}${path}`)
      expect([http, body], path).toEqual([403, notEnabled])
    }
    await parent.api.put('/v1.1/sandbox/account', { splitEnabled: true })
    expect(idsIn((await list(parent)).body)).toEqual([recipientId])
    await parent.api.put('/v1.1/sandbox/account', { splitEnabled: false })
    expect((await list(parent)).http).toBe(403)
  })

  test('credentials come first', async () => {
    const off = await it.given.account()
    const on = await it.given.account({ splitEnabled: true })
    const { recipientId } = await newRecipient(on)
    for (const api of [it.api, off.api.as({ 'x-api-token': randomUUID() }), on.api.as({ 'x-api-token': '' })])
      for (const path of ['', '?size=x', `/${recipientId}`, '/x']) {
        const { http, body } = await api.get(`${PATH}${path}`)
        expect([http, body], path).toEqual([403, forbidden])
      }
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    '%s is not allowed: recipients are only looked at here',
    async (method) => {
      const parent = await it.given.account({ splitEnabled: true })
      for (const path of [PATH, `${PATH}/${randomUUID()}`])
        expect((await parent.api.send(method, path, {})).http, path).toBe(405)
    },
  )
})
