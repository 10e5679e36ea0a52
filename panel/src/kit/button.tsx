import type { AnchorHTMLAttributes, ButtonHTMLAttributes } from 'react'

type Look = {
  readonly kind?: 'primary' | 'secondary' | 'danger' | 'quiet'
  readonly small?: boolean
  readonly wide?: boolean
}

const classOf = ({ kind = 'secondary', small, wide }: Look): string =>
  ['button', `button-${kind}`, small && 'button-small', wide && 'button-wide'].filter(Boolean).join(' ')

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className' | 'style'> &
  Look & {
    /** Shows that the work is on its way; clicks do nothing meanwhile. */
    readonly busy?: boolean
  }

export function Button({ kind, small, wide, busy = false, children, onClick, type = 'button', ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      className={classOf({ ...(kind && { kind }), ...(small && { small }), ...(wide && { wide }) })}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      onClick={(event) => (busy ? event.preventDefault() : onClick?.(event))}
    >
      {busy && <span className="spinner" aria-hidden="true" />}
      {children}
    </button>
  )
}

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'className' | 'style'> & Look & { readonly href: string }

/** Looks like a button, leads somewhere. Inside a face give it wouter's `asChild`, or use it for whole-page links. */
export function ButtonLink({ kind, small, wide, children, ...rest }: LinkProps) {
  return (
    <a {...rest} className={classOf({ ...(kind && { kind }), ...(small && { small }), ...(wide && { wide }) })}>
      {children}
    </a>
  )
}
