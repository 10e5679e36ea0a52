import { createServer, type Socket } from 'node:net'

/**
 * A merchant's endpoint on bare sockets: it answers 200 at once and keeps when each notification arrived, or with the
 * argument `count` only how many did. Forked, so that it shares no event loop with what is measured.
 */
type Asked = { readonly type: 'forget' | 'report' | 'count' }

const keeps = process.argv[2] !== 'count'
let arrivals = new Map<string, number>()
let calls = 0
let first = 0
let last = 0

const now = () => performance.timeOrigin + performance.now()
const HEADERS_END = Buffer.from('\r\n\r\n')
const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: text/plain\r\n\r\nok')
const ID = Buffer.from('webhook-id: ')
const LENGTH = Buffer.from('content-length: ')

function idIn(request: Buffer): string {
  const at = request.indexOf(ID) + ID.length
  return request.toString('latin1', at, at + 36)
}

function serve(socket: Socket): void {
  let rest: Buffer = Buffer.alloc(0)
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      const end = rest.indexOf(HEADERS_END)
      if (end < 0) return
      const at = rest.indexOf(LENGTH) + LENGTH.length
      const length = Number(rest.toString('latin1', at, rest.indexOf(13, at)))
      const whole = end + HEADERS_END.length + length
      if (rest.length < whole) return
      last = now()
      if (calls === 0) first = last
      calls += 1
      if (keeps) arrivals.set(idIn(rest), last)
      rest = rest.subarray(whole)
      socket.write(ANSWER)
    }
  })
}

const server = createServer(serve)
server.listen(0, '127.0.0.1', 1_024, () => process.send?.({ port: (server.address() as { port: number }).port }))
process.on('disconnect', () => process.exit(0))
process.on('message', ({ type }: Asked) => {
  if (type === 'count') process.send?.({ calls })
  else if (type === 'report') process.send?.({ calls, first, last, arrivals: [...arrivals] })
  else {
    arrivals = new Map()
    calls = 0
    process.send?.({})
  }
})
