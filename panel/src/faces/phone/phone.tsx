import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import {
  Button,
  ErrorState,
  Frame,
  Loading,
  Tabs,
  useAction,
  useFormats,
  useTitle,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { Mandates } from './mandates.tsx'
import { Pay } from './pay.tsx'
import { readPhone, topUp, type View } from './phone-api.ts'
import { Refused } from './refused.tsx'
import { Statement } from './statement.tsx'
import { words } from './words.ts'
import './phone.css'

const VIEW = ['phone']
const LOOK_MS = 5_000
const TOP_UP = 1_000

export default function Phone() {
  const w = useWords(words)
  useTitle(w.title)
  const view = useQuery({ queryKey: VIEW, queryFn: readPhone, refetchInterval: LOOK_MS })
  return (
    <Frame title={w.title} narrow>
      <div className="phone">
        {view.data ? (
          <App view={view.data} />
        ) : (
          <>
            <h1>{w.title}</h1>
            {view.error ? <ErrorState error={view.error} onRetry={() => void view.refetch()} /> : <Loading />}
          </>
        )}
        <p className="small muted centred">{w.faceOf}</p>
      </div>
    </Frame>
  )
}

function App({ view }: { readonly view: View }) {
  const w = useWords(words)
  const queries = useQueryClient()
  const [section, setSection] = useState('pay')
  const refresh = useCallback(async () => {
    await queries.invalidateQueries({ queryKey: VIEW })
  }, [queries])
  return (
    <>
      <Head view={view} refresh={refresh} />
      <Tabs
        label={w.sections}
        selected={section}
        onSelect={setSection}
        tabs={[
          { id: 'pay', title: w.pay, content: <Pay refresh={refresh} /> },
          { id: 'mandates', title: w.mandates, content: <Mandates mandates={view.mandates} refresh={refresh} /> },
          { id: 'statement', title: w.statement, content: <Statement entries={view.entries} /> },
        ]}
      />
    </>
  )
}

function Head({ view, refresh }: { readonly view: View; readonly refresh: () => Promise<void> }) {
  const w = useWords(words)
  const f = useFormats()
  const say = useToast()
  const deposit = useAction(async () => {
    await topUp(TOP_UP)
    say(w.toppedUp)
    await refresh()
  })
  const { name, document, balance } = view.phone
  return (
    <section className="stack">
      <div className="phone-head">
        <h1>{w.hello(name)}</h1>
        <span className="small">CPF {document.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4')}</span>
        <div>
          <div className="small">{w.balance}</div>
          <div className="figure" data-testid="balance">
            {f.money(balance)}
          </div>
        </div>
      </div>
      <div className="row">
        <Button small busy={deposit.busy} onClick={() => void deposit.run()}>
          {w.topUp(f.money(TOP_UP))}
        </Button>
      </div>
      <Refused error={deposit.error} />
    </section>
  )
}
