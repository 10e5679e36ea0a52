import { type Language, languages, useLanguage } from './language.tsx'

type Sentence = string | ((...parameters: never[]) => string)
/** Portuguese, then English: one of them missing does not compile. */
type Pair<S extends Sentence> = readonly [pt: S, en: S]
type Pairs = Readonly<Record<string, Pair<string> | Pair<(...parameters: never[]) => string>>>

export type WordsOf<P extends Pairs> = {
  readonly [Name in keyof P]: P[Name][0] extends string ? string : P[Name][0]
}
export type Words<P extends Pairs = Pairs> = Readonly<Record<Language, WordsOf<P>>>

/**
 * The words of a face, both languages side by side:
 *
 *     export const words = defineWords({
 *       title: ['Cobranças', 'Charges'],
 *       found: [(n: number) => `${n} encontradas`, (n: number) => `${n} found`],
 *     })
 */
export function defineWords<const P extends Pairs>(pairs: P): Words<P> {
  const inLanguage = (index: number) =>
    Object.fromEntries(Object.entries(pairs).map(([name, pair]) => [name, pair[index]])) as WordsOf<P>
  return Object.fromEntries(languages.map((language, index) => [language, inLanguage(index)])) as Words<P>
}

/** The words in the language of the page: `const w = useWords(words)`, then `w.title`, `w.found(3)`. */
export function useWords<P extends Pairs>(words: Words<P>): WordsOf<P> {
  return words[useLanguage().language]
}
