import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { ErrorState, Loading } from './states.tsx'

type BackProps = { readonly href: string; readonly children: string }

/** From a page that the navigation does not name to the list that it belongs to. */
export const Back = ({ href, children }: BackProps) => (
  <p>
    <Link href={href}>
      <span aria-hidden="true">← </span>
      {children}
    </Link>
  </p>
)

type DetailProps<Answer> = {
  readonly back: ReactNode
  /** Until it is known what the thing is called. */
  readonly title: string
  readonly query: Pick<UseQueryResult<Answer>, 'data' | 'error' | 'refetch'>
  readonly children: (answer: Answer) => ReactNode
}

/** The page of one thing: the way back to its list, then the thing, or what stands in its place. */
export function Detail<Answer>({ back, title, query, children }: DetailProps<Answer>) {
  const { data, error, refetch } = query
  return (
    <div className="stack">
      {back}
      {data === undefined ? (
        <>
          <h1>{title}</h1>
          {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />}
        </>
      ) : (
        children(data)
      )}
    </div>
  )
}
