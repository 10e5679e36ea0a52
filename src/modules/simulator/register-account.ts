import { normalizeDocument } from '../../kernel/documents.ts'
import { email, type Read, required, text } from '../../kernel/reader.ts'
import type { Result } from '../../kernel/result.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { type NumberBlocks, reserveNumbers } from '../../platform/number-blocks.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { Secrets } from '../../platform/secrets.ts'
import {
  hashPassword,
  type OpenAccountRefusal,
  type OpenedAccount,
  openAccount,
  passwordField,
} from '../account/index.ts'

export type RegisterContext = {
  readonly db: Database
  readonly clock: Clock
  readonly secrets: Secrets
  readonly ids: RandomIds
  readonly numbers: NumberBlocks
}

export const documentField = text({ min: 2, max: 25, description: 'CPF or CNPJ.' })
export const nameField = required(text({ max: 100, example: 'Loja Exemplo' }))
export const registerFields = {
  name: nameField,
  email: required(email({ example: 'loja@example.com' })),
  password: passwordField,
  document: documentField,
  city: text({ max: 60, description: 'Shown in the BR Code; SAO PAULO by default.' }),
}

/** A test account for whoever asks. What `also` writes commits with it. */
export async function registerAccount(
  context: RegisterContext,
  asked: Read<typeof registerFields>,
  also: (tx: Transaction, account: OpenedAccount) => Promise<void> = async () => {},
): Promise<Result<OpenedAccount, OpenAccountRefusal>> {
  const passwordHash = asked.password === undefined ? null : await hashPassword(asked.password, context.ids)
  const numbers = await reserveNumbers(context.numbers, 1)
  return context.db.inTransaction(async (tx) => {
    const opened = await openAccount(
      { ...context, numbers, tx, now: context.clock.now() },
      {
        name: asked.name,
        email: asked.email,
        passwordHash,
        document: asked.document === undefined ? null : normalizeDocument(asked.document),
        city: asked.city ?? null,
        splitEnabled: false,
      },
    )
    if (opened.ok) await also(tx, opened.value)
    return opened
  })
}
