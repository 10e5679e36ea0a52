import { type ApiError, FormError, Notice, useWords } from '../../kit/index.ts'
import { faultText, faultWords } from './fault-words.ts'

/** Why the bank did not do it, in words where it has a code for it. */
export function Refused({ error }: { readonly error: ApiError | undefined }) {
  const w = useWords(faultWords)
  const code = error?.causes[0]?.code
  if (code === undefined) return <FormError error={error} />
  return (
    <Notice tone="bad" alert>
      {faultText(w, { code })}
    </Notice>
  )
}
