import { describe, expect, test } from 'vitest'
import { constraintOf, isUniqueViolation, troubleOf } from './trouble.ts'

const coded = (code: string) => Object.assign(new Error('as PostgreSQL or the system says it'), { code })

describe('database trouble', () => {
  test.each([
    // A transaction that lost to another one.
    ['40001', 'again'],
    ['40P01', 'again'],
    // Nobody can know whether a commit happened.
    ['08006', 'lost'],
    ['08003', 'lost'],
    ['57P01', 'lost'],
    ['57P02', 'lost'],
    ['57P03', 'lost'],
    ['53300', 'lost'],
    ['ECONNREFUSED', 'lost'],
    ['ECONNRESET', 'lost'],
    ['EPIPE', 'lost'],
    ['ENOENT', 'lost'],
    ['ETIMEDOUT', 'lost'],
    // The second request with an Idempotency-Key waited its second.
    ['55P03', 'lockWait'],
    // The statement's own fault: rolled back, and no better the next time.
    ['23505', 'other'],
    ['23514', 'other'],
    ['22003', 'other'],
    ['42P01', 'other'],
    ['57014', 'other'],
  ])('%s means %s', (code, meaning) => expect(troubleOf(coded(code))).toBe(meaning))

  test.each([
    'Connection terminated unexpectedly',
    'Connection terminated',
    'Connection terminated due to connection timeout',
    'Query read timeout',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error and is not queryable',
  ])('the driver says "%s" without a code: lost', (message) => expect(troubleOf(new Error(message))).toBe('lost'))

  test('what is not a database error is our own', () => {
    expect(troubleOf(new TypeError('x is undefined'))).toBe('other')
    expect(troubleOf({})).toBe('other')
  })

  test('a unique violation names its constraint', () => {
    const error = Object.assign(coded('23505'), { constraint: 'account_sign_in' })
    expect([isUniqueViolation(error), constraintOf(error)]).toEqual([true, 'account_sign_in'])
    expect(isUniqueViolation(coded('23514'))).toBe(false)
  })
})
