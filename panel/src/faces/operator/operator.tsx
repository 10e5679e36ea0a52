import type { ComponentType } from 'react'
import { Route, Router, Switch, useLocation } from 'wouter'
import { api, Button, ErrorState, Frame, Loading, NotFound, useAction, useTitle, useWords } from '../../kit/index.ts'
import { AccountPage } from './account.tsx'
import { Accounts } from './accounts.tsx'
import { AuditPage } from './audit.tsx'
import { Conflicts, Payments } from './payments.tsx'
import { Queues } from './queues.tsx'
import { useEndOfSession, useForgetEverything, useSession } from './session.ts'
import { SignIn } from './sign-in.tsx'
import { words } from './words.ts'

type Place = {
  /** Below /operator. */
  readonly path: string
  /** Its name in the navigation; a page without one is reached from another. */
  readonly word?: 'accounts' | 'payments' | 'conflicts' | 'queues' | 'audit'
  readonly Page: ComponentType
}

/** Every page, in the order of the navigation. */
const places: readonly Place[] = [
  { path: '/', word: 'accounts', Page: Accounts },
  { path: '/accounts/:id', Page: AccountPage },
  { path: '/payments', word: 'payments', Page: Payments },
  { path: '/conflicts', word: 'conflicts', Page: Conflicts },
  { path: '/queues', word: 'queues', Page: Queues },
  { path: '/audit', word: 'audit', Page: AuditPage },
]

export default function Operator() {
  const w = useWords(words)
  const session = useSession()
  useTitle(w.title)
  if (session.data === undefined)
    return (
      <Frame title={w.title}>
        {session.error ? <ErrorState error={session.error} onRetry={() => void session.refetch()} /> : <Loading />}
      </Frame>
    )
  if (!session.data.signedIn) return <SignIn />
  return (
    <Router base="/operator">
      <Inside />
    </Router>
  )
}

function Inside() {
  const w = useWords(words)
  const forget = useForgetEverything()
  useEndOfSession()
  const [path, navigate] = useLocation()
  const leave = useAction(async () => {
    await api('/operator/api/session', { method: 'DELETE' })
    await forget()
  })
  const isAt = (page: string) => path === page || (page === '/' && path.startsWith('/accounts/'))
  const nav = places.flatMap(({ path: page, word }) =>
    word === undefined ? [] : [{ href: `/operator${page === '/' ? '' : page}`, title: w[word], current: isAt(page) }],
  )
  return (
    <Frame
      title={w.title}
      nav={nav}
      onNavigate={(href) => navigate(href.slice('/operator'.length) || '/')}
      end={
        <Button small kind="quiet" busy={leave.busy} onClick={() => void leave.run()}>
          {w.signOut}
        </Button>
      }
    >
      <Switch>
        {places.map(({ path: page, Page }) => (
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
