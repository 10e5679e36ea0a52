import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react'
import { kitWords } from './kit-words.ts'
import { useWords } from './words.ts'

type Described = {
  readonly label: string
  readonly hint?: ReactNode
  /** What is wrong with it; said to a screen reader with the field. */
  readonly error?: string | undefined
}
type Own = 'className' | 'style' | 'id' | 'children'
type Wiring = {
  readonly id: string
  readonly 'aria-invalid': true | undefined
  readonly 'aria-describedby': string | undefined
}

type FieldProps = Described & { readonly required?: boolean; readonly children: (wiring: Wiring) => ReactNode }

/** A label, its control, a hint and an error, tied together. The fields below are made with it. */
export function Field({ label, hint, error, required = false, children }: FieldProps) {
  const id = useId()
  const w = useWords(kitWords)
  const describedBy = [hint !== undefined && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label} {!required && <span className="field-optional">({w.optional})</span>}
      </label>
      {children({ id, 'aria-invalid': error ? true : undefined, 'aria-describedby': describedBy || undefined })}
      {hint !== undefined && (
        <span className="field-hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {error && (
        <span className="field-error" id={`${id}-error`}>
          {error}
        </span>
      )}
    </div>
  )
}

type TextFieldProps = Described & Omit<InputHTMLAttributes<HTMLInputElement>, Own>

export function TextField({ label, hint, error, required, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} required={required ?? false}>
      {(wiring) => <input className="input" required={required} {...input} {...wiring} />}
    </Field>
  )
}

type AreaFieldProps = Described & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, Own>

export function AreaField({ label, hint, error, required, ...area }: AreaFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} required={required ?? false}>
      {(wiring) => <textarea className="input" required={required} {...area} {...wiring} />}
    </Field>
  )
}

type SelectFieldProps = Described &
  Omit<SelectHTMLAttributes<HTMLSelectElement>, Own> & {
    readonly options: readonly (readonly [value: string, text: string])[]
  }

export function SelectField({ label, hint, error, options, ...select }: SelectFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} required>
      {(wiring) => (
        <select className="input" {...select} {...wiring}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

type CheckFieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, Own | 'type'> & {
  readonly label: string
  readonly hint?: ReactNode
}

export function CheckField({ label, hint, ...input }: CheckFieldProps) {
  const id = useId()
  return (
    <div className="check">
      <input type="checkbox" id={id} aria-describedby={hint === undefined ? undefined : `${id}-hint`} {...input} />
      <div>
        <label className="field-label" htmlFor={id}>
          {label}
        </label>
        {hint !== undefined && (
          <div className="field-hint" id={`${id}-hint`}>
            {hint}
          </div>
        )}
      </div>
    </div>
  )
}
