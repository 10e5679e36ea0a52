import { randomUUID } from 'node:crypto'
import type { TestService } from './test-service.ts'

/** Paths of the router's own tree. */
export function registeredPaths(it: TestService): string[] {
  const parents: string[] = []
  return it.service.app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .filter((line) => line.includes('──'))
    .map((line) => {
      const [, indent, part] = /^([│ ]*)[├└]── (\S+) \(/.exec(line)!
      const depth = indent!.length / 4
      parents.splice(depth, parents.length, part!)
      return parents
        .join('')
        .replaceAll('//', '/')
        .replace(/^(?=[^/])/, '/')
    })
}

/** With an id that nothing has in each of its places. */
export const concrete = (path: string): string => path.replaceAll(/\{\w+\}|:\w+/g, () => randomUUID())

export type Route = { readonly method: string; readonly path: string }

/** Every route below these, method by method; a GET that counts as a change among them. */
export async function routesBelow(it: TestService, prefix: string): Promise<Route[]> {
  const routes: Route[] = []
  for (const path of new Set(registeredPaths(it).map((one) => one.replaceAll(/\|:\w+/g, '')))) {
    if (!path.startsWith(prefix) || path.includes('*')) continue
    const { headers } = await it.api.send('OPTIONS', concrete(path))
    if (headers['allow'] === undefined) continue
    for (const method of String(headers['allow']).split(', ')) if (method !== 'HEAD') routes.push({ method, path })
  }
  return routes
}
