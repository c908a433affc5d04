// The client of the Loyalty API: openapi-fetch with the types of schema.gen.ts, and what every
// program needs on top: a token, timeouts, safe retries, and refusals as errors.
import { randomUUID } from 'node:crypto'
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.gen.js'

export type Schemas = components['schemas']

export interface Options {
  /** Address of the installation, such as https://loyalty.example. */
  baseUrl: string
  token: string
  /** Milliseconds that one attempt may take. */
  timeout?: number
  /** Seconds to wait before each retry, at least Retry-After. */
  waits?: number[]
}

/** A response from status 400 (RFC 7807). Check `code` to recognise a business rule. */
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

/** Creates a client. Its methods take the paths of the reference, and throw Problem if refused. */
export function createLoyaltyClient({ baseUrl, token, timeout = 10_000, waits = [1, 2, 4, 8] }: Options) {
  const client = createClient<paths>({
    baseUrl,
    headers: { Authorization: `Bearer ${token}` },
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
      if (!response.ok) throw new Problem(await response.json(), response.headers.get('X-Request-Id'))
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
      asked = Number(response.headers.get('Retry-After') ?? 0)
    } catch (error) {
      if (!repeatable) throw error
    }
    const seconds = Math.max(wait, asked) * (1.1 + Math.random() / 10)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }
  return send(request, timeout)
}

async function send(request: Request, timeout: number): Promise<Response> {
  const response = await fetch(new Request(request.clone(), { signal: AbortSignal.timeout(timeout) }))
  // Reads the whole body, so that a connection that breaks here is retried, too.
  const body = await response.arrayBuffer()
  return new Response(body.byteLength === 0 ? null : body, response)
}
