import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'

export const languages = ['pt', 'en'] as const
export type Language = (typeof languages)[number]

/** As BCP 47 has them: for `lang` and for the formats. */
export const localeOf = { pt: 'pt-BR', en: 'en' } as const satisfies Record<Language, string>

/** The one thing that the pages keep in storage. */
const KEPT_AS = 'quitado-language'

type LanguageChoice = { readonly language: Language; readonly choose: (language: Language) => void }
const Choice = createContext<LanguageChoice | undefined>(undefined)

const isLanguage = (text: string | null): text is Language => languages.includes(text as Language)

function firstLanguage(): Language {
  const kept = readKept()
  if (isLanguage(kept)) return kept
  return navigator.languages.some((tag) => /^pt\b/i.test(tag)) ? 'pt' : 'en'
}

// A browser may forbid storage; the switch then holds until the page is left.
function readKept(): string | null {
  try {
    return localStorage.getItem(KEPT_AS)
  } catch {
    return null
  }
}

function keep(language: Language): void {
  try {
    localStorage.setItem(KEPT_AS, language)
  } catch {}
}

export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState(firstLanguage)
  useEffect(() => {
    document.documentElement.lang = localeOf[language]
  }, [language])
  const choice = useMemo<LanguageChoice>(
    () => ({
      language,
      choose(chosen) {
        keep(chosen)
        setLanguage(chosen)
      },
    }),
    [language],
  )
  return <Choice value={choice}>{children}</Choice>
}

export function useLanguage(): LanguageChoice {
  const choice = useContext(Choice)
  if (choice === undefined) throw new Error('a page stands outside of LanguageProvider')
  return choice
}

const names = { pt: 'Português', en: 'English' } as const satisfies Record<Language, string>

export function LanguageSwitch() {
  const { language, choose } = useLanguage()
  return (
    <fieldset className="languages">
      <legend className="only-heard">{language === 'pt' ? 'Idioma' : 'Language'}</legend>
      {languages.map((one) => (
        <button
          key={one}
          type="button"
          lang={localeOf[one]}
          aria-pressed={one === language}
          title={names[one]}
          onClick={() => choose(one)}
        >
          {one.toUpperCase()}
        </button>
      ))}
    </fieldset>
  )
}
