import { expect } from 'vitest'
import type { ApiClient, Reply } from './api-client.ts'
import type { TestAccount, TestSale } from './given.ts'
import type { TestService } from './test-service.ts'

export type TestPhone = {
  readonly api: ApiClient
  readonly document: string
  readonly name: string
  /** Everything that its first screen shows. */
  view(): Promise<PhoneView>
  balance(): Promise<number>
  read(code: string): Promise<Reply>
  /** The reading of a code that must be good. */
  reading(code: string): Promise<PhoneReading>
  pay(reading: Pick<PhoneReading, 'id'>, body?: Record<string, unknown>): Promise<Reply>
  mandate(idRec: string, action: string, body?: Record<string, unknown>): Promise<Reply>
}

export type PhoneReading = {
  readonly id: string
  readonly receiver: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all of it
  readonly charge: any
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all of it
  readonly mandate: any
}
export type PhoneView = {
  readonly phone: { readonly balance: number; readonly document: string; readonly name: string } | null
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all of it
  readonly mandates: any[]
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all of it
  readonly entries: any[]
}

/** A browser that has opened the phone: it keeps its cookie and says that its page is ours. */
export async function openPhone(it: TestService, body: Record<string, unknown> = {}): Promise<TestPhone> {
  const page = it.api.as({ 'x-quitado-page': '1' })
  const opened = await page.post('/phone/api/phone', body)
  expect(opened.http, opened.text).toBe(201)
  const cookie = String(opened.headers['set-cookie']).split(';')[0]!
  const api = page.as({ cookie })
  const view = async () => (await api.get('/phone/api/phone')).body as PhoneView
  const read = (code: string) => api.post('/phone/api/readings', { code })
  return {
    api,
    document: opened.body.phone.document,
    name: opened.body.phone.name,
    view,
    balance: async () => (await view()).phone!.balance,
    read,
    async reading(code) {
      const answer = await read(code)
      expect(answer.http, answer.text).toBe(201)
      return answer.body.reading
    },
    pay: ({ id }, asked = {}) => api.post(`/phone/api/readings/${id}/pay`, asked),
    mandate: (idRec, action, asked) => api.post(`/phone/api/mandates/${idRec}/${action}`, asked),
  }
}

/** The text of a sale's QR code. */
export const codeOf = async ({ api }: TestAccount, { uuid }: Pick<TestSale, 'uuid'>): Promise<string> =>
  (await api.get(`/v1.1/transactions/pix/${uuid}`)).body.qrCode.plain
