import { useQuery } from '@tanstack/react-query'
import { api, SelectField, useWords } from '../../kit/index.ts'
import { accountWords } from './words-account.ts'

/** Everything about the credentials but the token and the secret. Times are real ones. */
export type CredentialFacts = {
  readonly apiKey: string
  readonly rotatedAt: string
  readonly firstUsedAt: string | null
  readonly previousTokenEndsAt: string | null
  readonly previousSecretEndsAt: string | null
}

export const useCredentials = () =>
  useQuery({
    queryKey: ['credentials'],
    queryFn: ({ signal }) => api<CredentialFacts>('/panel/api/credentials', { signal }),
  })

const overlaps = [24, 12, 6, 1, 0]

/** How long the one before goes on. */
export function OverlapField() {
  const a = useWords(accountWords)
  return (
    <SelectField
      label={a.overlap}
      name="overlapHours"
      options={overlaps.map((hours) => [String(hours), a.overlapHours(hours)])}
    />
  )
}

export const overlapOf = (form: FormData): number => Number(form.get('overlapHours'))
