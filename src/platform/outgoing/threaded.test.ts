import { describe, expect, onTestFinished, test } from 'vitest'
import { response, startReceiver } from './test-receiver.ts'
import { createThreadedOutgoing } from './threaded.ts'

function threaded() {
  const made = createThreadedOutgoing({ timeoutMs: 10_000, allowPrivate: true })
  onTestFinished(() => made.close())
  return made
}

const echo = () =>
  startReceiver((socket, { body }) =>
    socket.write(
      Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nx-a: é\r\ncontent-length: ${body.length}\r\n\r\n`), body]),
    ),
  )

describe('calls in a thread of their own', () => {
  test('are answered as calls made here, byte for byte', async () => {
    const receiver = await echo()
    const body = 'José \u{1F600} \u0000 \u00ff'
    const answered = await threaded().post({ url: receiver.url, headers: { 'x-b': '1' }, body })
    expect(answered).toEqual({
      status: 200,
      headers: expect.objectContaining({ 'content-length': String(Buffer.byteLength(body)) }),
      body: Buffer.from(body),
      truncated: false,
      failure: null,
    })
    expect(receiver.requests[0]!.head).toContain('\r\nx-b: 1\r\n')
  })

  test('made at once are answered each with its own', async () => {
    const receiver = await echo()
    const { post } = threaded()
    const bodies = Array.from({ length: 200 }, (_, index) => `{"index":${index}}`)
    const answers = await Promise.all(bodies.map((body) => post({ url: receiver.url, headers: {}, body })))
    expect(answers.map(({ body }) => body.toString())).toEqual(bodies)
  })

  test('fail as calls made here', async () => {
    const { post } = threaded()
    expect(await post({ url: 'nowhere', headers: {}, body: '' })).toMatchObject({ status: 0, failure: 'invalid' })
  })

  test('are stopped, also those that had not left yet', async () => {
    const receiver = await startReceiver(() => {})
    const outgoing = threaded()
    const first = outgoing.post({ url: receiver.url, headers: {}, body: '' })
    await receiver.accepted()
    const second = outgoing.post({ url: receiver.url, headers: {}, body: '' })
    outgoing.stopAll()
    expect(await Promise.all([first, second])).toMatchObject([{ failure: 'stopped' }, { failure: 'stopped' }])
  })

  test('are waited for at the close, and none is taken after it', async () => {
    const receiver = await startReceiver((socket) => socket.write(response(200)))
    const outgoing = threaded()
    const last = outgoing.post({ url: receiver.url, headers: {}, body: '' })
    await outgoing.close()
    expect(await last).toMatchObject({ status: 200 })
    expect(await outgoing.post({ url: receiver.url, headers: {}, body: '' })).toMatchObject({ failure: 'stopped' })
  })

  test('are answered at the close, also when the answer ends with its connection', async () => {
    const receiver = await startReceiver((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'))
    const outgoing = threaded()
    const calls = Array.from({ length: 20 }, () => outgoing.post({ url: receiver.url, headers: {}, body: '' }))
    await outgoing.close()
    const answers = await Promise.all(calls)
    expect(answers.map(({ body }) => body.toString())).toEqual(calls.map(() => 'all of it'))
  })

  test('need no thread when none was made', async () => {
    const outgoing = threaded()
    outgoing.stopAll()
    await outgoing.close()
  })
})
