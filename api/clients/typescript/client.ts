// The client of the Loyalty API: openapi-fetch with the types of schema.gen.ts, and what every
// program needs on top: a token, timeouts, safe retries, and refusals as errors.
import { randomUUID } from 'node:crypto'
import createClient, { defaultPathSerializer } from 'openapi-fetch'
import type { components, paths } from './schema.gen.js'

export type Schemas = components['schemas']

export interface Options {
  /** Address of the installation, such as https://loyalty.example. Always https. */
  baseUrl: string
  token: string
  /** Milliseconds that one attempt may take. */
  timeout?: number
  /** Seconds to wait before each retry, at least Retry-After. */
  waits?: number[]
}

/** A response that isn't a success (RFC 7807). Check `code` to recognise a business rule. */
export class Problem extends Error {
  readonly status: number
  readonly code: string | undefined
  readonly errors: Record<string, string[]> | undefined
  readonly requestId: string | null

  constructor(document: Schemas['Problem'], requestId: string | null) {
    super(document.detail)
    this.name = 'Problem'
    this.status = document.status
    this.code = document.code
    this.errors = document.errors
    this.requestId = requestId
  }
}

/**
 * Creates a client. Its methods take the paths of the reference, and throw Problem if refused, and
 * TypeError, at once, for what can't be sent. Redirects aren't followed: the token goes to baseUrl alone.
 */
export function createLoyaltyClient({ baseUrl, token, timeout = 10_000, waits = [1, 2, 4, 8] }: Options) {
  const client = createClient<paths>({
    baseUrl: address(baseUrl),
    headers: { Authorization: `Bearer ${visible(token)}` },
    pathSerializer,
    fetch: (request) => sendWithRetries(request, timeout, waits),
  })
  client.use({
    // Without a key of your own, retries within one call are still safe.
    onRequest({ request, schemaPath }) {
      if (request.method === 'POST' && schemaPath !== '/api/v1/tokens' && !request.headers.has('Idempotency-Key')) {
        request.headers.set('Idempotency-Key', randomUUID())
      }
      return request
    },
    async onResponse({ response }) {
      if (!response.ok) throw await problem(response)
    },
  })
  return client
}

/** Waits for a call and returns its content. */
export async function result<Content>(call: Promise<{ data?: Content }>): Promise<NonNullable<Content>> {
  const { data } = await call
  if (data == null) throw new Error('the response has no content')
  return data
}

/** Yields the records of all pages of a list. The call gets the cursor of the page to read. */
export async function* records<Item>(
  call: (cursor?: string) => Promise<{ data?: { data: Item[]; meta: Schemas['PageMeta'] } }>,
): AsyncGenerator<Item> {
  let cursor: string | undefined
  do {
    const page = await result(call(cursor))
    yield* page.data
    cursor = page.meta.next_cursor ?? undefined
  } while (cursor !== undefined)
}

async function sendWithRetries(request: Request, timeout: number, waits: number[]): Promise<Response> {
  // Without a response, the request may have been executed.
  const repeatable = request.method !== 'POST' || request.headers.has('Idempotency-Key')
  for (const wait of waits) {
    let asked = 0
    try {
      const response = await send(request, timeout)
      if (response.status !== 409 && response.status !== 429 && response.status < 500) return response
      asked = Number(response.headers.get('Retry-After')) || 0 // proxies may send a date
    } catch (error) {
      if (!repeatable || isFinal(error)) throw error
    }
    const seconds = Math.max(wait, asked) * (1.1 + Math.random() / 10)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }
  return send(request, timeout)
}

async function send(request: Request, timeout: number): Promise<Response> {
  const response = await fetch(new Request(request.clone(), { redirect: 'manual', signal: AbortSignal.timeout(timeout) }))
  // Reads the whole body, so that a connection that breaks here is retried, too.
  const body = await response.arrayBuffer()
  return new Response(body.byteLength === 0 ? null : body, response)
}

/** Returns the address that paths are added to. */
function address(baseUrl: string): string {
  if (!/^https:\/\/[^/\s?#@]+[^\s?#@]*$/i.test(baseUrl)) {
    throw new TypeError('baseUrl must be an https:// address, such as https://loyalty.example')
  }
  return baseUrl
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

async function problem(response: Response): Promise<Problem> {
  const { status, statusText, headers } = response
  let document: Schemas['Problem'] = { type: 'about:blank', title: statusText, status, detail: statusText }
  if (status < 400) {
    const target = headers.get('Location') ?? 'another address'
    document.detail = `Redirected to ${target}. Not followed, to keep the token here. Check baseUrl.`
  } else {
    document = await response.json().catch(() => document) // a proxy in between may have responded
  }
  return new Problem(document, headers.get('X-Request-Id'))
}
