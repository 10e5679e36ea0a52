import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestService } from './test-service.ts'

export type StreamEvent = { readonly event: string; readonly data: unknown }
export type EventStream = {
  readonly http: number
  /** The next event that nobody took yet. */
  next(): Promise<StreamEvent>
  /** Resolves when the service has ended the stream. */
  readonly ended: Promise<void>
  close(): void
}

/** Server-sent events as a browser reads them. */
export function openStream(it: TestService, path: string, headers: Record<string, string>): Promise<EventStream> {
  const { port } = it.service.app.server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => resolve(read(answer)))
    request.on('error', reject)
  })
}

function read(answer: IncomingMessage): EventStream {
  const events: StreamEvent[] = []
  let wake = () => {}
  let text = ''
  answer.setEncoding('utf8')
  answer.on('data', (chunk) => {
    const blocks = (text + chunk).split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) {
      const [event, data] = ['event', 'data'].map((name) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1])
      if (event) events.push({ event, data: JSON.parse(data ?? 'null') })
    }
    wake()
  })
  return {
    http: answer.statusCode!,
    async next() {
      while (events.length === 0)
        await new Promise<void>((done) => {
          wake = done
        })
      return events.shift()!
    },
    ended: new Promise((done) => answer.once('close', done)),
    close: () => void answer.destroy(),
  }
}
