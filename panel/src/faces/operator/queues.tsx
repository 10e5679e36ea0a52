import { useQuery } from '@tanstack/react-query'
import { api, ErrorState, Loading, Stat, useFormats, useTitle, useWords } from '../../kit/index.ts'
import { words } from './words.ts'

const LOOK_MS = 2_000
const inProcess = ['checkout', 'door', 'simulator', 'deliveries'] as const
const inDatabase = ['notifications', 'shares', 'ordersReserved', 'ordersSent'] as const
type Queue = (typeof inProcess)[number] | (typeof inDatabase)[number]

export function Queues() {
  const w = useWords(words)
  const f = useFormats()
  useTitle(w.queues)
  const { data, error, refetch } = useQuery({
    queryKey: ['queues'],
    queryFn: ({ signal }) =>
      api<{ queues: readonly { queue: Queue; depth: number }[] }>('/operator/api/queues', { signal }),
    refetchInterval: LOOK_MS,
  })
  const depths = new Map(data?.queues.map(({ queue, depth }) => [queue, depth]))
  const group = (title: string, hint: string, names: readonly Queue[]) => (
    <section className="stack" aria-label={title}>
      <h2>{title}</h2>
      <p className="muted">{hint}</p>
      <div className="grid">
        {names
          .filter((name) => depths.has(name))
          .map((name) => (
            <Stat key={name} label={w[name]} value={f.count(depths.get(name)!)} hint={w[`${name}Hint`]} />
          ))}
      </div>
    </section>
  )
  return (
    <div className="stack">
      <h1>{w.queues}</h1>
      {data === undefined && (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />)}
      {data !== undefined && group(w.inDatabase, w.inDatabaseHint, inDatabase)}
      {data !== undefined && group(w.inProcess, w.inProcessHint, inProcess)}
    </div>
  )
}
