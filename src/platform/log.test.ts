import { describe, expect, test } from 'vitest'
import type { Instant } from '../kernel/calendar.ts'
import { createLog } from './log.ts'

const clock = { now: () => 1_700_000_000_000 as Instant }

function logInto(level = 'info', linesTogether = 1) {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  return { lines, log: createLog(level, clock, { stream: { write }, linesTogether }) }
}

describe('the log', () => {
  test('is one JSON object a line, with the process and the level', () => {
    const { lines, log } = logInto()
    log.logger.info({ requestId: 'a' }, 'done')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/\n$/)
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 30, pid: process.pid, requestId: 'a', msg: 'done' })
  })

  test('has a line for a request, in the shape of the others', () => {
    const { lines, log } = logInto()
    const facts = { requestId: 'a', method: 'GET', path: '/"odd"', status: 200, ms: 1.23456 }
    log.requestLine!({ ...facts, accountId: 7 })
    log.requestLine!({ ...facts, accountId: 0 })
    const common = { level: 30, pid: process.pid, time: 1_700_000_000_000, ...facts, ms: 1.235 }
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ ...common, accountId: 7 }, common])
  })

  test('passes the lines of requests on in bundles, and what is left when it is flushed', () => {
    const { lines, log } = logInto('info', 3)
    const facts = { method: 'GET', path: '/', status: 200, ms: 1, accountId: 0 }
    for (const requestId of ['a', 'b', 'c', 'd']) log.requestLine!({ requestId, ...facts })
    const idsOf = (text: string) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).requestId)
    expect(lines.map(idsOf)).toEqual([['a', 'b', 'c']])
    log.flush()
    expect(lines.map(idsOf)).toEqual([['a', 'b', 'c'], ['d']])
  })

  test('leaves out what lies below its level', () => {
    const { lines, log } = logInto('warn')
    log.logger.info('quiet')
    expect(log.requestLine).toBeUndefined()
    log.logger.warn('loud')
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['loud'])
  })

  test.each(['apiToken', 'authorization', 'password', 'webhookSecret', 'token', 'x-api-token'])(
    'never shows a value named %s, at the top or two levels down',
    (name) => {
      const { lines, log } = logInto()
      log.logger.info({ [name]: 'hush-0' })
      log.logger.info({ headers: { [name]: 'hush-1' } })
      log.logger.info({ request: { headers: { [name]: 'hush-2' } } })
      expect(lines.join('')).not.toContain('hush')
      expect(lines.every((line) => line.includes('[secret]'))).toBe(true)
    },
  )

  test('of an error it keeps name, place and code, and drops what PostgreSQL says of the row', () => {
    const { lines, log } = logInto()
    const error = Object.assign(new Error('violates check constraint'), {
      code: '23514',
      table: 'account',
      constraint: 'account_check',
      detail: 'Failing row contains (7, Maria da Silva, maria@example.com)',
      where: 'SQL function "x" statement 1',
      internalQuery: 'select secret from account',
    })
    log.logger.error({ err: error, requestId: 'a' }, 'a request failed')
    const { err } = JSON.parse(lines[0]!)
    expect(err).toMatchObject({ type: 'Error', message: error.message, code: '23514', constraint: 'account_check' })
    expect(err.stack).toContain('log.test.ts')
    expect(lines[0]).not.toMatch(/Maria|select|SQL/)
  })

  test('takes anything for an error without breaking', () => {
    const { lines, log } = logInto()
    log.logger.error({ err: 'just text' }, 'odd')
    expect(JSON.parse(lines[0]!)).toMatchObject({ err: 'just text' })
  })

  test('can be flushed at any time, also before its file is open', () => {
    expect(() => createLog('info', clock).flush()).not.toThrow()
  })
})
