import { useQuery, useQueryClient } from '@tanstack/react-query'
import {
  api,
  Badge,
  Button,
  Card,
  CodeBlock,
  Empty,
  ErrorState,
  FormError,
  Loading,
  Notice,
  Table,
  useAction,
  useBookName,
  useFormats,
  useLanguage,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { inPortuguese } from './rule-words.ts'
import type { Audit, Rule } from './types.ts'
import { words } from './words.ts'

const LOOK_MS = 1_000
const key = ['audit']
type Answer = { readonly audit: Audit | null }

export function AuditPage() {
  const w = useWords(words)
  const queries = useQueryClient()
  useTitle(w.audit)
  const { data, error, refetch } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => api<Answer>('/operator/api/audit', { signal }),
    refetchInterval: ({ state }) => (state.data?.audit?.state === 'RUNNING' ? LOOK_MS : false),
  })
  const start = useAction(async () => {
    queries.setQueryData(key, await api<Answer>('/operator/api/audit', { method: 'POST' }))
  })
  const audit = data?.audit
  const isRunning = start.busy || audit?.state === 'RUNNING'
  return (
    <div className="stack">
      <h1>{w.audit}</h1>
      <p className="muted">{w.auditHint}</p>
      <div>
        <Button kind="primary" busy={isRunning} onClick={() => void start.run()}>
          {isRunning ? w.auditRunning : w.runAudit}
        </Button>
      </div>
      <FormError error={start.error} />
      {data === undefined && (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />)}
      {audit === null && <Empty title={w.noAudit} />}
      {audit && <Verdict audit={audit} />}
      {audit?.state === 'DONE' && <Rules rules={audit.rules} />}
      <TrialBalance />
    </div>
  )
}

function Verdict({ audit }: { readonly audit: Audit }) {
  const w = useWords(words)
  const f = useFormats()
  const text =
    audit.state === 'RUNNING'
      ? w.auditRunning
      : audit.trouble === 'TIME_LIMIT'
        ? w.auditTooLong
        : audit.trouble === 'STOPPED'
          ? w.auditStopped
          : audit.broken === 0
            ? w.auditClean(f.count(audit.rules.length))
            : w.auditBroken(f.count(audit.broken), f.count(audit.rules.length))
  const tone = audit.state === 'RUNNING' ? 'info' : audit.state === 'DONE' && audit.broken === 0 ? 'good' : 'bad'
  return (
    <div role="status">
      <Notice tone={tone}>
        <strong>{text}</strong>
        <span className="small">
          {audit.endedAt === null
            ? w.since(f.dateTime(audit.startedAt))
            : w.fromTo(f.dateTime(audit.startedAt), f.time(audit.endedAt))}
        </span>
      </Notice>
    </div>
  )
}

/** What is broken stands first. */
function Rules({ rules }: { readonly rules: readonly Rule[] }) {
  const w = useWords(words)
  const f = useFormats()
  const { language } = useLanguage()
  const nameOf = ({ rule }: Rule) => (language === 'pt' ? (inPortuguese[rule] ?? rule) : rule)
  const sorted = [...rules].sort((one, two) => Number(one.holds) - Number(two.holds))
  return (
    <Card title={w.rules}>
      {sorted
        .filter(({ holds }) => !holds)
        .map((rule) => (
          <CodeBlock
            key={rule.rule}
            wrap
            label={`${w.examplesOf} ${nameOf(rule)}`}
            code={rule.examples.map((example) => JSON.stringify(example)).join('\n')}
          />
        ))}
      <Table
        caption={w.rules}
        rows={sorted}
        rowKey={({ rule }) => rule}
        columns={[
          { header: w.rule, cell: (rule) => nameOf(rule) },
          {
            header: w.result,
            cell: ({ holds, count }) => (
              <Badge tone={holds ? 'good' : 'bad'}>{holds ? w.holds : w.broken(f.count(count))}</Badge>
            ),
          },
        ]}
      />
    </Card>
  )
}

type Side = { readonly account: string; readonly debit: number; readonly credit: number }
type Trial = { readonly accounts: readonly Side[]; readonly totalDebit: number; readonly totalCredit: number }

function TrialBalance() {
  const w = useWords(words)
  const f = useFormats()
  const { data, error, refetch } = useQuery({
    queryKey: ['trial-balance'],
    queryFn: ({ signal }) => api<Trial>('/operator/api/ledger/trial-balance', { signal }),
  })
  const nameOf = useBookName()
  const rows = data && [...data.accounts, { account: w.total, debit: data.totalDebit, credit: data.totalCredit }]
  return (
    <Card title={w.trialBalance}>
      <p className="small muted">{w.trialBalanceHint}</p>
      {data === undefined && (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />)}
      {rows && (
        <Table
          caption={w.trialBalance}
          rows={rows}
          rowKey={({ account }) => account}
          columns={[
            { header: w.bookAccount, cell: ({ account }) => nameOf(account) },
            { header: w.debit, number: true, cell: ({ debit }) => f.money(debit) },
            { header: w.credit, number: true, cell: ({ credit }) => f.money(credit) },
          ]}
        />
      )}
    </Card>
  )
}
