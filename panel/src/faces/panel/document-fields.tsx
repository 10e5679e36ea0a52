import { SelectField, TextField, typed, type useFaults, useWords } from '../../kit/index.ts'
import { moneyWords } from './words-money.ts'

/** What a body says of somebody's document; nothing, when no number was typed. */
export const documentOf = (form: FormData) =>
  typed(form, 'documentNumber') && {
    document: { type: typed(form, 'documentType'), number: typed(form, 'documentNumber') },
  }

type DocumentFieldsProps = {
  /** Whose it is in the body: its faults are named by it. */
  readonly of: 'beneficiary' | 'shopper'
  readonly fault: ReturnType<typeof useFaults>
}

export function DocumentFields({ of, fault }: DocumentFieldsProps) {
  const m = useWords(moneyWords)
  return (
    <>
      <SelectField
        label={m.documentType}
        name="documentType"
        options={[
          ['CPF', 'CPF'],
          ['CNPJ', 'CNPJ'],
          ['OTHER', m.otherDocument],
        ]}
        error={fault(`${of}.document.type`)}
      />
      <TextField
        label={m.documentNumber}
        name="documentNumber"
        autoComplete="off"
        error={fault(`${of}.document.number`)}
      />
    </>
  )
}
