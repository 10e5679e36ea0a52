import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createDatabase, dropDatabase, placeOf } from '../../../test/harness/test-server.ts'
import { instantFromWire } from '../../kernel/calendar.ts'
import { clientConfig, type Database, openDatabase, statement } from './database.ts'
import { sqlTime } from './sql-values.ts'
import { troubleOf } from './trouble.ts'

const server = inject('server')
const name = `quitado_database_${process.pid}`
const place = placeOf(server, name)
const failures: Error[] = []
let db: Database

beforeAll(async () => {
  await createDatabase(server, name)
  db = openDatabase(place, { connectionsMax: 2, queryTimeoutMs: 5_000, onError: (error) => failures.push(error) })
  await db.query(statement('', 'create table word (text text primary key)'))
})
afterAll(async () => {
  await db.close()
  await dropDatabase(server, name)
})

const ask = <Row = Record<string, unknown>>(text: string, values: unknown[] = []) =>
  db.query(statement<Row>('', text), values)
const insertSql = statement('word_insert', 'insert into word (text) values ($1)')
const words = async () => (await ask<{ text: string }>('select text from word order by text')).map(({ text }) => text)
const refusalOf = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error)

/** Somebody outside the service. */
async function fromOutside<Value>(work: (client: pg.Client) => Promise<Value>): Promise<Value> {
  const client = new pg.Client(clientConfig(place))
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

describe('values', () => {
  test('bigint is a safe integer or an error, never a rounded number', async () => {
    expect(await ask('select 9007199254740991::bigint as n')).toEqual([{ n: Number.MAX_SAFE_INTEGER }])
    expect(String(await refusalOf(ask('select 9007199254740992::bigint as n')))).toContain('is no safe integer')
  })

  test.each(['1.5::numeric', '1.5::float8', '1.5::float4', 'sum(1::bigint)'])(
    'money never arrives as a float: %s is refused',
    async (expression) => {
      expect(String(await refusalOf(ask(`select ${expression} as n`)))).toContain('money is whole cents')
    },
  )

  test.each(['UTC', 'America/Sao_Paulo', 'Asia/Kolkata', 'Asia/Kathmandu'])(
    'a time is the same instant whatever the zone of the session: %s',
    async (zone) => {
      const at = instantFromWire('2026-11-16T12:34:56.789Z')!
      const read = await db.inTransaction(async (tx) => {
        await tx.query(statement('', `set local time zone '${zone}'`))
        return tx.query(statement<{ at: number }>('', 'select $1::timestamptz as at'), [sqlTime(at)])
      })
      expect(read).toEqual([{ at }])
    },
  )

  describe('an array parameter', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0')),
      fc.constantFrom('null', 'NULL', '', '{}', '"', '\\', 'a,b'),
    )
    const whole = (bits: number) => fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 })
    const kinds: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
      text,
      bigint: fc.oneof(fc.maxSafeInteger(), whole(33), fc.constantFrom(0, -1, 2 ** 32, -(2 ** 32) - 1)),
      integer: whole(32),
      smallint: whole(16),
      float8: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
      boolean: fc.boolean(),
      date: fc
        .date({ min: new Date('1900-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
        .map((at) => at.toISOString().slice(0, 10)),
      uuid: fc.uuid(),
      bytea: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      timestamptz: fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(9999, 11, 31) }),
    }
    // As the driver sends one value of the type, which is how each comes back.
    const alone: Readonly<Record<string, (value: never) => unknown>> = { timestamptz: sqlTime }

    test.each(Object.keys(kinds))('of %s arrives as it was sent, nulls and all', async (type) => {
      const one = statement<{ same: boolean }>(
        '',
        `select $1::${type} is not distinct from ($2::${type}[])[$3] as same`,
      )
      const size = statement<{ size: number }>('', `select cardinality($1::${type}[]) as size`)
      await fc.assert(
        fc.asyncProperty(fc.array(fc.option(kinds[type]!), { maxLength: 6 }), async (values) => {
          expect(await db.query(size, [values])).toEqual([{ size: values.length }])
          for (const [place, value] of values.entries()) {
            const single = value === null ? null : (alone[type]?.(value as never) ?? value)
            expect(await db.query(one, [single, values, place + 1])).toEqual([{ same: true }])
          }
        }),
        { seed: 20_261_116, numRuns: 60 },
      )
    })

    test('in capitals is the same uuid, and what is none is refused here', async () => {
      const id = '0192F3A4-B5C6-7D8E-9F00-112233445566'
      const texts = statement<{ id: string }>('', 'select unnest($1::uuid[])::text as id')
      expect(await db.query(texts, [[id]])).toEqual([{ id: id.toLowerCase() }])
      for (const none of [
        '',
        id.slice(1),
        `${id}0`,
        id.replace('A', 'G'),
        id.replace('A', 'é'),
        id.replace('4', 'é'),
        id.replaceAll('-', ''),
        'é'.repeat(36),
      ])
        await expect(db.query(texts, [[none]]), none).rejects.toThrow('no uuid')
    })

    test.each([
      ['no safe integer', 'select $1::bigint[]', [2 ** 53]],
      ['neither true nor false', 'select $1::boolean[]', ['false']],
      ['out of range', 'select $1::smallint[]', [2 ** 15]],
      ['an array parameter needs a cast', 'select $1', [1]],
    ])('that cannot be is refused: %s', async (message, sql, values) => {
      await expect(db.query(statement('', sql), [values])).rejects.toThrow(message)
    })

    test('of a type that nobody taught it is refused when the statement is written', () => {
      expect(() => statement('', 'select $1::money[]')).toThrow('no array parameter can be $1::money[]')
    })
  })

  test('json stays the text it is', async () => {
    expect(await ask(`select '{"b": 1.10, "a":2}'::json as body`)).toEqual([{ body: '{"b": 1.10, "a":2}' }])
  })
})

describe('a transaction', () => {
  test('commits what it wrote and answers what it made', async () => {
    const answer = await db.inTransaction(async (tx) => {
      await tx.query(insertSql, ['kept'])
      return 'made'
    })
    expect([answer, await words()]).toEqual(['made', ['kept']])
  })

  test('that throws leaves nothing behind, throws on, and gives its connection back', async () => {
    for (let time = 0; time < 5; time += 1) {
      const refusal = refusalOf(
        db.inTransaction(async (tx) => {
          await tx.query(insertSql, ['gone'])
          throw new Error('changed my mind')
        }),
      )
      expect(await refusal).toEqual(new Error('changed my mind'))
    }
    expect(await words()).toEqual(['kept'])
  })

  test('shows others nothing before it commits', async () => {
    await db.inTransaction(async (tx) => {
      await tx.query(insertSql, ['later'])
      expect(await words()).toEqual(['kept'])
    })
    expect(await words()).toEqual(['kept', 'later'])
  })
})

describe('a named statement', () => {
  test('is prepared once a connection, whatever it is asked with', async () => {
    const find = statement<{ n: number }>('word_count', 'select count(*) as n from word where text = any($1::text[])')
    const prepared = await db.inTransaction(async (tx) => {
      for (const asked of [[], ['kept'], ['kept', 'later']]) await tx.query(find, [asked])
      const sql = `select name, generic_plans + custom_plans as n from pg_prepared_statements where name = 'word_count'`
      return tx.query(statement<{ name: string; n: number }>('', sql))
    })
    expect(prepared).toEqual([{ name: 'word_count', n: 3 }])
  })
})

describe('a connection that is cut', () => {
  const backends = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`

  test('under a query: the outcome is unknown, and the next query finds a new connection', async () => {
    const blocked = await fromOutside(async (client) => {
      await client.query('begin')
      await client.query('lock table word')
      const waiting = refusalOf(db.query(insertSql, ['lost?']))
      await waitForLock(client)
      await client.query(backends)
      return waiting
    })
    expect(troubleOf(await blocked)).toBe('lost')
    expect(await words()).toEqual(['kept', 'later'])
  })

  test('in a transaction: it fails as lost, leaves nothing, and the pool stays whole', async () => {
    const refusal = await refusalOf(
      db.inTransaction(async (tx) => {
        await tx.query(insertSql, ['lost'])
        await fromOutside((client) => client.query(backends))
        await tx.query(insertSql, ['never'])
      }),
    )
    expect(troubleOf(refusal)).toBe('lost')
    expect(await Promise.all([words(), words(), words()])).toEqual(Array(3).fill(['kept', 'later']))
  })

  test('while idle: the process lives, hears of it, and asks again', async () => {
    await words()
    failures.length = 0
    await fromOutside((client) => client.query(backends))
    await until(() => failures.length > 0)
    expect(await words()).toEqual(['kept', 'later'])
  })

  test('a server that cannot be reached is lost too', async () => {
    const nowhere = openDatabase(
      { host: '/nowhere', database: 'none' },
      { connectionsMax: 1, queryTimeoutMs: 1_000, onError: () => {} },
    )
    expect(troubleOf(await refusalOf(nowhere.query(insertSql, ['x'])))).toBe('lost')
    await nowhere.close()
  })

  async function waitForLock(client: pg.Client): Promise<void> {
    const sql = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until(async () => (await client.query(sql)).rowCount === 1)
  }
})

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await wait(5)
}
