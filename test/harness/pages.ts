import { expect } from 'vitest'
import type { ApiClient, Reply } from './api-client.ts'
import { OPERATOR_TOKEN, type TestService } from './test-service.ts'

let count = 0
export const PASSWORD = 'a password of the tests'

/** The cookie that an answer sets, as a browser would send it back. */
export const cookieOf = (reply: Reply): string => String(reply.headers['set-cookie']).split(';')[0]!

export const asPage = (api: ApiClient): ApiClient => api.as({ 'x-quitado-page': '1' })

export type SignedIn = {
  /** Calls `/panel/api` as the merchant's browser. */
  readonly panel: ApiClient
  /** Calls the API with the merchant's credentials. */
  readonly api: ApiClient
  readonly id: string
  readonly email: string
  readonly apiKey: string
  readonly apiToken: string
  readonly webhookSecret: string
}

/** Registers as a person does, and is signed in. */
export async function signedIn(it: TestService): Promise<SignedIn> {
  const email = `pessoa${++count}@example.com`
  const reply = await asPage(it.api).post('/register/api', {
    name: `Loja da Pessoa ${count}`,
    email,
    password: PASSWORD,
  })
  expect(reply.http, reply.text).toBe(201)
  const { apiKey, apiToken, webhookSecret } = reply.body.credentials
  return {
    panel: asPage(it.api).as({ cookie: cookieOf(reply) }),
    api: it.api.as({ 'x-api-key': apiKey, 'x-api-token': apiToken }),
    id: reply.body.account.id,
    email,
    apiKey,
    apiToken,
    webhookSecret,
  }
}

export async function signedInOperator(it: TestService): Promise<ApiClient> {
  const reply = await asPage(it.api).post('/operator/api/session', { token: OPERATOR_TOKEN })
  expect(reply.http, reply.text).toBe(200)
  return asPage(it.api).as({ cookie: cookieOf(reply) })
}
