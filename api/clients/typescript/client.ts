// The client of the Loyalty API: openapi-fetch with the types of schema.gen.ts, and what every
// program needs on top: a token, timeouts, safe retries, and refusals as errors.
import { randomUUID } from 'node:crypto'
import createClient, { defaultPathSerializer } from 'openapi-fetch'
import type { components, paths } from './schema.gen.js'

export type Schemas = components['schemas']

export interface Options {
  /** Address of the installation, such as https://loyalty.example, with or without /api/v1. Always https. */
  baseUrl: string
  token: string
  /** Milliseconds that one attempt may take. */
  timeout?: number
  /** Seconds to wait before each retry, at least Retry-After. */
  waits?: number[]
  /** Seconds of Retry-After that a call waits at most. */
  maxRetryAfter?: number
  /** Called with what the headers of each response say, also before it is retried or thrown as a problem. */
  onResponse?: (details: Details, request: Request) => void
}

/** What the headers of a response say. */
export interface Details {
  status: number
  /** Quote it when you contact support. */
  requestId: string | null
  /** True for the stored response to an idempotency key: the request was executed before. */
  replayed: boolean
  /** Requests left until `reset`; null if the response doesn't say. */
  remaining: number | null
  reset: Date | null
  /** The version of a record or page, for If-Match and If-None-Match. */
  etag: string | null
  /** The request will be removed, from `sunset` on. */
  deprecated: boolean
  sunset: Date | null
}

/** A response that isn't a success (RFC 7807). Check `code` to recognise a business rule. */
export class Problem extends Error {
  readonly status: number
  readonly code: string | undefined
  readonly errors: Record<string, string[]> | undefined
  readonly requestId: string | null
  /** All that the response says. */
  readonly document: Schemas['Problem']

  constructor(document: Schemas['Problem'], requestId: string | null) {
    super(document.detail)
    this.name = 'Problem'
    this.status = document.status
    this.code = document.code
    this.errors = document.errors
    this.requestId = requestId
    this.document = document
  }
}

/**
 * Creates a client. Its methods take the paths of the reference, and throw Problem if refused, and
 * TypeError, at once, for what can't be sent. Redirects aren't followed: the token goes to baseUrl alone.
 */
export function createLoyaltyClient(options: Options) {
  const client = createClient<paths>({
    baseUrl: address(options.baseUrl),
    // A parameter that the API doesn't know is refused: an ignored filter would list everything.
    headers: { Authorization: `Bearer ${visible(options.token)}`, Prefer: 'handling=strict' },
    pathSerializer,
    fetch: (request) => sendWithRetries(request, options),
  })
  client.use({
    // Without a key of your own, retries within one call are still safe.
    onRequest({ request, schemaPath }) {
      if (request.method === 'POST' && schemaPath !== '/api/v1/tokens' && !request.headers.has('Idempotency-Key')) {
        request.headers.set('Idempotency-Key', randomUUID())
      }
      return request
    },
    async onResponse({ request, response }) {
      const isEmpty = response.status === 204 || request.method === 'HEAD'
      if (!response.ok || !(isEmpty || await isJSON(response))) throw await problem(response)
    },
  })
  return client
}

/** What a call returns. */
type Result<Content> = [NonNullable<Content>] extends [never] ? undefined : NonNullable<Content>

/** Waits for a call and returns its content: undefined if it has none (204). */
export async function result<Content>(call: Promise<{ data?: Content }>): Promise<Result<Content>> {
  return (await call).data as Result<Content>
}

/** Returns what the headers of a call's response say: `details((await loyalty.GET(…)).response)`. */
export function details({ status, headers }: Response): Details {
  return {
    status,
    requestId: headers.get('X-Request-Id'),
    replayed: headers.get('Idempotent-Replayed') === 'true',
    remaining: count(headers.get('X-RateLimit-Remaining')),
    reset: date((count(headers.get('X-RateLimit-Reset')) ?? NaN) * 1000),
    etag: headers.get('ETag'),
    deprecated: headers.has('Deprecation'),
    sunset: date(headers.get('Sunset') ?? NaN),
  }
}

/** A page of a list. The `meta` of a list of changes says where to go on later. */
interface PageOf<Item> {
  data: Item[]
  links: { next: string | null }
}

/** Reads the pages of a list. The call gets the cursor of the page to read. */
export async function* pages<Page extends PageOf<unknown>>(
  call: (cursor?: string) => Promise<{ data?: Page }>,
): AsyncGenerator<Page> {
  let cursor: string | undefined
  do {
    const page = (await result(call(cursor))) as Page
    yield page
    const { next } = page.links
    cursor = (next !== null && new URL(next).searchParams.get('cursor')) || undefined
  } while (cursor !== undefined)
}

/** Yields the records of all pages of a list. The call gets the cursor of the page to read. */
export async function* records<Item>(
  call: (cursor?: string) => Promise<{ data?: PageOf<Item> }>,
): AsyncGenerator<Item> {
  for await (const page of pages(call)) yield* page.data
}

async function sendWithRetries(request: Request, options: Options): Promise<Response> {
  const { timeout = 10_000, waits = [1, 2, 4, 8], maxRetryAfter = 120, onResponse } = options
  const repeatable = request.method !== 'POST' || request.headers.has('Idempotency-Key')
  for (let attempt = 0; ; attempt++) {
    const wait = waits[attempt]
    const got = await send(request, timeout).catch((error: unknown) => {
      if (!repeatable || wait === undefined || isFinal(error)) throw error
    })
    let asked = 0
    if (got) {
      onResponse?.(details(got), request)
      // A request above a limit wasn't executed; one that failed may have been.
      const again = got.status === 429 || (repeatable && (got.status === 409 || got.status >= 500))
      if (!again || wait === undefined) return got
      asked = Math.min(secondsAsked(got.headers), maxRetryAfter)
    }
    const seconds = Math.max(wait ?? 0, asked) * (1.1 + Math.random() / 10)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }
}

async function send(request: Request, timeout: number): Promise<Response> {
  const response = await fetch(new Request(request.clone(), { redirect: 'manual', signal: AbortSignal.timeout(timeout) }))
  // Reads the whole body, so that a connection that breaks here is retried, too.
  const body = await response.arrayBuffer()
  return new Response(body.byteLength === 0 ? null : body, response)
}

/** Returns the seconds that Retry-After asks for, which a proxy may send as a date: by the server's own clock, if it tells. */
function secondsAsked(headers: Headers): number {
  const after = headers.get('Retry-After') ?? ''
  if (/^\d+$/.test(after)) return Number(after)
  const now = date(headers.get('Date') ?? NaN)?.getTime() ?? Date.now()
  return Math.max(0, ((date(after)?.getTime() ?? now) - now) / 1000)
}

/** Reads a date. All dates of HTTP are in UTC, and the oldest form doesn't say so. */
function date(text: string | number): Date | null {
  const read = new Date(typeof text === 'number' || text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(read.getTime()) ? null : read
}

function count(text: string | null): number | null {
  return /^\d+$/.test(text ?? '') ? Number(text) : null
}

/** Returns the address that paths are added to. */
function address(baseUrl: string): string {
  if (!/^https:\/\/[^/\s?#@]+[^\s?#@]*$/i.test(baseUrl)) {
    throw new TypeError('baseUrl must be an https:// address, such as https://loyalty.example')
  }
  return baseUrl.replace(/(\/api\/v1)?\/*$/i, '')
}

/** Returns a token that a header can have. The message doesn't repeat it. */
function visible(token: string): string {
  if (!/^[!-~]+$/.test(token.trim())) throw new TypeError('token must be characters of ASCII, without line breaks')
  return token.trim()
}

/** Escapes the arguments of a path, so that they can't lead to another path. */
function pathSerializer(path: string, args: Record<string, unknown> = {}): string {
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    const argument = String(args[name] ?? '')
    if (['', '.', '..'].includes(argument)) throw new TypeError(`${name} isn't an identifier: "${argument}"`)
  }
  return defaultPathSerializer(path, args)
}

/** Reports whether a retry would fail, too: a certificate that isn't trusted stays the same. */
function isFinal(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined
  return /CERT|SIGNATURE|INVALID_CA|HOSTNAME/.test(String(cause?.code))
}

async function isJSON(response: Response): Promise<boolean> {
  return response.clone().json().then(() => true, () => false)
}

async function problem(response: Response): Promise<Problem> {
  const { status, statusText, headers } = response
  const detail = statusText || `HTTP status ${status}`
  const document: Schemas['Problem'] = { type: 'about:blank', title: detail, status, detail }
  const target = headers.get('Location')
  if (status < 300) {
    document.detail = 'The response is not JSON: a proxy may have sent it. Check baseUrl.'
  } else if (status < 400 && target !== null) {
    document.detail = `Redirected to ${target}. Not followed, to keep the token here. Check baseUrl.`
  } else {
    const sent: unknown = await response.json().catch(() => null) // a proxy in between may have responded
    if (isProblem(sent)) Object.assign(document, sent, { status })
  }
  return new Problem(document, headers.get('X-Request-Id'))
}

function isProblem(sent: unknown): sent is Schemas['Problem'] {
  return typeof sent === 'object' && sent !== null && 'detail' in sent && typeof sent.detail === 'string'
}
