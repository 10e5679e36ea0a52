/** What the pages may call: always this very host, always by the session's cookie. */
export type ApiPath =
  | `/panel/api${string}`
  | `/operator/api${string}`
  | `/phone/api${string}`
  | `/pay/api${string}`
  | '/register/api'

export type ApiCause = { readonly field?: string; readonly message?: string; readonly code?: string }

/** A refusal of the service, or no answer at all (`http` is 0). */
export class ApiError extends Error {
  readonly http: number
  readonly causes: readonly ApiCause[]
  readonly retryAfterSeconds: number | undefined

  constructor(http: number, message: string, causes: readonly ApiCause[] = [], retryAfterSeconds?: number) {
    super(message)
    this.http = http
    this.causes = causes
    this.retryAfterSeconds = retryAfterSeconds
  }

  /** What is wrong with a field, in the service's words. */
  of(field: string): string | undefined {
    const cause = this.causes.find((one) => one.field === field)
    return cause && (cause.message ?? cause.code)
  }

  has(code: string): boolean {
    return this.causes.some((cause) => cause.code === code || cause.message === code)
  }
}

export type ApiOptions = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: unknown
  /** Sent as Idempotency-Key: a second click then has no second effect. */
  readonly key?: string
  readonly signal?: AbortSignal
}

/** The header that a page of another site cannot send: the service refuses a cookie without it. */
const PAGE_HEADER = { 'x-quitado-page': '1' }

export async function api<Answer>(path: ApiPath, options: ApiOptions = {}): Promise<Answer> {
  const { method = 'GET', body, key, signal } = options
  const request: RequestInit = {
    method,
    credentials: 'same-origin',
    cache: 'no-store',
    redirect: 'error',
    headers: {
      ...PAGE_HEADER,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }
  const answer = await fetch(path, request).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'no answer from the service')
  })
  const content: unknown = answer.status === 204 ? undefined : await answer.json().catch(() => undefined)
  if (answer.ok) return content as Answer
  throw errorFrom(answer, content)
}

function errorFrom(answer: Response, content: unknown): ApiError {
  const { message, errors } = (content ?? {}) as { message?: unknown; errors?: unknown }
  const wait = Number(answer.headers.get('retry-after') ?? Number.NaN)
  return new ApiError(
    answer.status,
    typeof message === 'string' ? message : `${answer.status}`,
    Array.isArray(errors) ? (errors as ApiCause[]) : [],
    Number.isFinite(wait) ? wait : undefined,
  )
}
