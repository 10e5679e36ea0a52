/** What a field of a form holds, without the blanks around it; undefined when that is nothing. */
export function typed(form: FormData, name: string): string | undefined {
  const value = form.get(name)
  return (typeof value === 'string' && value.trim()) || undefined
}

/**
 * An amount as people write it, R$ 1.234,56 or 1,234.56, in the digits of the API: the last separator is the decimal
 * one. What is no amount stays wrong, for the service to say so.
 */
export function amountAsDigits(text: string): string {
  const digits = text.replaceAll(/\s/g, '').replace(/^R\$/i, '')
  const at = Math.max(digits.lastIndexOf(','), digits.lastIndexOf('.'))
  if (at < 0) return digits
  return `${digits.slice(0, at).replaceAll(/[.,]/g, '')}.${digits.slice(at + 1)}`
}

export function typedAmount(form: FormData, name: string): string | undefined {
  const text = typed(form, name)
  return text === undefined ? undefined : amountAsDigits(text)
}
