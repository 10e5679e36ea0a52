import { useRef } from 'react'
import { ApiError } from '../../kit/index.ts'

// `crypto.randomUUID` is for secure pages only, and a sandbox may be opened over a plain network.
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** One form is one thing, also when its answer was lost: the key changes only when the service has refused. */
export function useFormKey(): <Value>(send: (key: string) => Promise<Value>) => Promise<Value> {
  const key = useRef(newKey())
  return async (send) => {
    try {
      return await send(key.current)
    } catch (error) {
      if (error instanceof ApiError && error.http >= 400 && error.http < 500) key.current = newKey()
      throw error
    }
  }
}
