import { TextField, useFormats, useWords } from '../../kit/index.ts'
import type { MandateOffer } from './phone-api.ts'
import { words } from './words.ts'

type MaximumFieldProps = {
  readonly offer: MandateOffer
  readonly value: string
  readonly onChange: (value: string) => void
  readonly wrong: boolean
}

/** Only for what may vary. */
export function MaximumField({ offer, value, onChange, wrong }: MaximumFieldProps) {
  const w = useWords(words)
  const f = useFormats()
  if (offer.amount !== null) return null
  return (
    <TextField
      label={w.maximum}
      hint={w.maximumHint(f.money(offer.floor ?? 0))}
      error={wrong ? w.amountWrong : undefined}
      inputMode="decimal"
      autoComplete="off"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
