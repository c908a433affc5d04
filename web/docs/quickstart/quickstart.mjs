// Records a sale. Run it twice: the receipt is recorded once.
import { setTimeout as sleep } from 'node:timers/promises'

const api = 'https://localhost:8443/api/v1'
const waits = [1, 2, 4, 8] // seconds
const longest = 120 // seconds of Retry-After

class Problem extends Error {
  constructor({ detail, status, code, errors }) {
    super(detail)
    Object.assign(this, { status, code, errors })
  }
}

// Sends a request, and repeats it with the same key while that can help.
async function post(path, body, key) {
  for (let attempt = 0; ; attempt++) {
    let response, failure
    try {
      response = await fetch(api + path, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${process.env.LOYALTY_TOKEN}`,
          'Content-Type': 'application/json',
          ...(key && { 'Idempotency-Key': key }),
        },
        body: JSON.stringify(body),
        redirect: 'error', // the token goes to no other address
        signal: AbortSignal.timeout(10_000),
      })
      const text = await response.text()
      if (response.ok) return JSON.parse(text).data
      failure = new Problem(documentOf(text, response))
    } catch (error) {
      failure = error // no response: the sale may have been recorded
    }
    const status = failure.status ?? 0
    if (status && status !== 409 && status !== 429 && status < 500) throw failure
    if (attempt === waits.length) throw failure
    const wait = Math.max(waits[attempt], status ? secondsAsked(response) : 0)
    await sleep(wait * 1000 * (1.1 + Math.random() / 10))
  }
}

// A proxy in between may respond with a page.
function documentOf(text, { status }) {
  try {
    return { ...JSON.parse(text), status }
  } catch {
    return { detail: `HTTP status ${status}`, status }
  }
}

// Retry-After has seconds, or from a proxy a date.
function secondsAsked({ headers }) {
  const after = headers.get('Retry-After') ?? ''
  const seconds = /^\d+$/.test(after) ? after : (Date.parse(after) - Date.now()) / 1000
  return Math.min(seconds || 0, longest)
}

try {
  // Finds the customer by phone, or adds them.
  const customer = await post('/customers', {
    first_name: 'Elsa', last_name: 'Berg', phone: '08-465 004 12',
  })
  // The key names this sale. Sent again with it, the sale is not recorded again.
  const sale = await post('/transactions', {
    customer_ulid: customer.ulid, transaction_type_id: 1, spend_amount_cents: 1250,
  }, 'receipt-4711')
  console.log(`Recorded sale ${sale.ulid}: ${sale.points_awarded} points`)
} catch (error) {
  process.exitCode = 1
  switch (error.code) {
    case 'idempotency-key-reused':
      console.error('Receipt 4711 was recorded before, with other details.')
      break
    default:
      console.error(error.message, error.errors ?? '')
  }
}
