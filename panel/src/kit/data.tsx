import { type ReactNode, useId } from 'react'
import { Button } from './button.tsx'
import { kitWords } from './kit-words.ts'
import { useWords } from './words.ts'

export type Tone = 'good' | 'bad' | 'waiting' | 'info' | 'neutral'

export const Badge = ({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: ReactNode }) => (
  <span className={`badge tone-${tone}`}>{children}</span>
)

type CardProps = {
  readonly title?: string
  /** Beside the title: a button, a badge. */
  readonly aside?: ReactNode
  readonly level?: 2 | 3
  readonly children: ReactNode
}

export function Card({ title, aside, level = 2, children }: CardProps) {
  const id = useId()
  const Heading = `h${level}` as const
  if (title === undefined) return <section className="card">{children}</section>
  return (
    <section className="card" aria-labelledby={id}>
      <div className="row-apart">
        <Heading id={id}>{title}</Heading>
        {aside}
      </div>
      {children}
    </section>
  )
}

type StatProps = { readonly label: string; readonly value: ReactNode; readonly hint?: ReactNode }

export const Stat = ({ label, value, hint }: StatProps) => (
  <div className="stat">
    <span className="small muted">{label}</span>
    <span className="stat-value">{value}</span>
    {hint !== undefined && <span className="small muted">{hint}</span>}
  </div>
)

/** Names and values, one below the other. What is undefined or null is left out. */
export const Facts = ({ items }: { readonly items: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="facts">
    {items
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => (
        <div className="fact" key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)

export type Column<Row> = {
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  /** Numbers stand to the right. */
  readonly number?: boolean
}

type TableProps<Row> = {
  /** Said to a screen reader: what the rows are. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
}

/** On a phone each row becomes a small card. Give an `Empty` instead when there are no rows. */
export function Table<Row>({ caption, columns, rows, rowKey }: TableProps<Row>) {
  return (
    <table className="table">
      <caption className="only-heard">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ header, number }) => (
            <th key={header} scope="col" className={number ? 'to-the-right' : undefined}>
              {header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)}>
            {columns.map(({ header, cell, number }) => (
              <td key={header} data-label={header} className={number ? 'to-the-right' : undefined}>
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type PaginationProps = {
  /** From 1. */
  readonly page: number
  readonly pages: number
  readonly onPage: (page: number) => void
}

export function Pagination({ page, pages, onPage }: PaginationProps) {
  const w = useWords(kitWords)
  if (pages <= 1) return null
  return (
    <nav className="pages" aria-label={w.pages}>
      <Button small disabled={page <= 1} onClick={() => onPage(page - 1)}>
        ← {w.newer}
      </Button>
      <span className="small muted number">{w.pageOf(page, pages)}</span>
      <Button small disabled={page >= pages} onClick={() => onPage(page + 1)}>
        {w.older} →
      </Button>
    </nav>
  )
}

/** A sentence that stands out. `alert` says it to a screen reader at once. */
export function Notice({
  tone = 'info',
  alert = false,
  children,
}: {
  readonly tone?: Tone
  readonly alert?: boolean
  readonly children: ReactNode
}) {
  return (
    <div className={`notice tone-${tone}`} role={alert ? 'alert' : undefined}>
      {children}
    </div>
  )
}
