import type { FastifyReply, FastifyRequest } from 'fastify'

export type Cookie = {
  read(request: FastifyRequest): string | undefined
  set(reply: FastifyReply, value: string, maxAgeSeconds: number): void
  clear(reply: FastifyReply): void
}

/**
 * A cookie that no script reads and no other site sends. Over https its name begins with `__Host-`: browsers then take
 * it from this very host only, so that a neighbour under the same domain cannot plant one.
 */
export function pageCookie(name: string, publicUrl: string): Cookie {
  const secure = publicUrl.startsWith('https:')
  const fullName = secure ? `__Host-${name}` : name
  const attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  const put = (reply: FastifyReply, value: string, maxAgeSeconds: number) =>
    void reply.header('set-cookie', `${fullName}=${value}; Max-Age=${maxAgeSeconds}; ${attributes}`)
  return {
    read({ headers }) {
      const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
      const found = pairs.find((pair) => pair.startsWith(`${fullName}=`))
      return found?.slice(fullName.length + 1)
    },
    set: put,
    clear: (reply) => put(reply, '', 0),
  }
}
