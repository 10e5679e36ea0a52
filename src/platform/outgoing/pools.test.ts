import { buildConnector, type Dispatcher } from 'undici'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPools } from './pools.ts'
import { closed, response, startReceiver } from './test-receiver.ts'

function start({ keepAliveTimeout = 50, connect = buildConnector({ allowH2: false }) } = {}) {
  const pools = createPools({ connect, allowH2: false, keepAliveTimeout })
  onTestFinished(() => pools.destroy())
  const dispatch = (url: string, headers: Record<string, string> = {}) => {
    const began = Promise.withResolvers<Dispatcher.DispatchController>()
    const over = Promise.withResolvers<string>()
    const call = { origin: new URL(url).origin, path: '/', method: 'POST' as const, headers, body: '{}' }
    pools.dispatch(call, {
      onRequestStart: began.resolve,
      onResponseStart() {},
      onResponseData() {},
      onResponseEnd: () => over.resolve('whole'),
      onResponseError: (_controller, error) => over.resolve((error as { code?: string }).code ?? error.message),
    })
    return { began: began.promise, over: over.promise }
  }
  return { pools, dispatch, emptied: () => vi.waitUntil(() => pools.count() === 0, { timeout: 20_000 }) }
}

describe('the pool of an origin', () => {
  test('is kept while a connection is, and goes with the last', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    const { pools, dispatch, emptied } = start()
    expect(await dispatch(receiver.url).over).toBe('whole')
    expect(pools.count()).toBe(1)
    await emptied()
    expect(await dispatch(receiver.url).over).toBe('whole')
    expect(pools.count()).toBe(1)
  })

  test('goes with a call that was given up', async () => {
    const receiver = await startReceiver(() => {})
    const { dispatch, emptied } = start()
    const { began, over } = dispatch(receiver.url)
    const controller = await began
    await receiver.requested()
    controller.abort(new Error('given up'))
    expect(await over).toBe('given up')
    await emptied()
  })

  test('goes with a connection that could not be made', async () => {
    const refuse = Promise.withResolvers<() => void>()
    const { pools, dispatch, emptied } = start({
      connect: (_target, callback) => refuse.resolve(() => callback(new Error('refused'), null)),
    })
    const { over } = dispatch('http://127.0.0.1:1/')
    const refuseIt = await refuse.promise
    await nextTurn()
    expect(pools.count()).toBe(1)
    refuseIt()
    expect(await over).toBe('refused')
    await emptied()
  })

  test('goes with a call that was never sent', async () => {
    const { pools, dispatch, emptied } = start()
    expect(await dispatch('http://127.0.0.1:1/', { 'no header': 'x' }).over).toBe('UND_ERR_INVALID_ARG')
    expect(pools.count()).toBe(1)
    await emptied()
  })

  test('stays for the calls it has', async () => {
    const sockets: { write(bytes: Buffer): unknown }[] = []
    const receiver = await startReceiver((socket) => sockets.push(socket))
    const { pools, dispatch } = start()
    const [first, second] = [dispatch(receiver.url), dispatch(receiver.url)]
    const controller = await first.began
    while (receiver.requests.length < 2) await receiver.requested()
    controller.abort(new Error('given up'))
    await first.over
    await nextTurn()
    expect(pools.count()).toBe(1)
    for (const socket of sockets) socket.write(response(200))
    expect(await second.over).toBe('whole')
  })

  test('stays for the connections it has', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    const { pools, dispatch } = start({ keepAliveTimeout: 20_000 })
    await Promise.all([dispatch(receiver.url).over, dispatch(receiver.url).over])
    const ended = closed(receiver.connections[1]!)
    receiver.connections[1]!.end()
    await ended
    await nextTurn()
    expect(pools.count()).toBe(1)
    expect(await dispatch(receiver.url).over).toBe('whole')
    expect(receiver.connections).toHaveLength(2)
  })
})

const nextTurn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
