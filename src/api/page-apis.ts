import type { FastifyInstance } from 'fastify'
import { createSessions, operatorTimes, panelTimes, type Sessions } from '../modules/account/index.ts'
import type { RegisterContext } from '../modules/simulator/index.ts'
import { pageCookie } from '../platform/http/cookies.ts'
import { operatorSessionRoutes } from './operator-session.routes.ts'
import { guardPages } from './page-guard.ts'
import { sessionCredentials } from './page-sessions.ts'
import { panelSessionRoutes, passwordRoutes } from './panel-session.routes.ts'
import { createRateLimiter } from './rate-limit.ts'
import { registerPageRoutes } from './register.routes.ts'

type Routes = (app: FastifyInstance) => Promise<void>

export type PageApisContext = RegisterContext & {
  readonly publicUrl: string
  readonly environment: 'sandbox' | 'production'
  readonly processes: number
  readonly operatorToken: string
  /** The routes of the API, written once: a session opens them here as credentials do there. */
  readonly merchantRoutes: Routes
  readonly operatorRoutes: Routes
  /** What only the panel has. */
  readonly panelRoutes: (sessions: Sessions) => readonly Routes[]
  readonly phoneRoutes: Routes
}

/** What our own pages call: `/register/api`, `/panel/api/…`, `/operator/api/…`, `/phone/api/…`. */
export function pageApis(context: PageApisContext): Routes {
  const { publicUrl, environment, operatorToken } = context
  const panel = {
    cookie: pageCookie('quitado-panel', publicUrl),
    sessions: createSessions(context, { whose: 'merchant', times: panelTimes }),
  }
  const operator = {
    cookie: pageCookie('quitado-operator', publicUrl),
    sessions: createSessions(context, { whose: 'operator', times: operatorTimes, boundTo: operatorToken }),
  }
  const rateLimiter = createRateLimiter(context.clock, context.processes)

  /** Before the session and behind it. */
  const page =
    (before: Routes, credentials: ReturnType<typeof sessionCredentials>, behind: readonly Routes[]): Routes =>
    async (app) => {
      guardPages(app, publicUrl)
      await app.register(before)
      await app.register(async (inside) => {
        inside.addHook('onRequest', credentials)
        for (const routes of behind) await inside.register(routes)
      })
    }

  return async (root) => {
    await root.register(
      page(panelSessionRoutes({ ...context, ...panel }), sessionCredentials(panel, rateLimiter), [
        passwordRoutes(context),
        ...context.panelRoutes(panel.sessions),
        context.merchantRoutes,
      ]),
      { prefix: '/panel/api' },
    )
    await root.register(
      page(operatorSessionRoutes({ ...context, ...operator }), sessionCredentials(operator, rateLimiter), [
        context.operatorRoutes,
      ]),
      { prefix: '/operator/api' },
    )
    // What only a sandbox has does not exist in production.
    if (environment !== 'sandbox') return
    await root.register(
      async (app) => {
        guardPages(app, publicUrl)
        await app.register(registerPageRoutes({ ...context, ...panel }))
      },
      { prefix: '/register/api' },
    )
    await root.register(
      async (app) => {
        guardPages(app, publicUrl)
        await app.register(context.phoneRoutes)
      },
      { prefix: '/phone/api' },
    )
  }
}
