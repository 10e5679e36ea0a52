import { useCallback, useRef } from 'react'
import { ApiError } from './api.ts'

/** `crypto.randomUUID` is missing on plain http, where a sandbox at home may be. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** The service has said no, or that the key is another request's: the next sending is a new one. */
const isDecided = (error: unknown): boolean => error instanceof ApiError && [400, 403, 404, 422].includes(error.http)

/**
 * One form is one effect, however often it is sent: the key stays while nobody knows what became of it, and a refusal,
 * which is kept under its key too, makes room for another.
 */
export function useFormKey(): <Answer>(send: (key: string) => Promise<Answer>) => Promise<Answer> {
  const held = useRef<string>(undefined)
  return useCallback(async (send) => {
    held.current ??= newKey()
    try {
      const answer = await send(held.current)
      held.current = undefined
      return answer
    } catch (error) {
      if (isDecided(error)) held.current = undefined
      throw error
    }
  }, [])
}
