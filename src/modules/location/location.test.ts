import { createHash, createPublicKey, verify, X509Certificate } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anotherService } from '../../../test/harness/faulty-database.ts'
import { pay, type TestAccount } from '../../../test/harness/given.ts'
import { codeOf } from '../../../test/harness/phones.ts'
import { recurrences, simulateMandate } from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { decodeBrCode } from '../../kernel/br-code.ts'
import { DAY_MS } from '../../kernel/calendar.ts'
import { createPayloadSigner } from '../../rail/sandbox/payload-signer.ts'

const it = testService()
const given = recurrences(it)
const HOST = 'pay.test'

// biome-ignore lint/suspicious/noExplicitAny: a payload is looked at from all sides
type Any = any
const parsed = (part: string): Any => JSON.parse(Buffer.from(part, 'base64url').toString())

/** Checked without a line of the service's own: header, key, certificate, signature. */
async function payloadAt(path: string): Promise<Any> {
  const shown = await it.api.get(path)
  expect([shown.http, shown.headers['content-type'], shown.headers['cache-control']]).toEqual([
    200,
    'application/jose',
    'no-store',
  ])
  const [head, body, signature] = shown.text.split('.') as [string, string, string]
  const header = parsed(head)
  expect(header).toEqual({
    alg: 'ES256',
    typ: 'JWS',
    kid: expect.any(String),
    jku: `http://${HOST}/pix/jwks.json`,
    x5t: expect.any(String),
  })
  const { keys } = (await it.api.get('/pix/jwks.json')).body
  const jwk = keys.find(({ kid }: { kid: string }) => kid === header.kid)
  const certificate = new X509Certificate(Buffer.from(jwk.x5c[0], 'base64'))
  const authority = new X509Certificate(Buffer.from(jwk.x5c[1], 'base64'))
  expect(certificate.verify(authority.publicKey)).toBe(true)
  expect(authority.verify(authority.publicKey)).toBe(true)
  expect(certificate.subject).toBe('CN=Quitado Sandbox')
  expect(Buffer.from(header.x5t, 'base64url').toString('hex')).toBe(
    createHash('sha1').update(certificate.raw).digest('hex'),
  )
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  expect(certificate.publicKey.equals(key)).toBe(true)
  const isRight = (text: string) =>
    verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))
  expect(isRight(`${head}.${body}`)).toBe(true)
  expect(isRight(`${head}.${body}x`)).toBe(false)
  return parsed(body)
}

const problemAt = async (path: string) => {
  const shown = await it.api.get(path)
  expect(shown.headers['content-type']).toMatch(/^application\/problem\+json\b/)
  const { type, status } = JSON.parse(shown.text)
  expect(status).toBe(shown.http)
  return `${shown.http} ${type.split('/').at(-1)}`
}

async function locationsOf(account: TestAccount, uuid: string) {
  const code = decodeBrCode(await codeOf(account, { uuid }))
  if (!code.ok || code.value.kind !== 'dynamic') throw new Error('a sale has a dynamic code')
  return { charge: code.value.locationUrl.slice(HOST.length), mandate: code.value.recurrenceUrl?.slice(HOST.length) }
}

describe('the location of a charge', () => {
  test('shows it in the words of the scheme, signed, at the address that is in its code', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 1234.5, maxAge: 30 })
    const { charge } = await locationsOf(account, sale.uuid)
    expect(charge).toBe(`/pix/${sale.txid}`)
    expect(await payloadAt(charge)).toEqual({
      calendario: {
        criacao: new Date(it.clock.now()).toISOString(),
        apresentacao: new Date(it.clock.now()).toISOString(),
        expiracao: 1800,
      },
      txid: sale.txid,
      revisao: 0,
      status: 'ATIVA',
      valor: { original: '1234.50', modalidadeAlteracao: 0 },
      chave: account.id,
    })
  })

  test('tells how it stands each time: paid, and gone when it is cancelled', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account)
    await pay(account, sale)
    expect(await payloadAt(`/pix/${sale.txid}`)).toMatchObject({ status: 'CONCLUIDA' })
    const cancelled = await it.given.cancelledSale(account)
    expect(await problemAt(`/pix/${cancelled.txid}`)).toBe('410 CobPayloadNaoEncontrado')
  })

  test('one past its time is shown until it is cancelled, with times that say so', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { maxAge: 1 })
    it.clock.advance(120_000)
    const { calendario } = await payloadAt(`/pix/${sale.txid}`)
    expect(Date.parse(calendario.apresentacao) - Date.parse(calendario.criacao)).toBe(120_000)
    await it.sweep()
    expect(await problemAt(`/pix/${sale.txid}`)).toBe('410 CobPayloadNaoEncontrado')
  })

  test('a renewed sale is shown at the old address and at the new one; an address to come is unknown', async () => {
    const account = await it.given.account()
    const sale = await it.given.cancelledSale(account)
    const renewed = await account.api.put(`/v1.1/checkout/transparent/${sale.uuid}`, { maxAge: 60 })
    expect(renewed.http, renewed.text).toBe(200)
    const { charge } = await locationsOf(account, sale.uuid)
    expect(await payloadAt(charge)).toMatchObject({ revisao: 1, txid: charge.split('/').at(-1) })
    expect(await payloadAt(`/pix/${sale.txid}`)).toMatchObject({ revisao: 0, txid: sale.txid, status: 'ATIVA' })
    expect(await problemAt(`/pix/${charge.split('/').at(-1)!.slice(0, -1)}2`)).toBe('404 CobPayloadNaoEncontrado')
  })

  test.each(['nothing', 'x'.repeat(31), '0000010000000000000000000000000', '%2e%2e'])(
    'is unknown: %s',
    async (token) => {
      expect(await problemAt(`/pix/${token}`)).toBe('404 CobPayloadNaoEncontrado')
      expect(await problemAt(`/rec/${token}`)).toBe('404 RecPayloadNaoEncontrado')
    },
  )

  test('the charge of a recurrence has none: it is collected without a code', async () => {
    const charge = await given.scheduledCharge(await it.given.account())
    expect(await problemAt(`/pix/${charge.instructionId}`)).toBe('404 CobPayloadNaoEncontrado')
  })
})

describe('the location of a mandate', () => {
  test('shows what is to be authorized; both addresses of a composite code are served', async () => {
    const account = await it.given.account()
    const mandate = await given.mandate(account, {
      plan: { title: 'Clube do Livro', period: 12 },
      checkout: { amount: 10 },
      recurrence: { immediatePayment: true, retry: false },
    })
    const { charge, mandate: location } = await locationsOf(account, mandate.uuid)
    expect(await payloadAt(charge)).toMatchObject({ status: 'ATIVA', valor: { original: '10.00' } })
    expect(await payloadAt(location!)).toEqual({
      idRec: mandate.idRec,
      vinculo: {
        contrato: mandate.referenceCode,
        devedor: { cpf: '52998224725', nome: 'Maria da Silva' },
        objeto: 'Clube do Livro',
      },
      calendario: {
        dataInicial: given.inDays(5),
        dataFinal: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        periodicidade: 'MENSAL',
      },
      politicaRetentativa: 'NAO_PERMITE',
      valor: { valorRec: '49.90' },
      recebedor: {
        cnpj: '99999004000192',
        nome: expect.stringMatching(/^Loja/),
        ispbParticipante: '99999004',
      },
      atualizacao: [{ status: 'CRIADA', data: expect.any(String) }],
    })
  })

  test('tells that it was approved; it is gone when it is over, and when nobody answered in time', async () => {
    const account = await it.given.account()
    const { uuid, idRec } = await given.mandate(account, {
      plan: { minimumRecurrenceAmount: 20, retryPolicy: 'ACCEPT_3R_7D' },
      recurrence: { amount: { valueType: 'VARIABLE' }, retry: true },
    })
    const [row] = await it.rows<{ account_id: number }>('select account_id from mandate where id = $1', [uuid])
    const { txidOf } = await import('../../kernel/txid.ts')
    const path = `/rec/${txidOf({ accountId: row!.account_id as never, saleId: uuid as never, renewals: 0 })}`
    expect(await payloadAt(path)).toMatchObject({
      valor: { valorMinimoRecebedor: '20.00' },
      politicaRetentativa: 'PERMITE_3R_7D',
    })
    await simulateMandate(account, { idRec }, 'approved')
    expect((await payloadAt(path)).atualizacao.map(({ status }: Any) => status)).toEqual(['CRIADA', 'APROVADA'])
    await simulateMandate(account, { idRec }, 'cancelled')
    expect(await problemAt(path)).toBe('410 RecPayloadNaoEncontrado')
    const waiting = await given.mandate(account, { checkout: { maxAge: 10 } })
    const late = `/rec/${txidOf({ accountId: row!.account_id as never, saleId: waiting.uuid as never, renewals: 0 })}`
    expect((await it.api.get(late)).http).toBe(200)
    it.clock.advance(DAY_MS)
    expect(await problemAt(late)).toBe('410 RecPayloadNaoEncontrado')
  })
})

describe('the keys', () => {
  test('follow from the encryption keys: the same in every process and after a restart, others with another key', () => {
    const [first, second] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)]
    const signer = createPayloadSigner([first, second], 'http://a/jwks')
    expect(createPayloadSigner([first, second], 'http://a/jwks').keys).toEqual(signer.keys)
    expect(createPayloadSigner([second], 'http://a/jwks').keys).toEqual([signer.keys[1]])
    expect(signer.keys[0]!.kid).not.toBe(signer.keys[1]!.kid)
  })

  test('hold no secret', async () => {
    const { keys } = (await it.api.get('/pix/jwks.json')).body
    for (const key of keys)
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'x5c', 'x5t', 'y'])
  })

  test('another process signs with the same one', async () => {
    const sale = await it.given.sale(await it.given.account())
    const other = await anotherService(it)
    onTestFinished(() => other.close())
    const { keys } = (await other.api.get('/pix/jwks.json')).body
    expect(keys).toEqual((await it.api.get('/pix/jwks.json')).body.keys)
    expect((await other.api.get(`/pix/${sale.txid}`)).http).toBe(200)
  })
})

test('in production there is no location: the receiver’s real bank has them', async () => {
  const sale = await it.given.sale(await it.given.account())
  const production = await anotherService(it, { env: 'production' })
  onTestFinished(() => production.close())
  for (const path of [`/pix/${sale.txid}`, '/pix/jwks.json', '/rec/x', '/phone/api/phone'])
    expect([path, (await production.api.get(path)).http]).toEqual([path, 404])
})
