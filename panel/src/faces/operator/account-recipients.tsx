import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  api,
  Badge,
  Button,
  Card,
  Empty,
  ErrorState,
  Form,
  FormError,
  Loading,
  Pagination,
  Table,
  TextField,
  useAction,
  useFaults,
  useToast,
  useWords,
} from '../../kit/index.ts'
import type { Page, Recipient } from './types.ts'
import { words } from './words.ts'

const PAGE_SIZE = 20

export function Recipients({ accountId }: { readonly accountId: string }) {
  const w = useWords(words)
  const say = useToast()
  const [page, setPage] = useState(1)
  const path = `/operator/api/accounts/${accountId}/recipients` as const
  const { data, error, refetch } = useQuery({
    queryKey: ['recipients', accountId, page],
    queryFn: ({ signal }) => api<Page<Recipient>>(`${path}?page=${page}&maxPageResults=${PAGE_SIZE}`, { signal }),
  })
  const turn = useAction(async ({ recipientId, status }: Recipient) => {
    await api(`${path}/${recipientId}`, { method: 'PUT', body: { active: status !== 'ACTIVE' } })
    await refetch()
  })
  return (
    <Card title={w.recipients}>
      {data === undefined && (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />)}
      {data?.result.length === 0 && <Empty title={w.noRecipients} />}
      {data !== undefined && data.result.length > 0 && (
        <Table
          caption={w.recipients}
          rows={data.result}
          rowKey={({ recipientId }) => recipientId}
          columns={[
            { header: w.name, cell: ({ name }) => name },
            { header: w.document, cell: ({ document }) => document ?? '–' },
            {
              header: w.status,
              cell: ({ status }) => (
                <Badge tone={status === 'ACTIVE' ? 'good' : 'waiting'}>
                  {status === 'ACTIVE' ? w.recipientOn : w.recipientOff}
                </Badge>
              ),
            },
            {
              header: w.change,
              cell: (recipient) => (
                <Button small busy={turn.busy} onClick={() => void turn.run(recipient)}>
                  {recipient.status === 'ACTIVE' ? w.turnOff(recipient.name) : w.turnOn(recipient.name)}
                </Button>
              ),
            },
          ]}
        />
      )}
      {data !== undefined && <Pagination page={page} pages={data.totalPages} onPage={setPage} />}
      <FormError error={turn.error} />
      <LinkForm
        path={path}
        onLinked={() => {
          say(w.linked)
          void refetch()
        }}
      />
    </Card>
  )
}

type LinkFormProps = { readonly path: `/operator/api/${string}`; readonly onLinked: () => void }

function LinkForm({ path, onLinked }: LinkFormProps) {
  const w = useWords(words)
  const [count, setCount] = useState(0)
  const { run, busy, error } = useAction(async (form: FormData) => {
    await api(path, { method: 'POST', body: { recipientId: String(form.get('recipientId') ?? '').trim() } })
    setCount((linked) => linked + 1)
    onLinked()
  })
  const fault = useFaults(error)
  return (
    <Form
      key={count}
      onSubmit={(form) => void run(form)}
      error={error}
      shown={['recipientId']}
      end={
        <Button type="submit" busy={busy}>
          {w.link}
        </Button>
      }
    >
      <TextField
        label={w.recipientId}
        hint={w.recipientIdHint}
        name="recipientId"
        required
        autoComplete="off"
        maxLength={36}
        error={error?.http === 404 ? w.noSuchAccount : fault('recipientId')}
      />
    </Form>
  )
}
