import { Link } from 'wouter'
import {
  Badge,
  ButtonLink,
  FilterForm,
  List,
  Pagination,
  SelectField,
  TextField,
  useFormats,
  useListAddress,
  useListing,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { v } from './recurrence-parts.tsx'
import { frequencies, type PlanRow } from './recurrence-types.ts'
import type { Page } from './sale-types.ts'
import { words } from './words.ts'
import { recurrenceWords } from './words-recurrence.ts'

export function Plans() {
  const w = useWords(recurrenceWords)
  const both = useWords(words)
  const f = useFormats()
  useTitle(both.plans)
  const address = useListAddress(['title', 'enabled', 'frequency'], 0)
  const { data, error, refetch } = useListing<Page<PlanRow>>(`${v}/plans`, address, ['recurrence'])
  return (
    <div className="stack">
      <div className="row-apart">
        <h1>{both.plans}</h1>
        <Link href="/plans/new" asChild>
          <ButtonLink href="/plans/new" kind="primary">
            {w.newPlan}
          </ButtonLink>
        </Link>
      </div>
      <FilterForm address={address} found={data?.totalElements}>
        <TextField label={w.title} name="title" type="search" maxLength={100} defaultValue={address.of('title')} />
        <SelectField
          label={w.state}
          name="enabled"
          defaultValue={address.of('enabled')}
          options={[
            ['', w.anyState],
            ['true', w.enabled],
            ['false', w.disabled],
          ]}
        />
        <SelectField
          label={w.frequency}
          name="frequency"
          defaultValue={address.of('frequency')}
          options={[['', w.anyFrequency], ...frequencies.map((one) => [one, w[one]] as const)]}
        />
      </FilterForm>
      <List
        rows={data?.result}
        error={error}
        onRetry={() => void refetch()}
        none={w.noPlans}
        caption={both.plans}
        rowKey={({ id }) => id}
        columns={[
          { header: w.title, cell: ({ id, title }) => <Link href={`/plans/${id}`}>{title}</Link> },
          { header: w.frequency, cell: ({ frequency }) => w[frequency] },
          { header: w.price, number: true, cell: ({ recurrenceAmount }) => f.money(recurrenceAmount) },
          { header: both.mandates, number: true, cell: ({ totalAuthorizations }) => f.count(totalAuthorizations) },
          { header: w.state, cell: ({ enabled }) => <PlanBadge enabled={enabled} /> },
        ]}
      />
      {data && <Pagination page={address.page} pages={data.totalPages} onPage={address.turn} />}
    </div>
  )
}

export function PlanBadge({ enabled }: { readonly enabled: boolean }) {
  const w = useWords(recurrenceWords)
  return <Badge tone={enabled ? 'good' : 'neutral'}>{enabled ? w.enabled : w.disabled}</Badge>
}
