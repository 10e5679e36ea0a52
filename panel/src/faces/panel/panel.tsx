import { useCallback } from 'react'
import {
  Badge,
  ErrorState,
  Frame,
  isSandbox,
  Loading,
  Places,
  SignOut,
  useForgetEverything,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { ClockBadge } from './clock-badge.tsx'
import { useLive } from './live.ts'
import { pages } from './pages.ts'
import { type SignedIn, useSession } from './session.ts'
import { SignIn } from './sign-in.tsx'
import { words } from './words.ts'
import './panel.css'

export default function Panel() {
  const w = useWords(words)
  const session = useSession()
  useTitle(w.title)
  if (session.data === undefined)
    return (
      <Frame title={w.title}>
        {session.error ? <ErrorState error={session.error} onRetry={() => void session.refetch()} /> : <Loading />}
      </Frame>
    )
  return session.data.account === null ? <SignIn /> : <Inside session={session.data} />
}

function Inside({ session }: { readonly session: SignedIn }) {
  const w = useWords(words)
  const forget = useForgetEverything()
  const onSignedOut = useCallback(() => void forget(), [forget])
  const isLive = useLive(onSignedOut)
  const places = pages
    .filter(({ sandboxOnly }) => !sandboxOnly || isSandbox())
    .map(({ path, word, Page }) => ({ path, title: word && w[word], Page }))
  return (
    <Places
      face="panel"
      title={session.account.name}
      places={places}
      end={
        <>
          <ClockBadge clock={session.clock} />
          <Badge tone={isLive ? 'good' : 'waiting'}>{isLive ? w.live : w.notLive}</Badge>
          <SignOut face="panel" />
        </>
      }
    />
  )
}
