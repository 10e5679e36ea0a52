import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { pay } from '../../../test/harness/given.ts'
import { codeOf, openPhone, type TestPhone } from '../../../test/harness/phones.ts'
import { cancelMandate, checkOut, planBody, recurrenceBody, recurrences } from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'
import { crc16, encodeBrCode } from '../../kernel/br-code.ts'
import { createPayloadSigner } from '../../rail/sandbox/payload-signer.ts'
import { chargeOffer, mandateOffer } from './offer.ts'
import { type Fetched, readCode } from './read-code.ts'

const it = testService()
const given = recurrences(it)
let phone: TestPhone
beforeAll(async () => {
  phone = await openPhone(it)
})

const merchant = { merchantName: 'Loja', merchantCity: 'Recife' }
const dynamic = (locationUrl: string) => encodeBrCode({ kind: 'dynamic', locationUrl, ...merchant })
const withCrc = (text: string) => text + crc16(text).toString(16).toUpperCase().padStart(4, '0')

/** Why a code is refused, and the checks that hold before. */
const whyNot = async (code: string): Promise<string> => {
  const { http, body, text } = await phone.read(code)
  expect(http, text).toBe(200)
  const held = body.checks.filter(({ holds }: { holds: boolean }) => holds)
  expect(body.checks.slice(0, -1)).toEqual(held)
  return [...held.map(({ check }: { check: string }) => check), ...Object.values(body.refusal)].join(' ')
}

describe('a code is refused', () => {
  test('when it is no BR Code, or a broken one: which field, and how', async () => {
    const account = await it.given.account()
    const good = await codeOf(account, await it.given.sale(account))
    const body = good.slice(0, -4)
    expect(await whyNot('hello')).toBe('brCode.crcMissing')
    expect(await whyNot('açaí')).toBe('brCode.textInvalid')
    expect(await whyNot(`${body}0000`)).toBe('brCode.crcWrong')
    expect(await whyNot(good.replace('pay.test', 'pay.tesu'))).toBe('brCode.crcWrong')
    expect(await whyNot(withCrc(`${body.slice(0, -4)}99999${'6304'}`))).toBe('brCode.structureInvalid')
    expect(await whyNot(withCrc(body.replace('5303986', '5303840')))).toBe('brCode.fieldInvalid 53')
    expect(await whyNot(withCrc(body.replace('br.gov.bcb.pix', 'br.gov.bcb.pox')))).toBe('brCode.fieldMissing 26')
    expect(await whyNot(withCrc(body.replace('5802BR', '')))).toBe('brCode.fieldMissing 58')
    expect((await phone.read('')).http).toBe(400)
    expect((await phone.api.post('/phone/api/readings', {})).http).toBe(400)
  })

  test('surrounded by spaces it is the same code', async () => {
    const account = await it.given.account()
    expect((await phone.read(`\n ${await codeOf(account, await it.given.sale(account))} `)).http).toBe(201)
  })

  test('when it names a key, or a place that is not this sandbox', async () => {
    expect(await whyNot(encodeBrCode({ kind: 'static', key: '52998224725', ...merchant }))).toBe('code.static')
    expect(await whyNot(dynamic('pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca25'))).toBe(
      'code location.foreign',
    )
    expect(await whyNot(dynamic('pay.test.evil/pix/x'))).toBe('code location.foreign')
    expect(await whyNot(dynamic('127.0.0.1:22/pix/x'))).toBe('code location.foreign')
  })

  test('when nothing is there, when something else is, and when it is closed', async () => {
    const account = await it.given.account()
    expect(await whyNot(dynamic(`pay.test/pix/${'x'.repeat(31)}`))).toBe('code location.unknown')
    expect(await whyNot(dynamic('pay.test/healthz'))).toBe('code location.failed 200')
    expect(await whyNot(dynamic('pay.test/v1.1/balance'))).toBe('code location.failed 403')
    const cancelled = await it.given.cancelledSale(account)
    expect(await whyNot(dynamic(`pay.test/pix/${cancelled.txid}`))).toBe('code location.closed')
  })

  test('when it is paid, and when its time is over', async () => {
    const account = await it.given.account()
    const paid = await it.given.paidSale(account)
    expect(await whyNot(await codeOf(account, paid))).toBe('code location signature charge.paid')
    const late = await it.given.sale(account, { maxAge: 1 })
    it.clock.advance(60_000)
    expect((await phone.read(await codeOf(account, late))).http).toBe(201)
    it.clock.advance(1)
    expect(await whyNot(await codeOf(account, late))).toBe('code location signature charge.expired')
  })

  test('time is the receiver’s: a merchant whose clock is ahead may still be paid', async () => {
    const account = await it.given.account()
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 400 })
    const sale = await it.given.sale(account, { maxAge: 30 })
    const reading = await phone.reading(await codeOf(account, sale))
    expect((await phone.pay(reading)).body.payments).toMatchObject([{ outcome: 'PAID' }])
  })

  test('when its mandate was answered, or is over', async () => {
    const account = await it.given.account()
    const planId = await given.plan(account, planBody())
    const asked = (await checkOut(account, recurrenceBody(planId, given.inDays(5)))).body.response
    const code = asked.instructions.qrCode.plain
    expect((await phone.read(code)).body.reading).toMatchObject({ id: null, charge: null, mandate: { amount: 49.9 } })
    await account.api.post(`/v1.1/pix-automatic/sandbox/sim/mandate/${asked.idRec}/approved`)
    expect(await whyNot(code)).toBe('code location signature mandate.answered')
    await cancelMandate(account, asked)
    expect(await whyNot(code)).toBe('code location.closed')
  })
})

// ---- A receiver's bank that lies ----

const HOST = 'pay.test'
const JKU = `http://${HOST}/pix/jwks.json`
const signer = createPayloadSigner([Buffer.alloc(32, 7)], JKU)
const TXID = 'a'.repeat(31)
const charge = {
  calendario: { criacao: '2026-11-16T15:00:00.000Z', apresentacao: '2026-11-16T15:00:00.000Z', expiracao: 60 },
  txid: TXID,
  revisao: 0,
  status: 'ATIVA',
  valor: { original: '10.00', modalidadeAlteracao: 0 },
  chave: 'key',
}

async function readWith(jws: string, keys: unknown = { keys: signer.keys }): Promise<string> {
  const answers: Record<string, Fetched> = {
    [`/pix/${TXID}`]: { http: 200, type: 'application/jose', text: jws },
    '/pix/jwks.json': {
      http: 200,
      type: 'application/json',
      text: typeof keys === 'string' ? keys : JSON.stringify(keys),
    },
  }
  const context = {
    publicHost: HOST,
    fetch: async (path: string) => answers[path]!,
    findReceiver: async (key: string) => (key === 'key' ? 'Loja' : undefined),
  }
  const { result } = await readCode(context, dynamic(`${HOST}/pix/${TXID}`))
  return result.ok ? 'read' : result.refusal.code
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const [head, , signature] = signer.sign(charge).split('.') as [string, string, string]
const header = JSON.parse(Buffer.from(head, 'base64url').toString())

/** Signed by a stranger who has a key of the right kind. */
function forged(changes: Record<string, unknown>, payload: object = charge): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const content = `${part({ ...header, ...changes })}.${part(payload)}`
  return `${content}.${sign('sha256', Buffer.from(content), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

describe('a payload is refused', () => {
  test('the right one is read', async () => {
    expect(await readWith(signer.sign(charge))).toBe('read')
  })

  test('when it was changed on the way, or signed by somebody else', async () => {
    const richer = part({ ...charge, valor: { original: '1000.00', modalidadeAlteracao: 0 } })
    expect(await readWith(`${head}.${richer}.${signature}`)).toBe('signature.wrong')
    expect(await readWith(forged({}))).toBe('signature.wrong')
    expect(await readWith(signer.sign(charge).slice(0, -4))).toBe('signature.wrong')
  })

  test('when it is not a JWS, has no signature, or chooses its own algorithm', async () => {
    for (const text of [
      '',
      'x',
      'a.b',
      `${head}.${part(charge)}.`,
      'a.b.c',
      '{"txid":"x"}',
      `${part([])}.${part(charge)}.AAAA`,
    ])
      expect([text, await readWith(text)]).toEqual([text, 'signature.malformed'])
    expect(await readWith(forged({ alg: 'none' }))).toBe('signature.algorithm')
    expect(await readWith(forged({ alg: 'HS256' }))).toBe('signature.algorithm')
    expect(await readWith(forged({ x5t: undefined }))).toBe('signature.malformed')
  })

  test('when its keys are elsewhere, or there is no such key', async () => {
    expect(await readWith(forged({ jku: 'https://evil.example/jwks.json' }))).toBe('signature.keysForeign')
    expect(await readWith(forged({ kid: 'other' }))).toBe('signature.keyUnknown')
    for (const keys of [{ keys: [] }, { keys: 'x' }, [], 'no JSON'])
      expect(await readWith(signer.sign(charge), keys)).toBe('signature.keyUnknown')
  })

  test('when the certificate is not the key’s, or not the one that is named', async () => {
    const other = createPayloadSigner([Buffer.alloc(32, 9)], JKU).keys[0]!
    const [key] = signer.keys
    const mixed = { ...key, x5c: other.x5c }
    expect(await readWith(signer.sign(charge), { keys: [mixed] })).toBe('signature.certificate')
    expect(await readWith(signer.sign(charge), { keys: [{ ...key, x5c: ['AAAA'] }] })).toBe('signature.certificate')
    const thumbprint = createHash('sha1').update('another').digest('base64url')
    expect(await readWith(forged({ x5t: thumbprint }))).toBe('signature.certificate')
  })

  test('when nobody has its key', async () => {
    expect(await readWith(signer.sign({ ...charge, chave: 'unknown' }))).toBe('key.unknown')
  })
})

describe('what a payload says', () => {
  const fault = (payload: unknown) => {
    const offer = chargeOffer(payload, TXID)
    return offer.ok ? 'ok' : Object.values(offer.refusal).join(' ')
  }
  const time = (changes: object) => ({ ...charge, calendario: { ...charge.calendario, ...changes } })
  test.each([
    ['ok', charge],
    ['payload.invalid txid', null],
    ['payload.invalid txid', { ...charge, txid: 'b'.repeat(31) }],
    ['payload.invalid txid', { ...charge, txid: 'a' }],
    ['payload.invalid valor', { ...charge, valor: { original: '0.00' } }],
    ['payload.invalid valor', { ...charge, valor: { original: '10.0' } }],
    ['payload.invalid valor', { ...charge, valor: { original: 10 } }],
    ['payload.invalid valor', { ...charge, valor: { original: '10.00', modalidadeAlteracao: 1 } }],
    ['payload.invalid chave', { ...charge, chave: 'x'.repeat(78) }],
    ['payload.invalid calendario', time({ expiracao: 0 })],
    ['payload.invalid calendario', time({ expiracao: '60' })],
    ['payload.invalid calendario', time({ criacao: 'yesterday' })],
    ['payload.invalid calendario', time({ apresentacao: undefined })],
    ['payload.invalid status', { ...charge, status: undefined }],
    ['charge.paid', { ...charge, status: 'CONCLUIDA' }],
    ['charge.withdrawn', { ...charge, status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }],
    ['charge.expired', time({ apresentacao: '2026-11-16T15:01:00.001Z' })],
    ['ok', time({ apresentacao: '2026-11-16T15:01:00.000Z' })],
  ])('of a charge: %s', (expected, payload) => {
    expect(fault(payload)).toBe(expected)
  })

  const mandate = {
    idRec: 'RN999990042026111612345678901',
    vinculo: { contrato: 'c', devedor: { cpf: '52998224725', nome: 'n' }, objeto: 'o' },
    calendario: { dataInicial: '2026-12-01', periodicidade: 'MENSAL' },
    politicaRetentativa: 'NAO_PERMITE',
    valor: { valorRec: '10.00' },
    recebedor: { cnpj: '99999004000192', nome: 'Loja', ispbParticipante: '99999004' },
    atualizacao: [{ status: 'CRIADA', data: 'x' }],
  }
  test.each([
    ['ok', mandate],
    ['ok', { ...mandate, valor: {} }],
    ['payload.invalid idRec', { ...mandate, idRec: 'RN1' }],
    ['payload.invalid politicaRetentativa', { ...mandate, politicaRetentativa: 'PERMITE_3R_7D' }],
    ['payload.invalid vinculo', { ...mandate, vinculo: {} }],
    ['payload.invalid calendario', { ...mandate, calendario: { dataInicial: '2026-02-30', periodicidade: 'MENSAL' } }],
    ['payload.invalid calendario', { ...mandate, calendario: { dataInicial: '2026-12-01', periodicidade: 'DIARIO' } }],
    ['payload.invalid valor', { ...mandate, valor: { valorRec: '10.00', valorMinimoRecebedor: '1.00' } }],
    ['payload.invalid valor', { ...mandate, valor: { valorRec: '0.00' } }],
    ['payload.invalid recebedor', { ...mandate, recebedor: {} }],
    ['payload.invalid atualizacao', { ...mandate, atualizacao: [] }],
    ['mandate.answered', { ...mandate, atualizacao: [{ status: 'CRIADA' }, { status: 'CANCELADA' }] }],
  ])('of a mandate: %s', (expected, payload) => {
    const offer = mandateOffer(payload)
    expect(offer.ok ? 'ok' : Object.values(offer.refusal).join(' ')).toBe(expected)
  })
})

test('reading changes nothing: the sale is as it was, and can be paid by anybody', async () => {
  const account = await it.given.account()
  const sale = await it.given.sale(account)
  await phone.reading(await codeOf(account, sale))
  expect((await pay(account, sale)).body.sale.situation).toBe('PAID')
})
