/** Rules that a linter cannot say. Each names what to do instead. */
export type TidyRule = { readonly pattern: RegExp; readonly instead: string; readonly except?: RegExp }

export const FILE_LINES_MAX = 400

export const tidyRules: readonly TidyRule[] = [
  { pattern: /new Date\(\)|Date\.now\(\)/, instead: 'clock.now()', except: /^src\/platform\/clock\.ts$/ },
  { pattern: /Math\.random\(/, instead: 'RandomIds' },
  { pattern: /process\.env\b/, instead: 'Config', except: /^src\/config\.ts$/ },
  { pattern: /parseFloat\(|toFixed\(/, instead: 'kernel/cents.ts' },
  { pattern: /\bnow\(\)::|\bcurrent_timestamp\b|(?<![.\w])now\(\)(?=[^{]*`)/i, instead: 'a parameter with the time' },
  { pattern: /\bas any\b|: any\b|@ts-ignore|@ts-nocheck|@ts-expect-error/, instead: 'a real type' },
  { pattern: /\bTODO\b|\bFIXME\b|\bXXX\b/, instead: 'the finished thing' },
  { pattern: /export \* from/, instead: 'the names' },
]

export function untidy(path: string, text: string): string[] {
  const lines = text.split('\n')
  const found = lines.flatMap((line, index) =>
    tidyRules
      .filter(({ pattern, except }) => pattern.test(line) && !except?.test(path))
      .map(({ instead }) => `${path}:${index + 1}: write ${instead} instead of: ${line.trim().slice(0, 80)}`),
  )
  return lines.length > FILE_LINES_MAX
    ? [...found, `${path}: ${lines.length} lines; a file has at most ${FILE_LINES_MAX}`]
    : found
}
