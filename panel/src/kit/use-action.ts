import { useCallback, useRef, useState } from 'react'
import { ApiError } from './api.ts'

export type Action<Parameters extends readonly unknown[]> = {
  readonly run: (...parameters: Parameters) => Promise<void>
  readonly busy: boolean
  readonly error: ApiError | undefined
  readonly clear: () => void
}

/** One thing that a person asks for: while it is on its way a second click does nothing; a refusal is kept to be shown. */
export function useAction<Parameters extends readonly unknown[]>(
  work: (...parameters: Parameters) => Promise<void>,
): Action<Parameters> {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const running = useRef(false)
  const latest = useRef(work)
  latest.current = work
  const run = useCallback(async (...parameters: Parameters) => {
    if (running.current) return
    running.current = true
    setBusy(true)
    setError(undefined)
    try {
      await latest.current(...parameters)
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      setError(thrown)
    } finally {
      running.current = false
      setBusy(false)
    }
  }, [])
  const clear = useCallback(() => setError(undefined), [])
  return { run, busy, error, clear }
}
