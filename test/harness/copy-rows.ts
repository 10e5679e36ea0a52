import pg from 'pg'

type Value = string | number | boolean | null
type CopyConnection = { sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void }

/** Rows by COPY: a table and its columns, each row in that order. */
export function copyRows(
  client: pg.Client,
  into: `${string} (${string})`,
  rows: readonly (readonly Value[])[],
): Promise<void> {
  const lines = Buffer.from(rows.map((row) => `${row.map(field).join('\t')}\n`).join(''))
  return new Promise((done, failed) => {
    const copy = new pg.Query(`copy ${into} from stdin`)
    // The driver hands over to whoever sends the rows; it has no public name for that.
    Object.assign(copy, {
      handleCopyInResponse(connection: CopyConnection) {
        connection.sendCopyFromChunk(lines)
        connection.endCopyFrom()
      },
    })
    copy.once('end', () => done()).once('error', failed)
    client.query(copy)
  })
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const field = (value: Value): string =>
  value === null ? '\\N' : String(value).replace(/[\\\t\n\r]/g, (letter) => escapes[letter]!)
