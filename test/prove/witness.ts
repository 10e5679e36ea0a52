import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ApiClient, apiClient } from '../harness/api-client.ts'
import { type Account, credentialHeaders } from '../harness/running-service.ts'
import { seededRandom } from './table.ts'

/**
 * A witness is a process of its own that uses the service through every crash and writes down what it was told, and
 * nothing else. This is what all of them have.
 */
export type Witness<Told extends Account, Entry> = {
  /** The data of the service; what the witness writes is beside it. */
  readonly folder: string
  readonly accounts: readonly Told[]
  readonly seed: number
  /** A line of the journal, written before the witness goes on. */
  note(entry: Entry): void
  stopping(): boolean
  apiOf(account: Account): ApiClient
  /** Each lane is a client of one account; resolves when all have ended. */
  inLanes(lane: (lane: Lane<Told>) => Promise<void>): Promise<void>
}
export type Lane<Told> = {
  readonly account: Told
  readonly api: ApiClient
  readonly name: number
  readonly random: () => number
}

export const journalOf = (folder: string): string => join(folder, 'journal.jsonl')

/** What the proof says when it forks a witness. */
export const witnessArguments = (port: number, folder: string, accounts: unknown, lanes: number, seed: number) => [
  String(port),
  folder,
  JSON.stringify(accounts),
  String(lanes),
  String(seed),
]

export function asWitness<Told extends Account, Entry>(): Witness<Told, Entry> {
  const [port, folder, accountsJson, lanes, seed] = process.argv.slice(2) as [string, string, string, string, string]
  const accounts = JSON.parse(accountsJson) as Told[]
  const root = apiClient(Number(port))
  let stopping = false
  process.on('message', () => {
    stopping = true
  })
  process.on('disconnect', () => process.exit(1))
  const apiOf = (account: Account) => root.as(credentialHeaders(account))
  return {
    folder,
    accounts,
    seed: Number(seed),
    note: (entry) => appendFileSync(journalOf(folder), `${JSON.stringify(entry)}\n`),
    stopping: () => stopping,
    apiOf,
    async inLanes(lane) {
      await Promise.all(
        Array.from({ length: Number(lanes) }, (_, name) => {
          const account = accounts[name % accounts.length]!
          return lane({ account, api: apiOf(account), name, random: seededRandom(Number(seed) * 1_000 + name) })
        }),
      )
    },
  }
}
