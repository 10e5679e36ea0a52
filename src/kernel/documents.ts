// CPF (people) and CNPJ (companies; with letters since July 2026). The checks read normalized text:
// only what a person typed is normalized, so a lower-case CNPJ from elsewhere is refused.

// Upper-casing is limited to ASCII: `toUpperCase` alone would turn a dotless ı into a valid I.
export const normalizeDocument = (text: string): string =>
  text.replace(/[./\-\s]/g, '').replace(/[a-z]+/g, (letters) => letters.toUpperCase())

export const hasCpfShape = (text: string): boolean => /^[0-9]{11}$/.test(text)
export const hasCnpjShape = (text: string): boolean => /^[0-9A-Z]{12}[0-9]{2}$/.test(text)

// For a CPF the weights of both digits are the tail of one list; for a CNPJ too.
const cpfWeights = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2] as const
const cnpjWeights = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2] as const

/** The weight list ends at the last character before the digit. A letter counts as its ASCII code less 48. */
function checkDigit(text: string, length: number, weights: readonly number[]): number {
  const skipped = weights.length - length
  let sum = 0
  for (let at = 0; at < length; at++) sum += (text.charCodeAt(at) - 48) * weights[at + skipped]!
  const remainder = sum % 11
  return remainder < 2 ? 0 : 11 - remainder
}

function endsInCheckDigits(text: string, weights: readonly number[]): boolean {
  const first = text.length - 2
  return (
    checkDigit(text, first, weights) === text.charCodeAt(first) - 48 &&
    checkDigit(text, first + 1, weights) === text.charCodeAt(first + 1) - 48
  )
}

// One digit repeated satisfies the sums of a CPF, but was never issued. Of a CNPJ only the zeros do.
const isOneDigitRepeated = (text: string): boolean => /^([0-9])\1+$/.test(text)

export const isCpf = (text: string): boolean =>
  hasCpfShape(text) && !isOneDigitRepeated(text) && endsInCheckDigits(text, cpfWeights)

export const isCnpj = (text: string): boolean =>
  hasCnpjShape(text) && !isOneDigitRepeated(text) && endsInCheckDigits(text, cnpjWeights)

/** The CPF of nine digits; they must not all be one digit. */
export function cpfOf(digits: string): string {
  const ten = digits + checkDigit(digits, 9, cpfWeights)
  return ten + checkDigit(ten, 10, cpfWeights)
}

/** For screens and logs. The masked part of a CPF or CNPJ cannot be worked out from the check digits: they go too. */
export function maskDocument(text: string): string {
  const document = normalizeDocument(text)
  if (hasCpfShape(document)) return `***.${document.slice(3, 6)}.${document.slice(6, 9)}-**`
  if (hasCnpjShape(document)) {
    return `${document.slice(0, 2)}.${document.slice(2, 5)}.***/${document.slice(8, 12)}-**`
  }
  const signs = [...document]
  // Two characters are the whole of a two-character document.
  const hidden = signs.length > 2 ? signs.length - 2 : signs.length
  return '*'.repeat(hidden) + signs.slice(hidden).join('')
}
