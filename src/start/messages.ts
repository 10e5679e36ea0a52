import type { Connection } from '../platform/database/database.ts'

/** What the supervisor and its service processes say to each other. */
export type ToProcess =
  | {
      readonly type: 'start'
      readonly connection: Connection
      readonly operatorToken: string
      readonly encryptionKeys: readonly string[]
      /** One process of the host does the background work of the role `all`. */
      readonly worker: boolean
    }
  | { readonly type: 'stop' }
  | { readonly type: 'metrics'; readonly id: number; readonly text: string }

export type FromProcess =
  | { readonly type: 'hello' }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly line: string }
  | { readonly type: 'metrics'; readonly id: number }
