import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { RandomIds } from '../platform/random-ids.ts'

export type KeptSecrets = {
  readonly operatorToken: string
  readonly encryptionKeys: readonly Buffer[]
  /** The key was made by this very start. */
  readonly isNewKey: boolean
}

const KEY_FILE = 'encryption-key'

/** Configured, or made once and kept under the data folder, readable by its owner alone. */
export function keepSecrets(config: Config, ids: RandomIds): KeptSecrets {
  const kept = (name: string, make: () => string): string =>
    readKept(config.dataFolder, name) ?? keep(config.dataFolder, name, make())
  const isNewKey = config.encryptionKeys === undefined && readKept(config.dataFolder, KEY_FILE) === undefined
  return {
    isNewKey,
    operatorToken: config.operatorToken ?? kept('operator-token', () => ids.uuid()),
    encryptionKeys: config.encryptionKeys ?? [
      Buffer.from(
        kept(KEY_FILE, () => ids.bytes(32).toString('base64')),
        'base64',
      ),
    ],
  }
}

export function readKept(folder: string, name: string): string | undefined {
  try {
    return readFileSync(join(folder, name), 'utf8').trim() || undefined
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}

/** Written whole or not at all. */
export function keep(folder: string, name: string, value: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, name)
  writeFileSync(`${path}.new`, `${value}\n`, { mode: 0o600, flush: true })
  renameSync(`${path}.new`, path)
  return value
}

/** A key made for a database that has another one is worse than none. */
export function dropNewKey(folder: string): void {
  rmSync(join(folder, KEY_FILE), { force: true })
}
