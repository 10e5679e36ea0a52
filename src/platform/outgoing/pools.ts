import { type Dispatcher, Pool } from 'undici'

export type Pools = {
  dispatch(options: Dispatcher.DispatchOptions & { origin: string }, handler: Dispatcher.DispatchHandler): void
  /** Origins that have a connection or a call. */
  count(): number
  destroy(): Promise<void>
}

/**
 * One pool of connections for each origin, for as long as it has any. undici's Agent does the same, but never lets go of
 * an origin whose last call was given up: strangers name the origins, so there is no end of them.
 */
export function createPools(options: Pool.Options): Pools {
  const pools = new Map<string, Pool>()

  function open(origin: string): Pool {
    const pool = new Pool(origin, options)
    // One turn later: at the event itself the pool still counts the call that went with the connection.
    const check = () => void setImmediate(closeIfUnused, origin, pool)
    pool.on('disconnect', check).on('connectionError', check)
    pools.set(origin, pool)
    // A call that undici refuses makes no connection, so no event.
    check()
    return pool
  }

  function closeIfUnused(origin: string, pool: Pool) {
    const { connected, size } = pool.stats
    if (connected > 0 || size > 0 || pools.get(origin) !== pool) return
    pools.delete(origin)
    void pool.destroy()
  }

  return {
    dispatch(call, handler) {
      const pool = pools.get(call.origin) ?? open(call.origin)
      pool.dispatch(call, handler)
    },
    count: () => pools.size,
    async destroy() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
    },
  }
}
