import { Agent, request } from 'node:http'

export type Reply = {
  readonly http: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
}

type Options = { readonly headers?: Readonly<Record<string, string>>; readonly raw?: string | Buffer }

export type ApiClient = {
  get(path: string, options?: Options): Promise<Reply>
  post(path: string, body?: unknown, options?: Options): Promise<Reply>
  put(path: string, body?: unknown, options?: Options): Promise<Reply>
  send(method: string, path: string, body?: unknown, options?: Options): Promise<Reply>
  /** The same service seen with other headers. */
  as(headers: Readonly<Record<string, string>>): ApiClient
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 })

/** Real HTTP. `raw` sends bytes as they are; a body is sent as JSON. */
export function apiClient(port: number, base: Readonly<Record<string, string>> = {}): ApiClient {
  const send = (method: string, path: string, body?: unknown, options: Options = {}): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const payload = options.raw ?? (body === undefined ? undefined : JSON.stringify(body))
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const length = payload === undefined ? {} : { 'content-length': String(Buffer.byteLength(payload)) }
      const headers = { ...type, ...length, ...base, ...options.headers }
      const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk) => chunks.push(chunk))
        answer.on('end', () => resolve(replyFrom(answer.statusCode!, answer.headers, Buffer.concat(chunks))))
        answer.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(payload)
    })
  return {
    get: (path, options) => send('GET', path, undefined, options),
    post: (path, body, options) => send('POST', path, body, options),
    put: (path, body, options) => send('PUT', path, body, options),
    send,
    as: (headers) => apiClient(port, { ...base, ...headers }),
  }
}

function replyFrom(http: number, headers: Reply['headers'], bytes: Buffer): Reply {
  const text = bytes.toString('utf8')
  const json = String(headers['content-type'] ?? '').startsWith('application/json') && text !== ''
  return { http, headers, text, body: json ? JSON.parse(text) : bytes }
}
