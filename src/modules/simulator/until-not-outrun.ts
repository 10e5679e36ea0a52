import type { FastifyReply } from 'fastify'
import { isUniqueViolation, troubleOf } from '../../platform/database/trouble.ts'
import { RequestUnusable } from '../../platform/http/refusals.ts'
import { Outrun } from './play-recurrence.ts'

const TRIES_MAX = 5

/** Somebody else changed what it is about first: decides again with what the faster one left, as the door's batches do. */
export async function untilNotOutrun(work: () => Promise<FastifyReply>): Promise<FastifyReply> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      const outrun = error instanceof Outrun || isUniqueViolation(error) || troubleOf(error) === 'again'
      if (!outrun) throw error
      if (tries === TRIES_MAX) throw new RequestUnusable(503, 'it changed meanwhile: send the request again')
    }
  }
}
