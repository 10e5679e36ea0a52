import { uuidFromWire } from '../kernel/ids.ts'
import { findApiToken, linkRecipient, openAccount, setRecipientActive } from '../modules/account/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import { createNumberBlocks } from '../platform/number-blocks.ts'
import type { RandomIds } from '../platform/random-ids.ts'
import type { Secrets } from '../platform/secrets.ts'
import { keep, readKept } from './kept-secrets.ts'

export type DemoCredentials = { readonly apiKey: string; readonly apiToken: string }
type DemoContext = {
  readonly db: Database
  readonly secrets: Secrets
  readonly ids: RandomIds
  readonly clock: Clock
  readonly folder: string
}

const FILE = 'demo-api-key'
const recipients = [
  { name: 'Fornecedor Um', active: true },
  { name: 'Fornecedor Dois', active: true },
  { name: 'Fornecedor Inativo', active: false },
]

/** An account to try everything with: split on, three recipients, one of them inactive. Made once a data folder. */
export async function demoAccount(context: DemoContext): Promise<DemoCredentials> {
  const apiKey = uuidFromWire(readKept(context.folder, FILE) ?? '')
  const apiToken = apiKey && (await findApiToken(context.db, context.secrets, apiKey))
  if (apiKey && apiToken) return { apiKey, apiToken }
  const made = await openDemo(context)
  keep(context.folder, FILE, made.apiKey)
  return made
}

async function openDemo({ db, secrets, ids, clock }: DemoContext): Promise<DemoCredentials> {
  const numbers = createNumberBlocks(db)
  return db.inTransaction(async (tx) => {
    const now = clock.now()
    const open = async (name: string, splitEnabled: boolean) => {
      const asked = { name, email: null, document: null, city: null, passwordHash: null, splitEnabled }
      const opened = await openAccount({ tx, ids, secrets, numbers, now }, asked)
      if (!opened.ok) throw new Error(opened.refusal.code)
      return opened.value
    }
    const demo = await open('Loja Demonstração', true)
    for (const { name, active } of recipients) {
      const recipient = await open(name, false)
      await linkRecipient(tx, demo.id, recipient.id, now)
      await setRecipientActive(tx, demo.id, recipient.uuid, active)
    }
    return demo.credentials
  })
}
