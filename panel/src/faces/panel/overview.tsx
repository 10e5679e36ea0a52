import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { api, Card, ErrorState, Loading, Stat, Table, Tabs, useFormats, useTitle, useWords } from '../../kit/index.ts'
import { Chart } from './chart.tsx'
import { words } from './words.ts'

type Count = {
  readonly from: string
  readonly charges: number
  readonly paid: number
  readonly conversion: number | null
  readonly received: number
}
type OverviewAnswer = {
  readonly now: string
  readonly balance: { readonly available: number; readonly blocked: number; readonly total: number }
  readonly hours: readonly Count[]
  readonly days: readonly Count[]
}

export function Overview() {
  const w = useWords(words)
  const f = useFormats()
  useTitle(w.overview)
  const [span, setSpan] = useState('hours')
  const { data, error, refetch } = useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => api<OverviewAnswer>('/panel/api/overview', { signal }),
    meta: { topics: ['sales', 'money'] },
  })
  if (data === undefined) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />
  const today = data.days.at(-1)!
  const tab = (id: 'hours' | 'days', title: string) => ({
    id,
    title,
    content: <Counts counts={data[id]} title={title} />,
  })
  return (
    <div className="stack">
      <h1>{w.overview}</h1>
      <div className="grid grid-small">
        <Stat
          label={w.available}
          value={f.money(data.balance.available)}
          hint={data.balance.blocked > 0 ? w.blocked(f.money(data.balance.blocked)) : undefined}
        />
        <Stat label={`${w.received} · ${w.today}`} value={f.money(today.received)} />
        <Stat label={`${w.charges} · ${w.today}`} value={f.count(today.charges)} />
        <Stat
          label={`${w.conversion} · ${w.today}`}
          value={today.conversion === null ? '–' : f.percent(today.conversion)}
          hint={`${w.paid}: ${f.count(today.paid)}`}
        />
      </div>
      <Tabs
        label={w.overview}
        selected={span}
        onSelect={setSpan}
        tabs={[tab('hours', w.byHour), tab('days', w.byDay)]}
      />
    </div>
  )
}

function Counts({ counts, title }: { readonly counts: readonly Count[]; readonly title: string }) {
  const w = useWords(words)
  const f = useFormats()
  const isHourly = counts[0]?.from.includes(' ') ?? false
  const { times, amounts, numbers, conversions, time } = useMemo(
    () => ({
      times: counts.map(({ from }) => from),
      amounts: [{ label: w.received, color: '--brand', values: counts.map(({ received }) => received) }],
      numbers: [
        { label: w.charges, color: '--line-strong', values: counts.map(({ charges }) => charges) },
        { label: w.paid, color: '--brand', values: counts.map(({ paid }) => paid) },
      ],
      conversions: [
        {
          label: w.conversion,
          color: '--brand',
          values: counts.map(({ conversion }) => (conversion === null ? null : conversion * 100)),
        },
      ],
      time: (at: string) => (isHourly ? at.slice(11, 16) : `${at.slice(8, 10)}/${at.slice(5, 7)}`),
    }),
    [counts, isHourly, w],
  )
  const percent = useCallback((value: number) => f.percent(value / 100), [f])
  return (
    <div className="stack">
      <Card title={w.received}>
        <Chart
          label={`${w.received}: ${title}`}
          timeLabel={w.from}
          times={times}
          bars={amounts}
          format={f.money}
          formatTime={time}
        />
      </Card>
      <Card title={`${w.charges} / ${w.paid}`}>
        <Chart
          label={`${w.charges}, ${w.paid}: ${title}`}
          timeLabel={w.from}
          times={times}
          bars={numbers}
          format={f.count}
          formatTime={time}
        />
      </Card>
      <Card title={w.conversion}>
        <Chart
          label={`${w.conversion}: ${title}`}
          timeLabel={w.from}
          times={times}
          bars={conversions}
          format={percent}
          formatTime={time}
          top={100}
        />
      </Card>
      <details>
        <summary>{w.asTable}</summary>
        <Table
          caption={title}
          rows={[...counts].reverse()}
          rowKey={({ from }) => from}
          columns={[
            { header: w.from, cell: ({ from }) => (isHourly ? f.dateTime(from) : f.date(from)) },
            { header: w.charges, number: true, cell: ({ charges }) => f.count(charges) },
            { header: w.paid, number: true, cell: ({ paid }) => f.count(paid) },
            {
              header: w.conversion,
              number: true,
              cell: (one) => (one.conversion === null ? '–' : f.percent(one.conversion)),
            },
            { header: w.received, number: true, cell: ({ received }) => f.money(received) },
          ]}
        />
      </details>
    </div>
  )
}
