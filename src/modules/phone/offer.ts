import { type CalendarDay, calendarDay, type Instant, plusMs } from '../../kernel/calendar.ts'
import type { Cents } from '../../kernel/cents.ts'
import { isObject } from '../../kernel/reader.ts'
import { ok, type Result, refuse } from '../../kernel/result.ts'
import { railMoneyToCents } from '../../rail/sandbox/payloads.ts'

/** What a payer may pay, as the receiver's bank has signed it. */
export type ChargeOffer = {
  readonly txid: string
  readonly amount: Cents
  readonly key: string
  readonly expiresAt: Instant
}

/** What a payer may authorize. */
export type MandateOffer = {
  readonly idRec: string
  readonly receiver: string
  readonly document: string
  readonly object: string
  readonly contract: string
  readonly periodicity: string
  readonly initialDate: CalendarDay
  readonly finalDate: CalendarDay | null
  /** Null: each charge may cost something else. */
  readonly amount: Cents | null
  /** What the payer's maximum may not be below. */
  readonly floor: Cents | null
  readonly retries: boolean
}

export type OfferFault =
  | { readonly code: 'payload.invalid'; readonly field: string }
  | { readonly code: 'charge.paid' | 'charge.withdrawn' | 'charge.expired' | 'mandate.answered' }

const record = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {})
const texts = (value: unknown, max: number): string | undefined =>
  typeof value === 'string' && value.length > 0 && value.length <= max ? value : undefined
const timeOf = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : Number.NaN)

const invalid = (field: string) => refuse({ code: 'payload.invalid', field } as const)

/**
 * The order of the checks is the precedence. `token` is the end of the address: there the receiver's bank shows this txid
 * and no other. Time is the receiver's (`apresentacao`), whose clock may be ahead of ours.
 */
export function chargeOffer(payload: unknown, token: string): Result<ChargeOffer, OfferFault> {
  const { txid, status, calendario, valor, chave } = record(payload)
  if (typeof txid !== 'string' || !/^[a-zA-Z0-9]{26,35}$/.test(txid) || txid !== token) return invalid('txid')
  const { original, modalidadeAlteracao = 0 } = record(valor)
  const amount = railMoneyToCents(original)
  if (amount === undefined || amount === 0 || modalidadeAlteracao !== 0) return invalid('valor')
  const key = texts(chave, 77)
  if (key === undefined) return invalid('chave')
  const { criacao, apresentacao, expiracao } = record(calendario)
  const [made, shown] = [timeOf(criacao), timeOf(apresentacao)]
  if (!(Number.isFinite(made) && Number.isFinite(shown) && Number.isInteger(expiracao) && Number(expiracao) > 0))
    return invalid('calendario')
  if (status === 'CONCLUIDA') return refuse({ code: 'charge.paid' })
  if (typeof status !== 'string') return invalid('status')
  if (status !== 'ATIVA') return refuse({ code: 'charge.withdrawn' })
  const expiresAt = plusMs(made as Instant, Number(expiracao) * 1000)
  if (shown > expiresAt) return refuse({ code: 'charge.expired' })
  return ok({ txid, amount, key, expiresAt })
}

const periodicities: Readonly<Record<string, string>> = {
  SEMANAL: 'WEEKLY',
  MENSAL: 'MONTHLY',
  TRIMESTRAL: 'QUARTERLY',
  SEMESTRAL: 'SEMIANNUAL',
  ANUAL: 'ANNUALLY',
}

export function mandateOffer(payload: unknown): Result<MandateOffer, OfferFault> {
  const { idRec, vinculo, calendario, valor, recebedor, politicaRetentativa, atualizacao } = record(payload)
  if (typeof idRec !== 'string' || !/^[RC][RN][0-9A-Z]{8}\d{8}[A-Za-z0-9]{11}$/.test(idRec)) return invalid('idRec')
  const retries = politicaRetentativa === 'PERMITE_3R_7D'
  // The second letter of the id repeats the policy.
  if ((idRec[1] === 'R') !== retries) return invalid('politicaRetentativa')
  const { contrato, objeto } = record(vinculo)
  const contract = texts(contrato, 35)
  if (contract === undefined) return invalid('vinculo')
  const { dataInicial, dataFinal, periodicidade } = record(calendario)
  const initialDate = calendarDay(String(dataInicial))
  const finalDate = dataFinal === undefined ? null : calendarDay(String(dataFinal))
  const periodicity = periodicities[String(periodicidade)]
  if (initialDate === undefined || finalDate === undefined || periodicity === undefined) return invalid('calendario')
  const { valorRec, valorMinimoRecebedor } = record(valor)
  if (valorRec !== undefined && valorMinimoRecebedor !== undefined) return invalid('valor')
  const amount = valorRec === undefined ? null : railMoneyToCents(valorRec)
  const floor = valorMinimoRecebedor === undefined ? null : railMoneyToCents(valorMinimoRecebedor)
  if (amount === undefined || floor === undefined || amount === 0) return invalid('valor')
  const { nome, cnpj } = record(recebedor)
  const [receiver, document] = [texts(nome, 140), texts(cnpj, 14)]
  if (receiver === undefined || document === undefined) return invalid('recebedor')
  if (!Array.isArray(atualizacao) || atualizacao.length === 0) return invalid('atualizacao')
  if (record(atualizacao.at(-1))['status'] !== 'CRIADA') return refuse({ code: 'mandate.answered' })
  return ok({
    idRec,
    receiver,
    document,
    object: texts(objeto, 35) ?? contract,
    contract,
    periodicity,
    initialDate,
    finalDate,
    amount,
    floor,
    retries,
  })
}
