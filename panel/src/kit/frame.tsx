import { type MouseEvent, type ReactNode, useEffect, useRef } from 'react'
import { kitWords } from './kit-words.ts'
import { LanguageSwitch } from './language.tsx'
import { isSandbox } from './page.ts'
import { useWords } from './words.ts'

export type NavItem = { readonly href: string; readonly title: string; readonly current: boolean }

type FrameProps = {
  /** Beside the name: which face this is. */
  readonly title?: string
  readonly nav?: readonly NavItem[]
  /** Follows a link of the navigation inside the face (wouter's navigate); without it the page is loaded anew. */
  readonly onNavigate?: (href: string) => void
  /** At the right end of the head: who is signed in, a sign-out button. */
  readonly end?: ReactNode
  /** For forms and single things. */
  readonly narrow?: boolean
  readonly children: ReactNode
}

/** The frame of every page: skip link, head with navigation and language, main, foot. */
export function Frame({ title, nav = [], onNavigate, end, narrow = false, children }: FrameProps) {
  const w = useWords(kitWords)
  return (
    <div className={narrow ? 'frame frame-narrow' : 'frame'}>
      <header className="frame-head">
        <a className="skip" href="#content">
          {w.skip}
        </a>
        <div className="frame-bar">
          <a className="brand" href="/" aria-label={w.home}>
            <Mark />
            Quitado
          </a>
          {title !== undefined && <span className="muted">{title}</span>}
          <div className="frame-end">
            {end}
            <LanguageSwitch />
          </div>
        </div>
        {nav.length > 0 && <Navigation items={nav} onNavigate={onNavigate} />}
      </header>
      <main className="frame-main" id="content" tabIndex={-1}>
        {children}
      </main>
      <footer className="frame-foot">{isSandbox() ? w.sandbox : 'Quitado'}</footer>
    </div>
  )
}

type NavigationProps = {
  readonly items: readonly NavItem[]
  readonly onNavigate: ((href: string) => void) | undefined
}

function Navigation({ items, onNavigate }: NavigationProps) {
  const w = useWords(kitWords)
  const follow = (event: MouseEvent, href: string) => {
    const elsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0
    if (onNavigate === undefined || elsewhere) return
    event.preventDefault()
    onNavigate(href)
  }
  const list = useRef<HTMLUListElement>(null)
  const at = items.findIndex(({ current }) => current)
  // On a phone the list is longer than the screen: where one is, is seen.
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [at])
  return (
    <nav className="nav" aria-label={w.navigation}>
      <ul ref={list}>
        {items.map(({ href, title, current }) => (
          <li key={href}>
            <a href={href} aria-current={current ? 'page' : undefined} onClick={(event) => follow(event, href)}>
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

const Mark = () => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <rect width="24" height="24" rx="6" fill="currentColor" />
    <path className="mark-line" d="m6.5 12.5 3.6 3.6 7.4-8" />
  </svg>
)
