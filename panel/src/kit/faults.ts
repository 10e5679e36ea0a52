import type { ApiError } from './api.ts'
import { defineWords, useWords } from './words.ts'

const faultWords = defineWords({
  missing: ['Preencha este campo.', 'Fill this in.'],
  atMost: [(n: string) => `No máximo ${n} caracteres.`, (n: string) => `At most ${n} characters.`],
  fromTo: [
    (low: string, high: string) => `De ${low} a ${high} caracteres.`,
    (low: string, high: string) => `From ${low} to ${high} characters.`,
  ],
  whole: [
    (low: string, high: string) => `Um número inteiro de ${low} a ${high}.`,
    (low: string, high: string) => `A whole number from ${low} to ${high}.`,
  ],
  email: ['Isto não é um e-mail.', 'This is no e-mail address.'],
  address: ['Um endereço que começa com http:// ou https://.', 'An address that begins with http:// or https://.'],
  tooLittle: ['No mínimo R$ 0,01.', 'At least R$ 0.01.'],
  amount: ['Um valor em reais, com até duas casas decimais.', 'An amount in reais, with at most two decimals.'],
  percent: ['De 0 a 100, com até quatro casas decimais.', 'From 0 to 100, with at most four decimals.'],
  notCovered: ['O saldo não cobre o valor e a tarifa.', 'The balance does not cover the amount and its fee.'],
  noKey: ['Diga a chave PIX.', 'Say the PIX key.'],
  wrongPassword: ['A senha não confere.', 'The password is not right.'],
  inUse: ['A conta já usa mais do que isso.', 'The account uses more than that already.'],
  noAddress: ['Salve um endereço primeiro.', 'Save an address first.'],
  tooFar: ['Um salto vai até 1830 dias.', 'A jump is at most 1830 days.'],
  tooMuch: ['A cobrança não tem tanto a devolver.', 'The sale has not that much left to refund.'],
  refundNotCovered: ['O saldo não cobre a devolução.', 'The balance does not cover the refund.'],
  tooOld: ['Foi paga há mais de 90 dias.', 'It was paid over 90 days ago.'],
  otherSituation: [
    'A situação mudou e não permite mais isto.',
    'The situation has changed and does not allow this any more.',
  ],
  beingPaid: ['O banco já está pagando.', 'The bank is paying it already.'],
  noDocument: [(type: string) => `Isto não é um ${type}.`, (type: string) => `This is no ${type}.`],
  usedBefore: ['Já foi usada em outra cobrança.', 'It was used for another charge.'],
  emailTaken: ['Este e-mail já tem uma conta.', 'There is an account with this e-mail.'],
  invalid: ['Um dos filtros tem um valor que não existe.', 'One of the filters has a value that does not exist.'],
})
type FaultWords = (typeof faultWords)['pt']

/** The service's own words, and ours for them. */
const known: readonly (readonly [RegExp, (w: FaultWords, part: readonly string[]) => string])[] = [
  [/^may not be (null|empty)$/, (w) => w.missing],
  [/^must have at most (\d+) characters$/, (w, [, most]) => w.atMost(most!)],
  [/^must have (\d+) to (\d+) characters$/, (w, [, low, high]) => w.fromTo(low!, high!)],
  [/^must be a whole number from (\d+) to (\d+)$/, (w, [, low, high]) => w.whole(low!, high!)],
  [/^must be an e-mail address$/, (w) => w.email],
  [/^must be an http or https address/, (w) => w.address],
  [/^must be at least 0\.01$/, (w) => w.tooLittle],
  [/^must be (0 or )?a decimal number/, (w) => w.amount],
  [/^must be from 0 to 100/, (w) => w.percent],
  [/^the balance does not cover the refund$/, (w) => w.refundNotCovered],
  [/^the balance does not cover/, (w) => w.notCovered],
  [/^must have a pixKey, or/, (w) => w.noKey],
  [/^is not right$/, (w) => w.wrongPassword],
  [/^must cover what the account uses/, (w) => w.inUse],
  [/^there is no address/, (w) => w.noAddress],
  [/^a jump is at most/, (w) => w.tooFar],
  [/^is more than the sale has left/, (w) => w.tooMuch],
  [/^was paid over 90 days ago$/, (w) => w.tooOld],
  [/^invalid transaction situation$/, (w) => w.otherSituation],
  [/^(authorization|payment) cannot be (canceled|updated)$/, (w) => w.otherSituation],
  [/^the bank is paying it already$/, (w) => w.beingPaid],
  [/^must be a (CPF|CNPJ)$/, (w, [, type]) => w.noDocument(type!)],
  [/^was used before$/, (w) => w.usedBefore],
  [/^is used by another account$/, (w) => w.emailTaken],
  [/^invalid value$/, (w) => w.invalid],
]

/** What the service says is wrong, in the language of the page where we know the fault. */
export function useFaultText(): (said: string) => string {
  const w = useWords(faultWords)
  return (said) => {
    for (const [pattern, inWords] of known) {
      const parts = pattern.exec(said)
      if (parts !== null) return inWords(w, parts)
    }
    return said
  }
}

/** What is wrong with a field, or with the first of several: `fault('amount')`. */
export function useFaults(error: ApiError | undefined): (...fields: readonly string[]) => string | undefined {
  const text = useFaultText()
  return (...fields) => {
    const said = fields.map((field) => error?.of(field)).find((one) => one !== undefined)
    return said === undefined ? undefined : text(said)
  }
}
