import type {} from '@fastify/swagger'
import type { Instant } from '../../kernel/calendar.ts'
import type { AccountId } from '../../kernel/ids.ts'

export type Envelope = { readonly http: number; readonly body: Record<string, unknown> }

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose credentials the request carries. Set by authentication before any route of an account runs. */
    accountId: AccountId
    apiKey: string
    /** The session of a page that stands in for credentials. */
    session: { readonly tokenHash: Buffer; readonly idleEndsAt: Instant; readonly endsAt: Instant } | null
  }
  interface FastifyContextConfig {
    /** A GET that changes something: a page must ask for it as for any change. */
    changes?: boolean
    /** The route's queue has no room: it is refused before anything else is looked at. */
    isFull?: () => boolean
  }
  interface FastifyInstance {
    /** The one error table: the answer to anything thrown. */
    envelopeOf(error: unknown): Envelope
  }
}

export const success = { status: 0, message: 'success' } as const
