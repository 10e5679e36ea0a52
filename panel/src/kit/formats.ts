import { type Language, localeOf, useLanguage } from './language.tsx'

const SAO_PAULO = 'America/Sao_Paulo'

/** Everything that is a number or a time on a page. Made once for each language: making a format is slow. */
export type Formats = {
  /** Reais, as the API has them: 10.5 is R$ 10,50. */
  money(reais: number): string
  /** To begin a field with: 1234.5 is 1234,50. */
  amount(reais: number): string
  count(value: number): string
  /** A share of one: 0.125 is 12,5 %. */
  percent(share: number): string
  /** Of a wire timestamp, `yyyy-MM-dd HH:mm:ss`, which is São Paulo's already; or of an instant in milliseconds. */
  dateTime(at: string | number): string
  date(at: string | number): string
  time(at: string | number): string
}

function makeFormats(language: Language): Formats {
  const locale = localeOf[language]
  const money = new Intl.NumberFormat(locale, { style: 'currency', currency: 'BRL' })
  const amount = new Intl.NumberFormat(locale, {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
    useGrouping: false,
  })
  const count = new Intl.NumberFormat(locale)
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const times = (options: Intl.DateTimeFormatOptions) => {
    const inSaoPaulo = new Intl.DateTimeFormat(locale, { ...options, timeZone: SAO_PAULO })
    // A wire timestamp is shown as it stands, whatever the zone's rules are in this browser.
    const asItStands = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
    return (at: string | number) =>
      typeof at === 'number' ? inSaoPaulo.format(at) : asItStands.format(Date.parse(wireAsUtc(at)))
  }
  return {
    money: (reais) => money.format(reais),
    amount: (reais) => amount.format(reais),
    count: (value) => count.format(value),
    percent: (share) => percent.format(share),
    dateTime: times({ dateStyle: 'short', timeStyle: 'medium' }),
    date: times({ dateStyle: 'medium' }),
    time: times({ timeStyle: 'medium' }),
  }
}

/** `2026-11-15`, `2026-11-15 09:30:00` or with a T and a fraction. */
function wireAsUtc(text: string): string {
  const [day, time = '00:00:00'] = text.split(/[ T]/)
  return `${day}T${time.slice(0, 8)}Z`
}

const made = new Map<Language, Formats>()

export function formatsOf(language: Language): Formats {
  const known = made.get(language)
  if (known !== undefined) return known
  const formats = makeFormats(language)
  made.set(language, formats)
  return formats
}

export const useFormats = (): Formats => formatsOf(useLanguage().language)
