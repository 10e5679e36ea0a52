import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { pagesFolder } from './pages-folder.ts'

type Encoding = 'br' | 'gzip' | 'identity'
type Content = { readonly etag: string; readonly bytes: Buffer }
type File = { readonly type: string; readonly contents: Readonly<Partial<Record<Encoding, Content>>> }
type Pages = { readonly html: File; readonly assets: ReadonlyMap<string, File> }

type Face = {
  /** Whether addresses below it are its own. */
  readonly deep: boolean
  readonly sandboxOnly: boolean
}

/** What is served, by its first path segment. `panel/src/faces.ts` has a folder for each. */
const faces: Readonly<Record<string, Face>> = {
  register: { deep: false, sandboxOnly: true },
  pay: { deep: true, sandboxOnly: false },
  panel: { deep: true, sandboxOnly: false },
  phone: { deep: true, sandboxOnly: true },
  operator: { deep: true, sandboxOnly: false },
}
/** Below a face, these are no pages: what is unknown there is the 404 of an API. */
const notPages = new Set(['api', 'v1'])

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

export const securityHeaders = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

const hidden = { schema: { hide: true } }

/** The web: one html for every face, and the files that it loads. */
export function pageRoutes({ env, folder = pagesFolder }: { env: Config['env']; folder?: string }) {
  // Read when the first page is asked for, and kept: pages change with a start only.
  let kept: Pages | undefined
  const pages = (): Pages | undefined => {
    kept ??= readPages(folder, env)
    return kept
  }
  const html = async (request: FastifyRequest, reply: FastifyReply) => {
    const found = pages()
    return found === undefined ? unbuilt(reply) : send(request, reply, found.html, 'no-cache')
  }

  return async (app: FastifyInstance) => {
    app.get('/', hidden, html)
    for (const [name, { deep, sandboxOnly }] of Object.entries(faces)) {
      if (sandboxOnly && env !== 'sandbox') continue
      app.get(`/${name}`, hidden, html)
      if (!deep) continue
      app.get<{ Params: { '*': string } }>(`/${name}/*`, hidden, async (request, reply) =>
        notPages.has(request.params['*'].split('/')[0]!) ? reply.callNotFound() : html(request, reply),
      )
    }
    app.get<{ Params: { '*': string } }>('/assets/*', hidden, async (request, reply) => {
      const file = pages()?.assets.get(request.params['*'])
      if (file === undefined) return reply.callNotFound()
      // The name of an asset has the hash of its content.
      return send(request, reply, file, 'public, max-age=31536000, immutable')
    })
  }
}

function readPages(folder: string, env: Config['env']): Pages | undefined {
  try {
    const template = readFileSync(join(folder, 'index.html'), 'utf8')
    const page = Buffer.from(
      template.replace('name="quitado-env" content="sandbox"', `name="quitado-env" content="${env}"`),
    )
    const names = globSync('*', { cwd: join(folder, 'assets') }).filter((name) => types[extname(name)] !== undefined)
    return {
      html: {
        type: 'text/html; charset=utf-8',
        contents: {
          identity: contentOf(page),
          br: contentOf(brotliCompressSync(page)),
          gzip: contentOf(gzipSync(page)),
        },
      },
      assets: new Map(names.map((name) => [name, readFile(join(folder, 'assets', name))])),
    }
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}

/** With what the build compressed beside it. */
function readFile(path: string): File {
  const [br, gzip] = [readIfThere(`${path}.br`), readIfThere(`${path}.gz`)]
  return {
    type: types[extname(path)]!,
    contents: {
      identity: contentOf(readFileSync(path)),
      ...(br && { br: contentOf(br) }),
      ...(gzip && { gzip: contentOf(gzip) }),
    },
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

const contentOf = (bytes: Buffer): Content => ({
  bytes,
  etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
})

function send(request: FastifyRequest, reply: FastifyReply, file: File, cacheControl: string): FastifyReply {
  const encoding = encodingFor(request, file)
  const { bytes, etag } = file.contents[encoding]!
  reply.headers({ ...securityHeaders, 'cache-control': cacheControl, etag, vary: 'accept-encoding' })
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (known.includes(etag)) return reply.code(304).removeHeader('content-encoding').send()
  return reply.type(file.type).send(bytes)
}

function encodingFor(request: FastifyRequest, file: File): Encoding {
  const accepted = String(request.headers['accept-encoding'] ?? '')
    .split(',')
    .filter((one) => !/;\s*q=0(\.0*)?\s*$/.test(one))
    .map((one) => one.split(';')[0]!.trim())
  return (['br', 'gzip'] as const).find((one) => file.contents[one] && accepted.includes(one)) ?? 'identity'
}

const unbuilt = (reply: FastifyReply): FastifyReply =>
  reply
    .code(503)
    .headers({ ...securityHeaders, 'cache-control': 'no-store' })
    .type('text/plain; charset=utf-8')
    .send('The pages were not built; the log of the start says why. The API works.\n')
