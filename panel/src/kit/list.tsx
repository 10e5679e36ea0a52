import type { FormEvent, ReactNode } from 'react'
import { Button } from './button.tsx'
import { Card, type Column, Table } from './data.tsx'
import { useFormats } from './formats.ts'
import { kitWords } from './kit-words.ts'
import type { ListAddress } from './list-address.ts'
import { Empty, ErrorState, Loading } from './states.tsx'
import { useWords } from './words.ts'

type FilterFormProps = {
  readonly address: ListAddress
  readonly found?: number | undefined
  /** Inside of a card already. */
  readonly bare?: boolean
  readonly children: ReactNode
}

export function FilterForm({ address, found, bare = false, children }: FilterFormProps) {
  const w = useWords(kitWords)
  const f = useFormats()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    address.filter(new FormData(event.currentTarget))
  }
  const form = (
    <form className="stack" onSubmit={submit} key={address.query}>
      <div className="grid">{children}</div>
      <div className="row">
        <Button kind={bare ? 'secondary' : 'primary'} type="submit">
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
  )
  return <search>{bare ? form : <Card>{form}</Card>}</search>
}

type ListedProps<Row> = {
  readonly rows: readonly Row[] | undefined
  readonly error: unknown
  readonly onRetry: () => void
  readonly none: string
  readonly children: (rows: readonly Row[]) => ReactNode
}

/** The rows, or what stands in their place. */
export function Listed<Row>({ rows, error, onRetry, none, children }: ListedProps<Row>) {
  if (rows === undefined) return error ? <ErrorState error={error} onRetry={onRetry} /> : <Loading />
  return rows.length === 0 ? <Empty title={none} /> : children(rows)
}

export type ListProps<Row> = Omit<ListedProps<Row>, 'children'> & {
  readonly caption: string
  readonly rowKey: (row: Row) => string
  readonly columns: readonly Column<Row>[]
}

export function List<Row>({ caption, rowKey, columns, ...listed }: ListProps<Row>) {
  return (
    <Listed {...listed}>{(rows) => <Table caption={caption} rows={rows} rowKey={rowKey} columns={columns} />}</Listed>
  )
}
