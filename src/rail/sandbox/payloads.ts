import type { CalendarDay, Instant } from '../../kernel/calendar.ts'
import { type Cents, cents } from '../../kernel/cents.ts'
import { SANDBOX_ISPB } from './sandbox-rail.ts'

// What a location shows, in the scheme's own words (API Pix: CobPayload, RecPayload).

export type CobStatus = 'ATIVA' | 'CONCLUIDA'

export type CobPayload = {
  readonly calendario: { readonly criacao: string; readonly apresentacao: string; readonly expiracao: number }
  readonly txid: string
  readonly revisao: number
  readonly status: CobStatus
  readonly valor: { readonly original: string; readonly modalidadeAlteracao: 0 }
  readonly chave: string
  readonly solicitacaoPagador?: string
}

export type RecPayload = {
  readonly idRec: string
  readonly vinculo: {
    readonly contrato: string
    readonly devedor: { readonly nome: string } & ({ readonly cpf: string } | { readonly cnpj: string })
    readonly objeto: string
  }
  readonly calendario: {
    readonly dataInicial: CalendarDay
    readonly dataFinal?: CalendarDay
    readonly periodicidade: string
  }
  readonly politicaRetentativa: 'NAO_PERMITE' | 'PERMITE_3R_7D'
  readonly valor: { readonly valorRec: string } | { readonly valorMinimoRecebedor: string }
  readonly recebedor: { readonly cnpj: string; readonly nome: string; readonly ispbParticipante: string }
  readonly atualizacao: readonly { readonly status: 'CRIADA' | 'APROVADA'; readonly data: string }[]
}

/** Two decimals, a dot, nothing else. */
export const railMoney = (amount: Cents): string => {
  const over = amount % 100
  return `${(amount - over) / 100}.${String(over).padStart(2, '0')}`
}

export function railMoneyToCents(text: unknown): Cents | undefined {
  if (typeof text !== 'string' || !/^\d{1,10}\.\d{2}$/.test(text)) return undefined
  return cents(Number(text.replace('.', '')))
}

const railTime = (at: Instant): string => new Date(at).toISOString()

export type ChargeToShow = {
  readonly txid: string
  readonly renewals: number
  readonly status: CobStatus
  readonly amount: Cents
  readonly createdAt: Instant
  readonly expiresAt: Instant
  /** Of the receiver, who may be ahead of real time. */
  readonly now: Instant
  readonly key: string
}

export const cobPayload = (charge: ChargeToShow): CobPayload => ({
  calendario: {
    criacao: railTime(charge.createdAt),
    apresentacao: railTime(charge.now),
    expiracao: Math.floor((charge.expiresAt - charge.createdAt) / 1000),
  },
  txid: charge.txid,
  revisao: charge.renewals,
  status: charge.status,
  valor: { original: railMoney(charge.amount), modalidadeAlteracao: 0 },
  chave: charge.key,
})

/** The sandbox's merchants have no CNPJ of their own: they all collect under its bank's. */
const SANDBOX_CNPJ = '99999004000192'

export type MandateToShow = {
  readonly idRec: string
  readonly contract: string
  readonly object: string
  readonly debtor: { readonly name: string; readonly document: string }
  readonly initialDate: CalendarDay
  readonly finalDate: CalendarDay | null
  readonly periodicity: 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'SEMIANNUAL' | 'ANNUALLY'
  readonly retries: boolean
  /** Of every charge; null when each may cost something else. */
  readonly amount: Cents | null
  /** What a payer's maximum may not be below. */
  readonly minimum: Cents | null
  readonly receiver: string
  readonly createdAt: Instant
  readonly approvedAt: Instant | null
}

const periods: Record<MandateToShow['periodicity'], string> = {
  WEEKLY: 'SEMANAL',
  MONTHLY: 'MENSAL',
  QUARTERLY: 'TRIMESTRAL',
  SEMIANNUAL: 'SEMESTRAL',
  ANNUALLY: 'ANUAL',
}

const CONTRACT_MAX = 35
const NAME_MAX = 140

export const recPayload = (mandate: MandateToShow): RecPayload => ({
  idRec: mandate.idRec,
  vinculo: {
    contrato: mandate.contract.slice(0, CONTRACT_MAX),
    devedor: {
      ...(mandate.debtor.document.length === 11 ? { cpf: mandate.debtor.document } : { cnpj: mandate.debtor.document }),
      nome: mandate.debtor.name.slice(0, NAME_MAX),
    },
    objeto: mandate.object.slice(0, CONTRACT_MAX),
  },
  calendario: {
    dataInicial: mandate.initialDate,
    ...(mandate.finalDate !== null && { dataFinal: mandate.finalDate }),
    periodicidade: periods[mandate.periodicity],
  },
  politicaRetentativa: mandate.retries ? 'PERMITE_3R_7D' : 'NAO_PERMITE',
  valor:
    mandate.amount === null
      ? { valorMinimoRecebedor: railMoney(mandate.minimum!) }
      : { valorRec: railMoney(mandate.amount) },
  recebedor: { cnpj: SANDBOX_CNPJ, nome: mandate.receiver.slice(0, NAME_MAX), ispbParticipante: SANDBOX_ISPB },
  atualizacao: [
    { status: 'CRIADA', data: railTime(mandate.createdAt) },
    ...(mandate.approvedAt === null ? [] : [{ status: 'APROVADA' as const, data: railTime(mandate.approvedAt) }]),
  ],
})
