import { type Queryable, type Statement, statement } from './database.ts'

/**
 * Lists of millions of rows keep a count for each hour. From the counts we know the exact total and, for any page,
 * which hours it lies in, so that every page costs about the same.
 */
export type PageWindow = {
  readonly total: number
  /** Rows of the list that are newer than the window's newest hour. */
  readonly before: number
  readonly oldestHour: number
  readonly newestHour: number
}

export type PageQuery = {
  readonly hourFrom: number
  readonly hourTo: number
  readonly offset: number
  readonly limit: number
}

type WindowRow = { total: number | null; before: number | null; oldest: number | null; newest: number | null }
export type PageWindowStatement = Statement<WindowRow>

/**
 * `count` is an expression over the columns of `table`, which has account_id and hour. An hour's count fits an integer,
 * and sums of integers are bigints: sums of bigints would be numerics, at twice the time.
 */
export const pageWindowStatement = (name: string, table: string, count: string): PageWindowStatement =>
  statement<WindowRow>(
    name,
    `with running as (
       select hour, n, sum(n) over (order by hour desc rows unbounded preceding) as upto
       from (select hour, (${count})::integer as n from ${table} where account_id = $1 and hour >= $2 and hour < $3) hours
     )
     select max(upto) as total,
       min(upto - n) filter (where upto > $4::bigint) as before,
       min(hour) filter (where upto - n < $4::bigint + $5::bigint) as oldest,
       max(hour) filter (where upto > $4::bigint) as newest
     from running where n > 0`,
  )

const NO_WINDOW = { before: 0, oldestHour: 0, newestHour: -1 }

export async function findPageWindow(
  db: Queryable,
  asked: PageWindowStatement,
  accountId: number,
  { hourFrom, hourTo, offset, limit }: PageQuery,
): Promise<PageWindow> {
  const [row] = await db.query(asked, [accountId, hourFrom, hourTo, offset, limit])
  const total = row?.total ?? 0
  if (row === undefined || row.newest === null || row.oldest === null || row.before === null)
    return { total, ...NO_WINDOW }
  return { total, before: row.before, oldestHour: row.oldest, newestHour: row.newest }
}

export const isEmpty = (window: PageWindow): boolean => window.newestHour < window.oldestHour

export const HOUR_MIN = 0
/** About the year 9955: still a uuid v7 and a timestamp. */
export const HOUR_MAX = 70_000_000
