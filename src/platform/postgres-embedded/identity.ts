import { existsSync, lchownSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Identity, ourselves, run } from './command.ts'
import { EmbeddedPostgresError } from './error.ts'
import type { Folders } from './folders.ts'
import { type Host, userNamespace } from './host.ts'

type Account = NonNullable<Identity['account']>

const ROOT = 0

/**
 * PostgreSQL refuses to run as root. Started by root, it runs, in this order: as the owner of the data, so that a
 * folder never changes hands unasked; in a user namespace, which needs no account and leaves the files root's; as the
 * owner of the place around the data, such as a private home; as postgres or nobody.
 */
export async function chooseIdentity(host: Host, folders: Folders): Promise<Identity> {
  if (host.userId !== ROOT) return ourselves
  const parent = dirname(folders.data)
  const owner = ownerOf(existsSync(folders.cluster) ? folders.cluster : folders.data)
  if (owner.uid !== ROOT) return firstThatMayEnter(parent, [owner])

  const inNamespace: Identity = { prefix: userNamespace, account: null }
  if (host.hasUserNamespace && (await mayEnter(inNamespace, folders.data))) return inNamespace
  return firstThatMayEnter(parent, [ownerAround(parent), await findAccount('postgres'), await findAccount('nobody')])
}

async function firstThatMayEnter(folder: string, accounts: (Account | undefined)[]): Promise<Identity> {
  for (const account of accounts) {
    const identity: Identity = { prefix: [], account: account ?? null }
    if (account && (await mayEnter(identity, folder))) return identity
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and no other account may enter ${folder}: ` +
      'set QUITADO_DATA to a folder elsewhere, or start Quitado as another user.',
  )
}

/** Gives the data to the account that runs the server, if there is one. */
export function handOver({ account }: Identity, folders: Folders): void {
  if (!account) return
  for (const path of [folders.data, folders.lockFile, folders.ownerFile, folders.socket])
    if (existsSync(path)) lchownSync(path, account.uid, account.gid)
  if (!existsSync(folders.cluster) || ownerOf(folders.cluster).uid === account.uid) return
  for (const entry of readdirSync(folders.cluster, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(folders.cluster, entry), account.uid, account.gid)
  // Last, because it says that the rest is done.
  lchownSync(folders.cluster, account.uid, account.gid)
}

function ownerOf(path: string): Account {
  const { uid, gid } = statSync(path)
  return { uid, gid }
}

/** The first owner other than root on the way up. */
function ownerAround(path: string): Account | undefined {
  const owner = ownerOf(path)
  if (owner.uid !== ROOT) return owner
  return dirname(path) === path ? undefined : ownerAround(dirname(path))
}

const mayEnter = async (identity: Identity, folder: string): Promise<boolean> =>
  (await run(['sh', '-c', 'cd "$1"', 'sh', folder], identity)).ok

async function findAccount(name: string): Promise<Account | undefined> {
  const [user, group] = await Promise.all([run(['id', '-u', name]), run(['id', '-g', name])])
  const account = { uid: Number(user.output), gid: Number(group.output) }
  return user.ok && group.ok && account.uid > ROOT ? account : undefined
}
