import { type DueClaim, type EngineContext, engineStep } from '../modules/recurrence/index.ts'
import { type CollectContext, collectStep } from '../modules/simulator/index.ts'

/** Batches of the engine at once: while one waits for the database, another is decided. */
const LANES = 2

export type RecurrenceRuns = {
  readonly engine: EngineContext
  /** The payers' banks; only a sandbox has them. */
  readonly bank?: CollectContext
}

/** The engine, and in a sandbox the payers' banks: batches beside each other until nothing is due. */
export const recurrenceRuns =
  ({ engine, bank }: RecurrenceRuns) =>
  async (stopping: () => boolean, account?: DueClaim['account']): Promise<void> => {
    for (let more = true; more && !stopping(); ) {
      const steps = Array.from({ length: LANES }, () => [
        engineStep(engine, account),
        bank !== undefined && collectStep(bank, account),
      ])
      more = (await Promise.all(steps.flat())).includes(true)
    }
  }
