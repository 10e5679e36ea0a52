import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { anotherService } from '../../../test/harness/faulty-database.ts'
import { checkoutBody, type TestAccount } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()

const link = (parent: TestAccount, recipientId: string) =>
  it.operator.post(`/operator/v1/accounts/${parent.id}/recipients`, { recipientId })
const setActive = (parent: TestAccount, recipientId: string, active: boolean) =>
  it.operator.put(`/operator/v1/accounts/${parent.id}/recipients/${recipientId}`, { active })
const patch = (account: TestAccount, settings: object) =>
  it.operator.send('PATCH', `/operator/v1/accounts/${account.id}`, settings)
const linkedTo = async (parent: TestAccount): Promise<string[]> =>
  (await parent.api.get('/v1.1/split/recipients')).body.recipients.map(
    ({ recipientId }: { recipientId: string }) => recipientId,
  )
const share = (parent: TestAccount, ...recipients: readonly string[]) =>
  parent.api.post(
    '/v1.1/checkout/transparent',
    checkoutBody({ split: recipients.map((recipientId) => ({ recipientId, amount: 1 })) }),
  )
const refusalOf = async (parent: TestAccount, ...recipients: readonly string[]) => {
  const { http, body } = await share(parent, ...recipients)
  return http === 200 ? 'shared' : `${http} ${body.errors[0].field} ${body.main_error_message}`
}
const inactive = '400 split[0].recipientId split.recipientInactive'
const notFound = '400 split[0].recipientId split.recipientNotFound'

describe('a link', () => {
  test('by the operator lets an account share with another, which need not know', async () => {
    const [parent, recipient] = [await it.given.account({ splitEnabled: true }), await it.given.account()]
    expect(await refusalOf(parent, recipient.id)).toBe(notFound)
    const linked = await link(parent, recipient.id.toUpperCase())
    expect([linked.http, linked.body.recipient]).toEqual([201, { recipientId: recipient.id, status: 'ACTIVE' }])
    expect([await linkedTo(parent), await refusalOf(parent, recipient.id)]).toEqual([[recipient.id], 'shared'])
  })

  test('goes one way: the recipient may not share with its parent by it', async () => {
    const [parent, recipient] = [
      await it.given.account({ splitEnabled: true }),
      await it.given.account({ splitEnabled: true }),
    ]
    await link(parent, recipient.id)
    expect(await refusalOf(recipient, parent.id)).toBe(notFound)
    await link(recipient, parent.id)
    expect([await refusalOf(recipient, parent.id), await refusalOf(parent, recipient.id)]).toEqual(['shared', 'shared'])
  })

  test('made again changes nothing but switches on: the recipient keeps its place', async () => {
    const parent = await it.given.account({ splitEnabled: true })
    const [first, second] = [await it.given.account(), await it.given.account()]
    for (const { id } of [first, second]) {
      await link(parent, id)
      it.clock.advance(1_000)
    }
    await setActive(parent, first.id, false)
    expect(await linkedTo(parent)).toEqual([second.id])
    expect((await link(parent, first.id)).http).toBe(201)
    expect(await linkedTo(parent)).toEqual([second.id, first.id])
  })

  test('with oneself, with nobody or with the operator is not found', async () => {
    const parent = await it.given.account({ splitEnabled: true })
    for (const recipientId of [parent.id, randomUUID(), '00000000-0000-7000-8000-000000000001', 'x']) {
      const { http, body } = await link(parent, recipientId)
      expect([http, body.errors], recipientId).toEqual([
        404,
        [{ field: 'recipientId', message: 'non-existent account' }],
      ])
    }
    expect(await linkedTo(parent)).toEqual([])
  })

  test('is one parent’s own: switched off here, it works there', async () => {
    const [one, two] = [await it.given.account({ splitEnabled: true }), await it.given.account({ splitEnabled: true })]
    const recipient = await it.given.account()
    for (const parent of [one, two]) await link(parent, recipient.id)
    await setActive(one, recipient.id, false)
    expect([await refusalOf(one, recipient.id), await refusalOf(two, recipient.id)]).toEqual([inactive, 'shared'])
    expect([await linkedTo(one), await linkedTo(two)]).toEqual([[], [recipient.id]])
  })

  test('is seen by every process at once, on and off', async () => {
    const other = await anotherService(it)
    const parent = await it.given.account({ splitEnabled: true })
    const recipient = await it.given.account()
    const there = { ...parent, api: other.api.as({ 'x-api-key': parent.apiKey, 'x-api-token': parent.apiToken }) }
    expect(await refusalOf(there, recipient.id)).toBe(notFound)
    await link(parent, recipient.id)
    expect(await refusalOf(there, recipient.id)).toBe('shared')
    await setActive(parent, recipient.id, false)
    expect(await refusalOf(there, recipient.id)).toBe(inactive)
    await other.close()
  })
})

describe('a recipient', () => {
  test.each(['SUSPENDED', 'CLOSED'])('whose account is %s is inactive in a checkout', async (status) => {
    const parent = await it.given.account({ splitEnabled: true })
    const recipient = await it.given.account()
    await link(parent, recipient.id)
    await patch(recipient, { status })
    expect(await refusalOf(parent, recipient.id)).toBe(inactive)
    await patch(recipient, { status: 'ACTIVE' })
    expect(await refusalOf(parent, recipient.id)).toBe('shared')
  })

  test('need not have split enabled itself', async () => {
    const parent = await it.given.account({ splitEnabled: true })
    const recipient = await it.given.account({ splitEnabled: false })
    await link(parent, recipient.id)
    expect(await refusalOf(parent, recipient.id)).toBe('shared')
  })

  test('that the sandbox made can be shared with at once, and not while it is switched off', async () => {
    const parent = await it.given.account({ splitEnabled: true })
    const { recipient } = (await parent.api.post('/v1.1/sandbox/recipients', { name: 'Fornecedor' })).body
    const path = `/v1.1/sandbox/recipients/${recipient.recipientId}`
    expect(await refusalOf(parent, recipient.recipientId)).toBe('shared')
    await parent.api.put(path, { active: false })
    expect(await refusalOf(parent, recipient.recipientId)).toBe(inactive)
    await parent.api.put(path, { active: true })
    expect(await refusalOf(parent, recipient.recipientId)).toBe('shared')
  })
})

describe('the limit of recipients', () => {
  async function parentWith(count: number) {
    const parent = await it.given.account({ splitEnabled: true })
    const recipients: string[] = []
    for (let made = 0; made < count; made += 1) {
      const { recipient } = (await parent.api.post('/v1.1/sandbox/recipients', { name: `Fornecedor ${made}` })).body
      recipients.push(recipient.recipientId)
    }
    return { parent, recipients }
  }
  const tooMany = '400 split split.tooManyRecipients'

  test('is 20 unless somebody changes it', async () => {
    const { parent, recipients } = await parentWith(21)
    expect(await refusalOf(parent, ...recipients.slice(0, 20))).toBe('shared')
    expect(await refusalOf(parent, ...recipients)).toBe(tooMany)
  })

  test('is the operator’s to change, for each account', async () => {
    const { parent, recipients } = await parentWith(22)
    const other = await it.given.account({ splitEnabled: true })
    for (const recipientId of recipients.slice(0, 3)) await link(other, recipientId)
    for (const [splitRecipientsMax, most] of [
      [1, 1],
      [2, 2],
      [21, 21],
    ] as const) {
      expect((await patch(parent, { splitRecipientsMax })).body.account.splitRecipientsMax).toBe(splitRecipientsMax)
      expect(await refusalOf(parent, ...recipients.slice(0, most))).toBe('shared')
      expect(await refusalOf(parent, ...recipients.slice(0, most + 1))).toBe(tooMany)
    }
    expect(await refusalOf(other, ...recipients.slice(0, 3))).toBe('shared')
  })

  test('is not the account’s own to change', async () => {
    const { parent, recipients } = await parentWith(21)
    await parent.api.put('/v1.1/sandbox/account', { splitRecipientsMax: 1_000 })
    expect(await refusalOf(parent, ...recipients)).toBe(tooMany)
  })
})
