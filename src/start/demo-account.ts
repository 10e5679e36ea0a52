import { uuidFromWire } from '../kernel/ids.ts'
import { ok, type Result } from '../kernel/result.ts'
import {
  checkPassword,
  findApiToken,
  findOwner,
  hashPassword,
  linkRecipient,
  openAccount,
  setRecipientActive,
  setSignIn,
} from '../modules/account/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import { createNumberBlocks } from '../platform/number-blocks.ts'
import type { RandomIds } from '../platform/random-ids.ts'
import type { Secrets } from '../platform/secrets.ts'
import { keep, readKept } from './kept-secrets.ts'

export type Demo = {
  readonly apiKey: string
  readonly apiToken: string
  /** For the panel. Without the password when it is no more the one that was made here. */
  readonly signIn: { readonly email: string; readonly password: string | undefined }
}
type DemoContext = {
  readonly db: Database
  readonly secrets: Secrets
  readonly ids: RandomIds
  readonly clock: Clock
  readonly folder: string
}

const KEY_FILE = 'demo-api-key'
const PASSWORD_FILE = 'demo-password'
const PASSWORD_LENGTH = 16
/** No mail ever goes there: the domain is reserved for tests. */
const EMAIL = 'demo@quitado.test'
const recipients = [
  { name: 'Fornecedor Um', active: true },
  { name: 'Fornecedor Dois', active: true },
  { name: 'Fornecedor Inativo', active: false },
]

/**
 * An account to try everything with: split on, three recipients, one of them inactive, and a sign-in for the panel. Made
 * once a data folder.
 */
export async function demoAccount(context: DemoContext): Promise<Demo> {
  const apiKey = uuidFromWire(readKept(context.folder, KEY_FILE) ?? '')
  const apiToken = apiKey && (await findApiToken(context.db, context.secrets, apiKey))
  if (apiKey && apiToken) return { apiKey, apiToken, signIn: await signInOf(context, apiKey) }
  const password = keptPassword(context)
  const passwordHash = await hashPassword(password, context.ids)
  const { email, value } = await withFreeEmail(context, (email) => openDemo(context, { email, passwordHash }))
  keep(context.folder, KEY_FILE, value.apiKey)
  return { apiKey: value.apiKey, apiToken: value.apiToken, signIn: { email, password } }
}

/**
 * An account of a folder from before there was a sign-in is given one now. A password that somebody changed is theirs: it
 * is not known here and stays.
 */
async function signInOf(context: DemoContext, apiKey: string): Promise<Demo['signIn']> {
  const owner = (await findOwner(context.db, apiKey))!
  if (owner.signsIn) {
    const asked = { email: owner.email ?? '', password: readKept(context.folder, PASSWORD_FILE) ?? '' }
    const isOurs = (await checkPassword(context.db, asked)) !== undefined
    return { email: asked.email, password: isOurs ? asked.password : undefined }
  }
  const password = keptPassword(context)
  const passwordHash = await hashPassword(password, context.ids)
  const { email } = await withFreeEmail(context, (email) =>
    context.db.inTransaction((tx) => setSignIn(tx, owner.accountId, { email, passwordHash })),
  )
  return { email, password }
}

/** Kept before the account has it: a start that ends in between is made good by the next one. */
const keptPassword = ({ folder, ids }: DemoContext): string =>
  readKept(folder, PASSWORD_FILE) ?? keep(folder, PASSWORD_FILE, ids.alphanumeric(PASSWORD_LENGTH))

type EmailTaken = { code: 'account.emailTaken' }

/** Several folders may share a database, each with a demo account of its own. */
async function withFreeEmail<Value>(
  { ids }: DemoContext,
  take: (email: string) => Promise<Result<Value, EmailTaken>>,
): Promise<{ readonly email: string; readonly value: Value }> {
  const first = await take(EMAIL)
  if (first.ok) return { email: EMAIL, value: first.value }
  const email = EMAIL.replace('@', `-${ids.uuid().slice(0, 8)}@`)
  const second = await take(email)
  if (!second.ok) throw new Error(second.refusal.code)
  return { email, value: second.value }
}

type SignIn = { readonly email: string; readonly passwordHash: string }
const plain = { email: null, passwordHash: null, document: null, city: null, splitEnabled: false }

async function openDemo({ db, secrets, ids, clock }: DemoContext, signIn: SignIn) {
  const numbers = createNumberBlocks(db)
  return db.inTransaction(async (tx) => {
    const opening = { tx, ids, secrets, numbers, now: clock.now() }
    const demo = await openAccount(opening, { ...plain, ...signIn, name: 'Loja Demonstração', splitEnabled: true })
    if (!demo.ok) return demo
    for (const { name, active } of recipients) {
      const recipient = await openAccount(opening, { ...plain, name })
      if (!recipient.ok) throw new Error(recipient.refusal.code)
      await linkRecipient(tx, demo.value.id, recipient.value.id, opening.now)
      await setRecipientActive(tx, demo.value.id, recipient.value.uuid, active)
    }
    return ok(demo.value.credentials)
  })
}
