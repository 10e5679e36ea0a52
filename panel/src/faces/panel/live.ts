import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

/** The first word of a query's key says what it shows; a change names what to look at again. */
const topics = ['sales', 'money', 'deliveries', 'recurrence', 'clock'] as const
type Topic = (typeof topics)[number]
const RETRY_MS = 2_000

/**
 * One stream for all pages of the panel. `ready` comes when nothing can be missed any more, so everything shown is looked
 * at again then: also after the stream was away.
 */
export function useLive(onSignedOut: () => void): boolean {
  const queries = useQueryClient()
  const [isLive, setLive] = useState(false)
  useEffect(() => {
    let stream: EventSource | undefined
    let timer: number | undefined
    const refresh = (changed: readonly Topic[]) =>
      void queries.invalidateQueries({
        predicate: ({ meta }) => changed.some((topic) => topicsOf(meta).includes(topic)),
      })
    const open = () => {
      stream = new EventSource('/panel/api/live')
      stream.addEventListener('ready', () => {
        setLive(true)
        refresh(topics)
      })
      stream.addEventListener('change', (event) => {
        const changed = (JSON.parse(event.data) as { topics: Topic[] }).topics
        // At another time anything may look otherwise.
        if (changed.includes('clock')) void queries.invalidateQueries()
        else refresh(changed)
      })
      stream.addEventListener('signedOut', () => {
        stream?.close()
        onSignedOut()
      })
      stream.addEventListener('error', () => {
        setLive(false)
        // The browser tries again by itself, unless it was refused.
        if (stream?.readyState !== EventSource.CLOSED) return
        onSignedOut()
        timer = window.setTimeout(open, RETRY_MS)
      })
    }
    open()
    return () => {
      stream?.close()
      clearTimeout(timer)
    }
  }, [queries, onSignedOut])
  return isLive
}

const topicsOf = (meta: Record<string, unknown> | undefined): readonly Topic[] =>
  (meta?.['topics'] as readonly Topic[] | undefined) ?? []
