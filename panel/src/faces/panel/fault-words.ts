import { type ApiError, defineWords, useWords } from '../../kit/index.ts'

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
  [/^the balance does not cover/, (w) => w.notCovered],
  [/^must have a pixKey, or/, (w) => w.noKey],
  [/^is not right$/, (w) => w.wrongPassword],
  [/^must cover what the account uses/, (w) => w.inUse],
  [/^there is no address/, (w) => w.noAddress],
  [/^a jump is at most/, (w) => w.tooFar],
]

/** What is wrong with a field, in the language of the page where we know the fault: `fault('amount')`. */
export function useFaults(error: ApiError | undefined): (...fields: readonly string[]) => string | undefined {
  const w = useWords(faultWords)
  return (...fields) => {
    const said = fields.map((field) => error?.of(field)).find((text) => text !== undefined)
    if (said === undefined) return undefined
    for (const [pattern, inWords] of known) {
      const parts = pattern.exec(said)
      if (parts !== null) return inWords(w, parts)
    }
    return said
  }
}
