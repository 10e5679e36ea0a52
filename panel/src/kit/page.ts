import { useEffect } from 'react'

/** What only a sandbox has is not offered in production. The service writes it into the page. */
export const isSandbox = (): boolean =>
  document.querySelector('meta[name="quitado-env"]')?.getAttribute('content') === 'sandbox'

/** The title of the window, which is also what a screen reader says first. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Quitado`
  }, [title])
}
