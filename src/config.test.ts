import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Config, ConfigError, readConfig } from './config.ts'

const hexKey = 'a1'.repeat(32)
const base64Key = Buffer.alloc(32, 0xfb).toString('base64')
const production = {
  QUITADO_ENV: 'production',
  QUITADO_OPERATOR_TOKEN: 'a-token-of-good-length',
  QUITADO_ENCRYPTION_KEY: hexKey,
}

function refusal(env: Record<string, string>): string {
  try {
    readConfig(env)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as Error).message
  }
  throw new Error('the setting was taken')
}

describe('a start without settings', () => {
  test('has the documented defaults', () => {
    expect(readConfig({})).toEqual({
      env: 'sandbox',
      role: 'all',
      host: '127.0.0.1',
      port: 8080,
      publicUrl: 'http://localhost:8080',
      processes: Math.max(1, Math.floor(availableParallelism() / 2)),
      proxies: 0,
      databaseUrl: undefined,
      dataFolder: resolve('.quitado'),
      operatorToken: undefined,
      encryptionKeys: undefined,
      webhookTimeoutMs: 10_000,
      webhookRetrySeconds: 60,
      webhookAllowPrivate: true,
      webhookKeepDays: 90,
      logLevel: 'info',
    })
  })

  test('is frozen: nobody changes a setting later', () => {
    const config = readConfig({}) as { port: number }
    expect(() => {
      config.port = 1
    }).toThrow(TypeError)
  })

  test('an empty variable, or one of spaces, is an absent one', () => {
    expect(readConfig({ PORT: '', QUITADO_ENV: '  ', DATABASE_URL: '' })).toEqual(readConfig({}))
  })
})

describe('a right setting is taken', () => {
  const right: readonly (readonly [Record<string, string>, Partial<Config>])[] = [
    [{ PORT: '1' }, { port: 1, publicUrl: 'http://localhost:1' }],
    [{ PORT: '65535' }, { port: 65_535 }],
    [{ HOST: '::1' }, { host: '::1', webhookAllowPrivate: true }],
    [{ HOST: '0.0.0.0' }, { host: '0.0.0.0', webhookAllowPrivate: false }],
    [{ PUBLIC_URL: 'https://pay.example.com' }, { publicUrl: 'https://pay.example.com' }],
    [{ PUBLIC_URL: 'https://example.com/pay//' }, { publicUrl: 'https://example.com/pay' }],
    [{ QUITADO_ENV: ' sandbox ' }, { env: 'sandbox' }],
    [
      { QUITADO_ROLE: 'api', DATABASE_URL: 'postgres://db/q' },
      { role: 'api', databaseUrl: 'postgres://db/q' },
    ],
    [{ QUITADO_ROLE: 'worker', DATABASE_URL: 'postgresql://db/q' }, { role: 'worker' }],
    [{ QUITADO_PROCESSES: '256' }, { processes: 256 }],
    [{ QUITADO_DATA: '/srv/quitado' }, { dataFolder: '/srv/quitado' }],
    [{ QUITADO_DATA: 'data' }, { dataFolder: resolve('data') }],
    [{ QUITADO_OPERATOR_TOKEN: 'x'.repeat(16) }, { operatorToken: 'x'.repeat(16) }],
    [{ QUITADO_WEBHOOK_TIMEOUT_MS: '100' }, { webhookTimeoutMs: 100 }],
    [{ QUITADO_WEBHOOK_RETRY_SECONDS: '1' }, { webhookRetrySeconds: 1 }],
    [{ QUITADO_WEBHOOK_ALLOW_PRIVATE: 'false' }, { webhookAllowPrivate: false }],
    [{ QUITADO_WEBHOOK_ALLOW_PRIVATE: 'true', HOST: '0.0.0.0' }, { webhookAllowPrivate: true }],
    [{ QUITADO_WEBHOOK_KEEP_DAYS: '1' }, { webhookKeepDays: 1 }],
    [{ QUITADO_WEBHOOK_KEEP_DAYS: '3650' }, { webhookKeepDays: 3_650 }],
    ...['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'].map(
      (level) => [{ LOG_LEVEL: level }, { logLevel: level }] as const,
    ),
  ]
  test.each(right)('%o', (env, expected) => expect(readConfig(env)).toMatchObject(expected))

  test('encryption keys in Base64 and hex, several, the first one first', () => {
    const { encryptionKeys } = readConfig({ QUITADO_ENCRYPTION_KEY: `${base64Key}, ${hexKey}` })
    expect(encryptionKeys?.map((key) => key.toString('hex'))).toEqual(['fb'.repeat(32), hexKey])
  })
})

describe('a wrong setting stops the start with one line that names it', () => {
  // biome-ignore format: a table
  const wrong: readonly (readonly [string, string])[] = [
    ['PORT', '0'], ['PORT', '65536'], ['PORT', '80a'], ['PORT', '-1'], ['PORT', '8080.5'], ['PORT', '1e3'],
    ['PUBLIC_URL', 'pay.example.com'], ['PUBLIC_URL', 'ftp://pay.example.com'], ['PUBLIC_URL', 'https://x.com/?a=1'],
    ['PUBLIC_URL', 'https://x.com/#a'], ['PUBLIC_URL', 'https://'], ['PUBLIC_URL', `https://${'a'.repeat(60)}.com`],
    ['QUITADO_ENV', 'staging'], ['QUITADO_ENV', 'SANDBOX'],
    ['QUITADO_ROLE', 'everything'],
    ['QUITADO_PROCESSES', '0'], ['QUITADO_PROCESSES', '257'], ['QUITADO_PROCESSES', 'two'],
    ['DATABASE_URL', 'mysql://db/q'], ['DATABASE_URL', 'localhost:5432'], ['DATABASE_URL', 'postgres://a b:99999999'],
    ['QUITADO_OPERATOR_TOKEN', 'fifteen letters'],
    ['QUITADO_ENCRYPTION_KEY', 'short'], ['QUITADO_ENCRYPTION_KEY', `${hexKey},`], ['QUITADO_ENCRYPTION_KEY', hexKey.slice(1)],
    ['QUITADO_ENCRYPTION_KEY', `${base64Key.slice(0, 20)}*${base64Key.slice(20)}`],
    ['QUITADO_WEBHOOK_TIMEOUT_MS', '99'], ['QUITADO_WEBHOOK_TIMEOUT_MS', '60001'], ['QUITADO_WEBHOOK_TIMEOUT_MS', '10s'],
    ['QUITADO_WEBHOOK_RETRY_SECONDS', '0'], ['QUITADO_WEBHOOK_RETRY_SECONDS', '86401'],
    ['QUITADO_WEBHOOK_ALLOW_PRIVATE', 'yes'], ['QUITADO_WEBHOOK_ALLOW_PRIVATE', '1'],
    ['QUITADO_WEBHOOK_KEEP_DAYS', '0'], ['QUITADO_WEBHOOK_KEEP_DAYS', '3651'], ['QUITADO_WEBHOOK_KEEP_DAYS', '90d'],
    ['LOG_LEVEL', 'verbose'], ['LOG_LEVEL', 'INFO'],
    ['LOG_LEVEL', 'two\nlines'], ['PORT', 'two\nlines'], ['PUBLIC_URL', 'two\nlines'],
  ]
  test.each(wrong)('%s=%j', (name, value) => {
    const line = refusal({ [name]: value })
    expect(line).toMatch(new RegExp(`^${name}: `))
    expect(line).not.toContain('\n')
  })

  test('a secret that is refused is not repeated', () => {
    expect(refusal({ QUITADO_OPERATOR_TOKEN: 'hush' })).not.toContain('hush')
    expect(refusal({ QUITADO_ENCRYPTION_KEY: 'hush' })).not.toContain('hush')
    expect(refusal({ DATABASE_URL: 'mysql://user:hush@db' })).not.toContain('hush')
  })

  test('PUBLIC_URL leaves room for what a BR Code adds: 41 characters of host and path, not 42', () => {
    const host = (length: number) => `https://${'a'.repeat(length - 4)}.com`
    expect(readConfig({ PUBLIC_URL: host(41) }).publicUrl).toBe(host(41))
    expect(refusal({ PUBLIC_URL: host(42) })).toBe(
      'PUBLIC_URL: host and path may have 41 characters, because a BR Code holds 77',
    )
  })

  test.each(['api', 'worker'])('the role %s needs DATABASE_URL', (role) => {
    expect(refusal({ QUITADO_ROLE: role })).toBe(`QUITADO_ROLE: the role ${role} needs DATABASE_URL`)
  })
})

describe('production', () => {
  test('without a configured rail stops', () => {
    expect(refusal(production)).toMatch(/^QUITADO_ENV: production needs a configured rail/)
  })

  test.each(['QUITADO_OPERATOR_TOKEN', 'QUITADO_ENCRYPTION_KEY'])('needs %s', (name) => {
    expect(refusal({ ...production, [name]: '' })).toBe(`${name}: production needs one`)
  })
})
