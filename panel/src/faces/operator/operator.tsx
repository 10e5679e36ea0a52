import { ErrorState, Frame, Loading, Places, SignOut, useTitle, useWords } from '../../kit/index.ts'
import { AccountPage } from './account.tsx'
import { Accounts } from './accounts.tsx'
import { AuditPage } from './audit.tsx'
import { Conflicts, Payments } from './payments.tsx'
import { Queues } from './queues.tsx'
import { useEndOfSession, useSession } from './session.ts'
import { SignIn } from './sign-in.tsx'
import { words } from './words.ts'

/** Every page, in the order of the navigation; one without a word is reached from another. */
const pages = [
  { path: '/', word: 'accounts', below: '/accounts', Page: Accounts },
  { path: '/accounts/:id', word: undefined, Page: AccountPage },
  { path: '/payments', word: 'payments', Page: Payments },
  { path: '/conflicts', word: 'conflicts', Page: Conflicts },
  { path: '/queues', word: 'queues', Page: Queues },
  { path: '/audit', word: 'audit', Page: AuditPage },
] as const

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
  return session.data.signedIn ? <Inside /> : <SignIn />
}

function Inside() {
  const w = useWords(words)
  useEndOfSession()
  const places = pages.map((page) => ({ ...page, title: page.word && w[page.word] }))
  return <Places face="operator" title={w.title} places={places} end={<SignOut face="operator" />} />
}
