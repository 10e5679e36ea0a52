import { type DueOf, type EngineContext, engineStep } from '../modules/recurrence/index.ts'
import { type CollectContext, collectStep } from '../modules/simulator/index.ts'

/** Some of the accounts each: while one lane waits for the database, another decides, and late cycles keep their order. */
const LANES = 2
const lanes: readonly DueOf[] = Array.from({ length: LANES }, (_, lane) => ({ lane, lanes: LANES }))

export type RecurrenceRuns = {
  readonly engine: EngineContext
  /** The payers' banks; only a sandbox has them. */
  readonly bank?: CollectContext
}

/** The engine, and in a sandbox the payers' banks: batch after batch until nothing is due. */
export const recurrenceRuns = ({ engine, bank }: RecurrenceRuns) => {
  const run = async (stopping: () => boolean, of: DueOf): Promise<void> => {
    for (let more = true; more && !stopping(); ) {
      const steps = [engineStep(engine, of), bank !== undefined && collectStep(bank, of)]
      more = (await Promise.all(steps)).includes(true)
    }
  }
  return async (stopping: () => boolean, account?: DueOf): Promise<void> =>
    void (await Promise.all((account ? [account] : lanes).map((of) => run(stopping, of))))
}
