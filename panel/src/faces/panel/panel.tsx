import { useCallback } from 'react'
import { Route, Router, Switch, useLocation } from 'wouter'
import {
  api,
  Badge,
  Button,
  ErrorState,
  Frame,
  isSandbox,
  Loading,
  NotFound,
  useAction,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { useLive } from './live.ts'
import { pages as allPages } from './pages.ts'
import { type SignedIn, useForgetEverything, useSession } from './session.ts'
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
  if (session.data.account === null) return <SignIn />
  return (
    <Router base="/panel">
      <Inside session={session.data} />
    </Router>
  )
}

function Inside({ session }: { readonly session: SignedIn }) {
  const w = useWords(words)
  const forget = useForgetEverything()
  const onSignedOut = useCallback(() => void forget(), [forget])
  const isLive = useLive(onSignedOut)
  const [path, navigate] = useLocation()
  const leave = useAction(async () => {
    await api('/panel/api/session', { method: 'DELETE' })
    await forget()
  })
  const isAt = (page: string) => (page === '/' ? path === '/' : path === page || path.startsWith(`${page}/`))
  const pages = allPages.filter(({ sandboxOnly }) => !sandboxOnly || isSandbox())
  const nav = pages
    .filter(({ word }) => word !== undefined)
    .map(({ path: page, word }) => ({
      href: `/panel${page === '/' ? '' : page}`,
      title: w[word!],
      current: isAt(page),
    }))
  return (
    <Frame
      title={session.account.name}
      nav={nav}
      onNavigate={(href) => navigate(href.slice('/panel'.length) || '/')}
      end={
        <>
          <Badge tone={isLive ? 'good' : 'waiting'}>{isLive ? w.live : w.notLive}</Badge>
          <Button small kind="quiet" busy={leave.busy} onClick={() => void leave.run()}>
            {w.signOut}
          </Button>
        </>
      }
    >
      <Switch>
        {pages.map(({ path: page, Page }) => (
          <Route key={page} path={page}>
            <Page />
          </Route>
        ))}
        <Route>
          <NotFound />
        </Route>
      </Switch>
    </Frame>
  )
}
