import { argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { text } from '../../kernel/reader.ts'
import type { RandomIds } from '../../platform/random-ids.ts'

export const PASSWORD_MAX = 200
export const passwordField = text({ min: 8, max: PASSWORD_MAX })

const argon2id = promisify(argon2)
const TAG_BYTES = 32
const NONCE_BYTES = 16

type Cost = { readonly memory: number; readonly passes: number; readonly parallelism: number }
const COST: Cost = { memory: 19_456, passes: 2, parallelism: 1 }

const textOf = ({ memory, passes, parallelism }: Cost, nonce: Buffer, tag: Buffer): string =>
  `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${nonce.toString('base64url')}$${tag.toString('base64url')}`

const shape = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w-]+)\$([\w-]+)$/

/** No password has it. Checking against it costs what any check costs, so an unknown e-mail takes as long. */
const nobodys = textOf(COST, Buffer.alloc(NONCE_BYTES), Buffer.alloc(TAG_BYTES))

// Off the event loop: it takes tens of milliseconds.
const tagOf = (password: string, nonce: Buffer, cost: Cost, tagLength: number): Promise<Buffer> =>
  argon2id('argon2id', { ...cost, tagLength, message: Buffer.from(password), nonce })

/** Argon2id with the parameters in the text, so that they can grow later. */
export async function hashPassword(password: string, ids: RandomIds): Promise<string> {
  const nonce = ids.bytes(NONCE_BYTES)
  return textOf(COST, nonce, await tagOf(password, nonce, COST, TAG_BYTES))
}

/** The same work whether there is a hash to compare with or not. */
export async function passwordMatches(password: string, stored: string | undefined): Promise<boolean> {
  const parts = shape.exec(stored ?? nobodys)
  if (parts === null) throw new Error('a password was stored in a form that nobody knows')
  const [memory, passes, parallelism] = parts.slice(1, 4).map(Number) as [number, number, number]
  const [nonce, tag] = parts.slice(4).map((text) => Buffer.from(text, 'base64url')) as [Buffer, Buffer]
  const presented = await tagOf(password, nonce, { memory, passes, parallelism }, tag.length)
  return timingSafeEqual(presented, tag) && stored !== undefined
}
