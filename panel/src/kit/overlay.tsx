import {
  createContext,
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react'
import { Button } from './button.tsx'
import type { Tone } from './data.tsx'
import { kitWords } from './kit-words.ts'
import { useWords } from './words.ts'

type DialogProps = {
  readonly open: boolean
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** The browser's own: it holds the focus, closes by Escape and gives the focus back. */
export function Dialog({ open, title, onClose, children }: DialogProps) {
  const id = useId()
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = element.current
    if (open && !dialog?.open) dialog?.showModal()
    if (!open && dialog?.open) dialog.close()
  }, [open])
  return (
    <dialog ref={element} className="dialog" aria-labelledby={id} onClose={onClose}>
      {open && (
        <div className="stack">
          <h2 id={id}>{title}</h2>
          {children}
        </div>
      )}
    </dialog>
  )
}

type ConfirmProps = DialogProps & {
  readonly action: string
  readonly danger?: boolean
  readonly busy?: boolean
  readonly onConfirm: () => void
}

export function Confirm({ action, danger = false, busy = false, onConfirm, children, ...dialog }: ConfirmProps) {
  const w = useWords(kitWords)
  return (
    <Dialog {...dialog}>
      {children}
      <div className="row">
        <Button kind={danger ? 'danger' : 'primary'} busy={busy} onClick={onConfirm}>
          {action}
        </Button>
        <Button onClick={dialog.onClose}>{w.cancel}</Button>
      </div>
    </Dialog>
  )
}

type Tab = { readonly id: string; readonly title: string; readonly content: ReactNode }
type TabsProps = {
  readonly label: string
  readonly tabs: readonly Tab[]
  /** Held by the page, so that it can stand in the address. */
  readonly selected: string
  readonly onSelect: (id: string) => void
}

const steps: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowRight: (at, count) => (at + 1) % count,
  ArrowLeft: (at, count) => (at + count - 1) % count,
  Home: () => 0,
  End: (_at, count) => count - 1,
}

export function Tabs({ label, tabs, selected, onSelect }: TabsProps) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const at = Math.max(
    0,
    tabs.findIndex((tab) => tab.id === selected),
  )
  const onKeyDown = (event: KeyboardEvent) => {
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = step(at, tabs.length)
    onSelect(tabs[next]!.id)
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus()
  }
  const current = tabs[at]
  return (
    <div className="stack">
      <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map((tab, index) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            className="tab"
            id={`${id}-${tab.id}`}
            aria-selected={index === at}
            aria-controls={index === at ? `${id}-panel` : undefined}
            tabIndex={index === at ? 0 : -1}
            onClick={() => onSelect(tab.id)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      {current && (
        <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current.id}`}>
          {current.content}
        </div>
      )}
    </div>
  )
}

type Toast = { readonly id: number; readonly text: string; readonly tone: Tone }
type Say = (text: string, tone?: Tone) => void
const Toasts = createContext<Say>(() => {})

const TOAST_MS = 6_000

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const w = useWords(kitWords)
  const [toasts, setToasts] = useState<readonly Toast[]>([])
  const count = useRef(0)
  const drop = useCallback((id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)), [])
  const say = useCallback<Say>(
    (text, tone = 'good') => {
      count.current += 1
      const id = count.current
      setToasts((shown) => [...shown.slice(-2), { id, text, tone }])
      setTimeout(() => drop(id), TOAST_MS)
    },
    [drop],
  )
  const list = useMemo(
    () =>
      toasts.map(({ id, text, tone }) => (
        <div key={id} className={`toast tone-${tone}`}>
          <span>{text}</span>
          <Button kind="quiet" small onClick={() => drop(id)}>
            {w.close}
          </Button>
        </div>
      )),
    [toasts, drop, w],
  )
  return (
    <Toasts value={say}>
      {children}
      <div className="toasts" role="status">
        {list}
      </div>
    </Toasts>
  )
}

/** `const say = useToast()`, then `say(w.saved)` or `say(text, 'bad')`. */
export const useToast = (): Say => useContext(Toasts)
