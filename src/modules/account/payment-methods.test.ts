import { describe, expect, test } from 'vitest'
import { checkoutBody } from '../../../test/harness/given.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()
const PATH = '/v1.1/available_payment_methods'
const pix = { label: 'Pix', type: 'pix', value: 'PIX' }
const boleto = { label: 'Boleto', type: 'boleto', value: 'BOLETO' }
const boletoPix = { label: 'Boleto with Pix', type: 'boleto_pix', value: 'BOLETO_PIX' }

describe('payment methods', () => {
  test.each([
    ['a new account', undefined, [pix]],
    ['boleto enabled without a fee', { boleto: { enabled: true } }, [pix]],
    ['a boleto fee without boleto', { boleto: { fee: 2.5 } }, [pix]],
    ['boleto with a fee', { boleto: { enabled: true, fee: 2.5 } }, [pix, boleto, boletoPix]],
    ['boleto that is free', { boleto: { enabled: true, fee: 0 } }, [pix, boleto, boletoPix]],
  ])('%s', async (_name, settings, expected) => {
    const { api } = await it.given.account(settings)
    const answer = await api.get(PATH)
    expect([answer.http, answer.body]).toEqual([200, { status: 0, message: 'success', payment_methods: expected }])
  })

  test('close again when boleto is switched off', async () => {
    const { api } = await it.given.account({ boleto: { enabled: true, fee: 1 } })
    await api.put('/v1.1/sandbox/account', { boleto: { enabled: false } })
    expect((await api.get(PATH)).body.payment_methods).toEqual([pix])
  })

  test('cards, initiators, transfers and cash are never listed, and no checkout takes them', async () => {
    const { api } = await it.given.account({ boleto: { enabled: true, fee: 1 } })
    for (const paymentMethod of ['CREDIT_CARD', 'INITIATOR', 'BB_TRANSFER', 'ITAU_CASH']) {
      expect((await api.get(PATH)).text).not.toContain(paymentMethod)
      expect((await api.post('/v1.1/checkout/transparent', checkoutBody({ paymentMethod }))).http).toBe(400)
    }
  })

  test('a body, or a query, on this GET is ignored', async () => {
    const { api } = await it.given.account()
    const answer = await api.get(`${PATH}/?x=1`, { raw: '{"broken', headers: { 'content-type': 'application/json' } })
    expect([answer.http, answer.body.payment_methods]).toEqual([200, [pix]])
  })
})
