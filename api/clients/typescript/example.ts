// The main job with the client: find or add a customer, record a sale, redeem a reward, read the
// sales. Tests run it against a server.
import assert from 'node:assert/strict'
import { createLoyaltyClient, Problem, records, result } from './client.js'

const { LOYALTY_URL = '', LOYALTY_TOKEN = '', TRANSACTION_TYPE = '1', REWARD = '' } = process.env
const loyalty = createLoyaltyClient({ baseUrl: LOYALTY_URL, token: LOYALTY_TOKEN })

const { data: customer } = await result(loyalty.POST('/api/v1/customers', {
  body: { first_name: 'Tove', last_name: 'Dahl', phone: '08-465 004 13' },
}))

// The key names the sale: a retry gets the first response again.
const record = (receipt: string, cents: number) => result(loyalty.POST('/api/v1/transactions', {
  params: { header: { 'Idempotency-Key': receipt } },
  body: {
    customer_ulid: customer.ulid, transaction_type_id: Number(TRANSACTION_TYPE),
    spend_amount_cents: cents,
  },
}))
const { data: sale } = await record('typescript-1', 6000)
assert.deepEqual((await record('typescript-1', 6000)).data, sale)
assert.equal(sale.points_awarded, 60)
await record('typescript-2', 100)
await record('typescript-3', 100)

const { data: redemption } = await result(loyalty.POST('/api/v1/redemptions', {
  body: { customer_ulid: customer.ulid, reward_ulid: REWARD },
}))
const fulfil = () => result(loyalty.POST('/api/v1/redemptions/{ulid}/fulfil', {
  params: { path: { ulid: redemption.ulid } },
}))
assert.equal((await fulfil()).data.status, 'fulfilled')

// A business rule that refuses has a code, an invalid field an error.
const isProblem = (code?: string) => (error: unknown) =>
  error instanceof Problem && error.status === 422 && error.code === code
await assert.rejects(fulfil(), isProblem('already-fulfilled'))
await assert.rejects(record('typescript-1', 7000), isProblem('idempotency-key-reused'))
await assert.rejects(result(loyalty.POST('/api/v1/customers', {
  body: { first_name: '', last_name: 'Dahl', phone: '08-465 004 13' },
})), (error) => isProblem()(error) && (error as Problem).errors?.['first_name']?.length === 1)

// Two a page, newest first.
const sales: string[] = []
for await (const each of records((cursor) => loyalty.GET('/api/v1/customers/{ulid}/transactions', {
  params: { path: { ulid: customer.ulid }, query: { per_page: 2, ...(cursor && { cursor }) } },
}))) {
  sales.push(each.ulid)
}
assert.equal(sales.length, 3)
assert.equal(sales[2], sale.ulid)

const { data: now } = await result(loyalty.GET('/api/v1/customers/{ulid}', {
  params: { path: { ulid: customer.ulid } },
}))
console.log(`${now.first_name} ${now.last_name}: ${now.points_balance} points`)
