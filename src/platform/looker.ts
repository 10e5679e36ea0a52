export type Looker = {
  start(): void
  /** Something may be due now. */
  poke(): void
  /** Everything that is due now. */
  run(): Promise<void>
  stop(): Promise<void>
}

export type LookerOptions = {
  readonly everyMs: number
  /** True: there may be more. */
  readonly step: () => Promise<boolean>
  readonly trouble: (error: unknown) => void
}

/** Works off what is due: when it is poked, and every now and then, never twice at once. */
export function createLooker({ everyMs, step, trouble }: LookerOptions): Looker {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let again = false
  let started = false
  let stopping = false

  async function untilNone(): Promise<void> {
    try {
      do {
        again = false
        while (!stopping && (await step()));
      } while (again && !stopping)
    } catch (error) {
      trouble(error)
    }
    // In the same breath as the last look at `again`: whoever asks from now on begins anew.
    running = undefined
  }
  const run = (): Promise<void> => {
    again = true
    running ??= untilNone()
    return running
  }
  const lookAgain = () => {
    timer = setTimeout(() => void run().finally(() => !stopping && lookAgain()), everyMs)
  }
  return {
    start() {
      started = true
      lookAgain()
    },
    poke() {
      if (started && !stopping) void run()
    },
    run,
    async stop() {
      stopping = true
      clearTimeout(timer)
      await running
    },
  }
}
