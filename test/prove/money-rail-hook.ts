import { registerHooks } from 'node:module'

/** Loaded into the service before its own code (`--import`): it gets the rail of the proof for the sandbox's. */
const rail = new URL('./money-rail.ts', import.meta.url).href
const sandbox = new URL('../../src/rail/sandbox/sandbox-rail.ts', import.meta.url).href

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    return resolved.url === sandbox && context.parentURL !== rail ? { ...resolved, url: rail } : resolved
  },
})
