import { fastify } from 'fastify'
import { openDatabase, statement } from '../src/platform/database/database.ts'

/** The baseline of one insert a request: no rules, no batch. Forked by the bench. */
const [socket] = process.argv.slice(2)
const db = openDatabase(
  { host: socket!, database: 'postgres' },
  { connectionsMax: 10, queryTimeoutMs: 15_000, onError: () => {} },
)
await db.query(
  statement(
    'make',
    'create table if not exists plain_insert (id bigserial primary key, reference text, amount bigint)',
  ),
)
const insert = statement<{ id: number }>(
  'insert',
  'insert into plain_insert (reference, amount) values ($1, $2) returning id',
)
const app = fastify()
app.post<{ Body: { reference: string; amount: number } }>('/', async ({ body }) => {
  const [row] = await db.query(insert, [body.reference, body.amount])
  return { id: row!.id }
})
await app.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 })
process.on('disconnect', () => process.exit(0))
process.send?.({ port: (app.server.address() as { port: number }).port })
