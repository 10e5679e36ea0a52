import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { TestAccount, TestSale } from './given.ts'

export type ReceivedCall = {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any
}
export type Answering = (reply: ServerResponse, call: ReceivedCall, request: IncomingMessage) => void

export type Receiver = {
  readonly url: string
  readonly port: number
  readonly calls: ReceivedCall[]
  /** From now on; a number answers that status. */
  answer(how: Answering | number): void
  /** Resolves when so many calls have arrived in all. */
  received(count: number): Promise<void>
  stop(): Promise<void>
}

/** A merchant's webhook endpoint: it keeps what arrives and answers as it is told, 200 at first. */
export async function startReceiver(): Promise<Receiver> {
  const calls: ReceivedCall[] = []
  const sockets = new Set<Socket>()
  let waiting: { count: number; done: () => void }[] = []
  let how: Answering = (reply) => void reply.end('ok')
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const call = {
        url: request.url!,
        headers: request.headers,
        text,
        body: text === '' ? undefined : JSON.parse(text),
      }
      calls.push(call)
      how(reply, call, request)
      for (const { done } of waiting.filter(({ count }) => calls.length >= count)) done()
      waiting = waiting.filter(({ count }) => calls.length < count)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    calls,
    answer(told) {
      how = typeof told === 'number' ? (reply) => void reply.writeHead(told).end() : told
    },
    received: (count) =>
      calls.length >= count ? Promise.resolve() : new Promise((done) => waiting.push({ count, done })),
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}

export type HeldCalls = {
  /** Calls that wait for their answer. */
  waiting(): number
  /** Answers so many of them; the others and all that come go on waiting. */
  answer(count: number, status?: number): void
  /** Answers them all, and from now on every call at once. */
  letGo(status?: number): void
}

/** From now on the receiver takes calls and answers none of them until it is told to. */
export function holdCalls(receiver: Receiver): HeldCalls {
  const replies: ServerResponse[] = []
  receiver.answer((reply) => void replies.push(reply))
  return {
    waiting: () => replies.filter((reply) => !reply.writableEnded && !reply.destroyed).length,
    answer(count, status = 200) {
      for (const reply of replies.splice(0, count)) reply.writeHead(status).end()
    },
    letGo(status = 200) {
      receiver.answer(status)
      for (const reply of replies.splice(0)) reply.writeHead(status).end()
    },
  }
}

/** The account hears of its payments and reversals at this address. */
export async function listenAt<Account extends Pick<TestAccount, 'api'>>(
  account: Account,
  url: string,
): Promise<Account> {
  await account.api.put('/v1.1/account/notifications', { payment: { url }, reversal: { url, enabled: true } })
  return account
}

/** Attempts of every event of the sale, newest first. */
export const attemptsOf = async ({ api }: Pick<TestAccount, 'api'>, { uuid }: Pick<TestSale, 'uuid'>) =>
  (await api.get(`/v1.1/transactions/${uuid}/webhook`)).body.notifications

/** What the account was told or is to be told, newest first. */
export const notificationsOf = async ({ api }: Pick<TestAccount, 'api'>) =>
  (await api.get('/v1.1/notifications')).body.result
