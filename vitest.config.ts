import { defineConfig } from 'vitest/config'

/** Nothing is timed by it: it is for what hangs. */
const TIMEOUT_MS = 300_000

/** These put something else in the place of a module, or look after processes: each has a process of its own. */
const alone = [
  'src/modules/sale/split-checkout.test.ts',
  'src/platform/batcher.test.ts',
  'src/platform/database/statements.test.ts',
  'src/platform/postgres-embedded/*.test.ts',
  'test/scenarios/concurrency.test.ts',
  'test/scenarios/rail-events.test.ts',
  'test/start/*.test.ts',
]

const common = {
  testTimeout: TIMEOUT_MS,
  hookTimeout: TIMEOUT_MS,
  // What is polled for comes when it comes: the test's own time is the bound.
  expect: { poll: { timeout: TIMEOUT_MS, interval: 10 } },
}

export default defineConfig({
  test: {
    globalSetup: ['test/harness/global-setup.ts'],
    // Two cores: more files at once only make each other slow.
    maxWorkers: 2,
    reporters: ['default'],
    projects: [
      { test: { ...common, name: 'alone', include: alone } },
      {
        test: {
          ...common,
          name: 'together',
          // To load the service takes about as long as a file's tests, so the files of a process share what is loaded.
          isolate: false,
          include: [
            'src/**/*.test.ts',
            'test/**/*.test.ts',
            'scripts/**/*.test.ts',
            'bench/**/*.test.ts',
            'panel/src/**/*.test.ts',
          ],
          exclude: alone,
        },
      },
    ],
  },
})
