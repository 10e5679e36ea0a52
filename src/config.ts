import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'

/** A setting is wrong or missing: the start ends with this one line. */
export class ConfigError extends Error {}

export type Role = 'all' | 'api' | 'worker'

export type Config = Readonly<{
  env: 'sandbox' | 'production'
  role: Role
  host: string
  port: number
  publicUrl: string
  processes: number
  /** Proxies in front that tell a caller's address in X-Forwarded-For; with none the header is not believed. */
  proxies: number
  /** Undefined: the embedded PostgreSQL. */
  databaseUrl: string | undefined
  dataFolder: string
  operatorToken: string | undefined
  /** The first one encrypts, all of them decrypt. */
  encryptionKeys: readonly Buffer[] | undefined
  webhookTimeoutMs: number
  webhookRetrySeconds: number
  webhookAllowPrivate: boolean
  /** How long notifications and their attempts can be looked up and sent again. */
  webhookKeepDays: number
  logLevel: string
}>

type Environment = Readonly<Record<string, string | undefined>>

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const LOCATION_MAX = 77
/** `/pix/` and a txid of 31 characters: what follows the host in a BR Code's location. */
const LOCATION_PATH_LENGTH = 36

/** The only reader of the environment: parsed once, frozen, units in the names. */
export function readConfig(environment: Environment = process.env): Config {
  const setting = (name: string): string | undefined => environment[name]?.trim() || undefined
  const env = oneOf('QUITADO_ENV', setting('QUITADO_ENV') ?? 'sandbox', ['sandbox', 'production'] as const)
  const role = oneOf('QUITADO_ROLE', setting('QUITADO_ROLE') ?? 'all', ['all', 'api', 'worker'] as const)
  const port = integer('PORT', setting('PORT') ?? '8080', 1, 65_535)
  const host = setting('HOST') ?? (env === 'production' ? '0.0.0.0' : '127.0.0.1')
  const databaseUrl = postgresUrl(setting('DATABASE_URL'))
  if (role !== 'all' && databaseUrl === undefined)
    throw new ConfigError(`QUITADO_ROLE: the role ${role} needs DATABASE_URL`)
  const operatorToken = secretText('QUITADO_OPERATOR_TOKEN', setting('QUITADO_OPERATOR_TOKEN'))
  const encryptionKeys = keys('QUITADO_ENCRYPTION_KEY', setting('QUITADO_ENCRYPTION_KEY'))
  if (env === 'production') {
    if (operatorToken === undefined) throw new ConfigError('QUITADO_OPERATOR_TOKEN: production needs one')
    if (encryptionKeys === undefined) throw new ConfigError('QUITADO_ENCRYPTION_KEY: production needs one')
    throw new ConfigError('QUITADO_ENV: production needs a configured rail, and this version has the sandbox rail only')
  }
  const loopback = ['127.0.0.1', 'localhost', '::1'].includes(host)
  return Object.freeze({
    env,
    role,
    host,
    port,
    publicUrl: publicUrl(setting('PUBLIC_URL') ?? `http://localhost:${port}`),
    processes: integer('QUITADO_PROCESSES', setting('QUITADO_PROCESSES') ?? String(defaultProcesses()), 1, 256),
    proxies: integer('QUITADO_PROXIES', setting('QUITADO_PROXIES') ?? '0', 0, 10),
    databaseUrl,
    dataFolder: resolve(setting('QUITADO_DATA') ?? join('.', '.quitado')),
    operatorToken,
    encryptionKeys,
    webhookTimeoutMs: integer(
      'QUITADO_WEBHOOK_TIMEOUT_MS',
      setting('QUITADO_WEBHOOK_TIMEOUT_MS') ?? '10000',
      100,
      60_000,
    ),
    webhookRetrySeconds: integer(
      'QUITADO_WEBHOOK_RETRY_SECONDS',
      setting('QUITADO_WEBHOOK_RETRY_SECONDS') ?? '60',
      1,
      86_400,
    ),
    webhookAllowPrivate: flag('QUITADO_WEBHOOK_ALLOW_PRIVATE', setting('QUITADO_WEBHOOK_ALLOW_PRIVATE')) ?? loopback,
    webhookKeepDays: integer('QUITADO_WEBHOOK_KEEP_DAYS', setting('QUITADO_WEBHOOK_KEEP_DAYS') ?? '90', 1, 3_650),
    logLevel: oneOf('LOG_LEVEL', setting('LOG_LEVEL') ?? 'info', logLevels),
  })
}

const defaultProcesses = (): number => Math.max(1, Math.floor(availableParallelism() / 2))

function oneOf<const Value extends string>(name: string, text: string, values: readonly Value[]): Value {
  if (values.includes(text as Value)) return text as Value
  throw new ConfigError(`${name}: must be one of ${values.join(', ')}, not ${JSON.stringify(text)}`)
}

function integer(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new ConfigError(`${name}: must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`)
}

function flag(name: string, text: string | undefined): boolean | undefined {
  return text === undefined ? undefined : oneOf(name, text, ['true', 'false']) === 'true'
}

function postgresUrl(text: string | undefined): string | undefined {
  if (text === undefined || (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text))) return text
  throw new ConfigError('DATABASE_URL: must be an address such as postgres://user:password@host:5432/database')
}

function publicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new ConfigError(`PUBLIC_URL: must be an http or https address without a query, not ${JSON.stringify(text)}`)
  const plain = text.replace(/\/+$/, '')
  const hostLength = plain.replace(/^https?:\/\//i, '').length
  if (hostLength + LOCATION_PATH_LENGTH > LOCATION_MAX)
    throw new ConfigError(
      `PUBLIC_URL: host and path may have ${LOCATION_MAX - LOCATION_PATH_LENGTH} characters, because a BR Code holds ${LOCATION_MAX}`,
    )
  return plain
}

function secretText(name: string, text: string | undefined): string | undefined {
  if (text === undefined || text.length >= 16) return text
  throw new ConfigError(`${name}: must have at least 16 characters`)
}

const isHexKey = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text)
// Strict: Node would read on over a wrong character, and the key would be another one.
const isBase64Key = (text: string): boolean => /^[\w+/-]{43}=?$/.test(text)

/** 32 bytes each, in Base64 or hex, separated by commas. */
function keys(name: string, text: string | undefined): readonly Buffer[] | undefined {
  if (text === undefined) return undefined
  const parts = text.split(',').map((key) => key.trim())
  if (parts.every((key) => isHexKey(key) || isBase64Key(key)))
    return parts.map((key) => Buffer.from(key, isHexKey(key) ? 'hex' : 'base64'))
  throw new ConfigError(
    `${name}: must be 32 bytes in Base64 or hex (several: separated by commas, the first one encrypts)`,
  )
}
