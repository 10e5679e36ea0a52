import type { AccountId } from '../../kernel/ids.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { findVersionedTerms, type VersionedTerms } from './account.store.ts'

export type FoundTerms = {
  readonly of: ReadonlyMap<AccountId, VersionedTerms>
  /** Those that were not read just now: a write by them says whether they still hold (`termsHold`). */
  readonly remembered: readonly VersionedTerms[]
}

export type RememberedTerms = {
  find(ids: readonly AccountId[]): Promise<FoundTerms>
  /** They held no more. */
  forget(terms: readonly VersionedTerms[]): void
}

const ENTRIES_MAX = 20_000

/** Saves a look-up before every write. Nobody has to tell it of a change: a write by old terms comes to nothing. */
export function rememberTerms(db: Queryable): RememberedTerms {
  const known = new Map<AccountId, VersionedTerms>()
  return {
    async find(ids) {
      const asked = [...new Set(ids)]
      const remembered = asked.flatMap((id) => known.get(id) ?? [])
      const missing = asked.filter((id) => !known.has(id))
      const read = missing.length === 0 ? [] : await findVersionedTerms(db, missing)
      if (known.size + read.length > ENTRIES_MAX) known.clear()
      for (const terms of read) known.set(terms.id, terms)
      return { of: new Map([...remembered, ...read].map((terms) => [terms.id, terms])), remembered }
    },
    forget(terms) {
      for (const { id, version } of terms) if (known.get(id)?.version === version) known.delete(id)
    },
  }
}

/**
 * SQL that is true while each account is as it was when its terms were read. Written so that every account is looked up
 * by its key, however many there are.
 */
export const termsHold = (ids: string, versions: string): string =>
  `not exists (select 1 from unnest(${ids}, ${versions}) as known(id, version)
     where (select a.xmin from account a where a.id = known.id) is distinct from known.version::xid)`
