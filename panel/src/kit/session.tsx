import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { api } from './api.ts'
import { Button } from './button.tsx'
import { kitWords } from './kit-words.ts'
import { useAction } from './use-action.ts'
import { useWords } from './words.ts'

/** Under which a face keeps who is signed in. */
export const sessionKey = ['session'] as const

/** Nothing that was seen stays for whoever comes next. */
export function useForgetEverything(): () => Promise<void> {
  const queries = useQueryClient()
  return useCallback(async () => {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] })
    await queries.invalidateQueries({ queryKey: sessionKey })
  }, [queries])
}

export function SignOut({ face }: { readonly face: 'panel' | 'operator' }) {
  const w = useWords(kitWords)
  const forget = useForgetEverything()
  const { run, busy } = useAction(async () => {
    await api(`/${face}/api/session`, { method: 'DELETE' })
    await forget()
  })
  return (
    <Button small kind="quiet" busy={busy} onClick={() => void run()}>
      {w.signOut}
    </Button>
  )
}
