import type { FastifyInstance, FastifyReply } from 'fastify'
import type { AccountId, MandateId } from '../../kernel/ids.ts'
import { partsOfTxid } from '../../kernel/txid.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { createPayloadSigner, type PayloadSigner } from '../../rail/sandbox/payload-signer.ts'
import { keysPath, payloadPath, recurrencePath } from '../../rail/sandbox/sandbox-rail.ts'
import { accountNow, findAccountTerms } from '../account/index.ts'
import { findRecurrences } from '../recurrence/index.ts'
import { findSale } from '../sale/index.ts'
import { type Shown, showCharge, showMandate } from './location.ts'

export type LocationContext = {
  readonly db: Queryable
  readonly clock: Clock
  readonly encryptionKeys: readonly Buffer[]
  readonly publicUrl: string
}

/** They speak the scheme's language and serve banks: no part of the API that merchants use. */
const hidden = { schema: { hide: true } }

const ERRORS = 'https://pix.bcb.gov.br/api/v2/error'
const closings = {
  unknown: { status: 404, title: 'Não encontrado.', detail: 'Nada foi exibido nesta location.' },
  closed: { status: 410, title: 'Permanentemente removido.', detail: 'Esta location não exibe mais nada.' },
} as const

/** What a location shows, signed; or the scheme's own error. Whoever reads it reads it as it is now. */
function show(reply: FastifyReply, signer: PayloadSigner, shown: Shown<object>, fault: string) {
  reply.header('cache-control', 'no-store')
  if (typeof shown === 'object') return reply.type('application/jose').send(signer.sign(shown))
  const closing = closings[shown as keyof typeof closings]
  return reply
    .code(closing.status)
    .type('application/problem+json')
    .send(JSON.stringify({ type: `${ERRORS}/${fault}`, ...closing }))
}

/** The receiver's bank, as the banks of payers see it; public, for those who know the address. */
export function locationRoutes({ db, clock, encryptionKeys, publicUrl }: LocationContext) {
  const signer = createPayloadSigner(encryptionKeys, publicUrl + keysPath)
  async function accountAt(accountId: AccountId) {
    const account = (await findAccountTerms(db, [accountId])).get(accountId)
    return account && { account, now: accountNow(account, clock.now()) }
  }
  return async (app: FastifyInstance) => {
    app.get<{ Params: { txid: string } }>(payloadPath(':txid'), hidden, async (request, reply) => {
      const parts = partsOfTxid(request.params.txid)
      const at = parts && (await accountAt(parts.accountId))
      const sale = at && (await findSale(db, parts.accountId, parts.saleId))
      const shown = at ? showCharge(sale, parts.renewals, at.account, at.now) : 'unknown'
      return show(reply, signer, shown, 'CobPayloadNaoEncontrado')
    })

    app.get<{ Params: { reference: string } }>(recurrencePath(':reference'), hidden, async (request, reply) => {
      const parts = partsOfTxid(request.params.reference)
      const at = parts?.renewals === 0 ? await accountAt(parts.accountId) : undefined
      const mandateId = parts?.saleId as string as MandateId
      const [found] = at ? await findRecurrences(db, [{ accountId: at.account.id, mandateId }]) : []
      const shown = at ? showMandate(found, at.account, at.now) : 'unknown'
      return show(reply, signer, shown, 'RecPayloadNaoEncontrado')
    })

    app.get(keysPath, hidden, async (_request, reply) =>
      reply.type('application/json; charset=utf-8').send(JSON.stringify({ keys: signer.keys })),
    )
  }
}
