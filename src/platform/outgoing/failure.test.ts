import { describe, expect, test } from 'vitest'
import { failureOf, type Progress } from './failure.ts'

const coded = (code: string, message = code) => Object.assign(new Error(message), { code })
const several = (...codes: string[]) => new AggregateError(codes.map((code) => coded(code)))
const connecting: Progress = { secure: true, connected: false, status: 0 }

describe('the failure of several addresses', () => {
  test.each([
    ['refused', several('ENETUNREACH', 'ECONNREFUSED')],
    ['refused', several('ECONNREFUSED', 'ENETUNREACH')],
    ['unreachable', several('ETIMEDOUT', 'ENETUNREACH')],
    ['timeout', several('ENETUNREACH', 'ETIMEDOUT')],
    ['refused', Object.assign(coded('UND_ERR_CONNECT_TIMEOUT'), { cause: several('ETIMEDOUT', 'ECONNREFUSED') })],
    ['timeout', coded('UND_ERR_CONNECT_TIMEOUT')],
  ])('is %s', (failure, error) => expect(failureOf(error, connecting)).toBe(failure))
})

test('an alert may come after the connection was made', () => {
  const progress = { secure: true, connected: true, status: 0 }
  expect(failureOf(coded('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), progress)).toBe('tls')
})

describe('an error without an entry of its own', () => {
  test.each([
    ['tls', { secure: true, connected: false, status: 0 }],
    ['unreachable', { secure: false, connected: false, status: 0 }],
    ['reset', { secure: true, connected: true, status: 0 }],
  ] as const)('is %s with %j', (failure, progress) => expect(failureOf(coded('EODD'), progress)).toBe(failure))
})
