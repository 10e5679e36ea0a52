import type { FormEvent, ReactNode } from 'react'
import { Button, Card, type Column, Empty, ErrorState, Loading, Table, useFormats, useWords } from '../../kit/index.ts'
import type { ListAddress } from './list-address.ts'
import { words } from './words.ts'

type FilterFormProps = {
  readonly address: ListAddress
  readonly found: number | undefined
  readonly children: ReactNode
}

export function FilterForm({ address, found, children }: FilterFormProps) {
  const w = useWords(words)
  const f = useFormats()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    address.filter(new FormData(event.currentTarget))
  }
  return (
    <search>
      <Card>
        <form className="stack" onSubmit={submit} key={address.query}>
          <div className="grid">{children}</div>
          <div className="row">
            <Button kind="primary" type="submit">
              {w.filter}
            </Button>
            {address.isFiltered && (
              <Button kind="quiet" onClick={address.clear}>
                {w.clear}
              </Button>
            )}
            {found !== undefined && (
              <span className="muted" role="status">
                {w.found(f.count(found))}
              </span>
            )}
          </div>
        </form>
      </Card>
    </search>
  )
}

export type ListProps<Row> = {
  readonly rows: readonly Row[] | undefined
  readonly error: unknown
  readonly onRetry: () => void
  readonly none: string
  readonly caption: string
  readonly rowKey: (row: Row) => string
  readonly columns: readonly Column<Row>[]
}

export function List<Row>({ rows, error, onRetry, none, caption, rowKey, columns }: ListProps<Row>) {
  if (rows === undefined) return error ? <ErrorState error={error} onRetry={onRetry} /> : <Loading />
  if (rows.length === 0) return <Empty title={none} />
  return <Table caption={caption} rows={rows} rowKey={rowKey} columns={columns} />
}
