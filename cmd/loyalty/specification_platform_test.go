package main

import "strings"

const (
	tenantIs = `{"id":{tenant},"name":"Sandbox A","slug":"{slug}","email":"owner@{slug}.example","plan_id":1,"billing_cycle":"monthly","payment_method":"manual",` +
		`"status":"active","timezone":"UTC","currency":"EUR","country":"SE","created_at":"<time>"}`
	newTenant = `{"name":"Café Åro","slug":"{new_slug}","email":"owner@{new_slug}.example","plan_id":1,"billing_cycle":"monthly","payment_method":"manual"}`
	madeIs    = `{"id":<id>,"name":"Café Åro","slug":"{new_slug}","email":"owner@{new_slug}.example","plan_id":1,"billing_cycle":"monthly","payment_method":"manual",` +
		`"status":"active","timezone":"UTC","currency":"EUR","country":null,"created_at":"<time>"}`
	invoiceIs = `{"id":<id>,"number":null,"tenant_id":{new_tenant},"status":"draft","currency":"SEK","lines":[{"description":"Plan","quantity":2,"unit_cents":2450,"amount_cents":4900}],` +
		`"amount_cents":4900,"tax_cents":1225,"total_cents":6125,"period_start":"2026-05-01","period_end":"2026-05-31","issued_at":null,"due_at":null,"paid_at":null}`

	tenantSlug     = "| slug | string | Used in the tenant's admin host. |"
	tenantEmail    = "| email | string | Owner e-mail address. |"
	tenantPlan     = "| plan_id | integer | |"
	tenantCycle    = "| billing_cycle | string | A `monthly` cycle exists; other allowed values: not shown. |"
	tenantPayment  = "| payment_method | string | Names a payment provider; allowed values: not shown. |"
	tenantHasID    = "The response includes the tenant object, which has an `id` (integer)."
	tenantFields   = "Other fields of the tenant object: not shown."
	invoiceFields  = "Invoice and full tenant record fields: not shown."
	tenantList     = "| GET | /api/v1/platform/tenants | - | List of tenants. |"
	tenantCreate   = "| POST | /api/v1/platform/tenants | Tenant fields listed under Resources | Tenant object including `id`. |"
	tenantEdit     = "| PATCH | /api/v1/platform/tenants/{id} | Fields to update. | Tenant. |"
	invoiceList    = "| GET | /api/v1/platform/invoices | - | List of invoices. |"
	platformPages  = `"links":{"first":null,"last":null,"prev":null,"next":null},"meta":{"path":"{base}/api/v1/platform/`
	andNoOtherPage = `","per_page":100,"next_cursor":null,"prev_cursor":null}}`
)

func replaced(text, old, now string) string { return strings.Replace(text, old, now, 1) }

// creates is a request to create a tenant, with one field changed.
func creates(says, with, old, now string, status int, want string) sentence {
	return sentence{
		says: says, with: with, method: "POST", path: "/platform/tenants", as: "platform", body: replaced(newTenant, old, now), status: status, want: want,
	}
}

// billed creates an invoice for the new tenant.
func billed(v *visit) {
	v.t.Helper()
	connect(v.t, v.database).exec(`
		insert into loyalty.invoice (tenant_id, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end, created_at)
		values ($1::text::bigint, 'SEK', '[{"description": "Plan", "quantity": 2, "unit_cents": 2450, "amount_cents": 4900}]', 4900, 1225, 6125, '2026-05-01', '2026-05-31', now())`,
		v.fill("{new_tenant}"))
}

var platformSentences = []sentence{
	{
		says: "A create request carries:", with: "nothing", method: "POST", path: "/platform/tenants", as: "platform", body: `{}`, status: 422,
		want: invalid(`"billing_cycle":["The billing cycle field is required."],"email":["The email field is required."],"name":["The name field is required."],` +
			`"payment_method":["The payment method field is required."],"plan_id":["The plan id field is required."],"slug":["The slug field is required."]`),
	},
	creates("A create request carries:", "all of it", "", "", 201, one(madeIs)),
	creates("| name | string | Business name. |", "", "", "", 201, one(madeIs)),
	creates("| name | string | Business name. |", "no string", `"Café Åro"`, `5`, 422, invalid(`"name":["The name field must be a string."]`)),
	{says: tenantSlug, story: func(v *visit) {
		host := replaced(v.in.base, "localhost", v.fill("{slug}")+".localhost")
		v.is(v.ask("GET", host+"/api/v1/customers/{anna}", "", ""), 200, one(annaIs))
		if v.shop.PanelURL != host+"/admin" {
			v.t.Errorf("the panel is %s, want it on %s", v.shop.PanelURL, host)
		}
	}},
	creates(tenantSlug, "no name of a host", `"{new_slug}"`, `"no host"`, 422, invalid(`"slug":[<anything>]`)),
	creates(tenantSlug, "another tenant's", `"{new_slug}"`, `"{slug}"`, 422, invalid(`"slug":["The slug has already been taken."]`)),
	creates(tenantEmail, "no address", `"owner@{new_slug}.example"`, `"owner"`, 422, invalid(`"email":["The email field must be a valid email address."]`)),
	{says: tenantEmail, with: "who is invited", story: func(v *visit) {
		v.fill("{new_tenant}")
		d := connect(v.t, v.database)
		await(v.t, "the owner is mailed", func() bool {
			return ask[int](d, "select count(*) from loyalty.mail where recipient = $1", v.fill("owner@{new_slug}.example")) == 1
		})
	}},
	creates(tenantPlan, "no plan", `"plan_id":1`, `"plan_id":1000000`, 422, invalid(`"plan_id":["The selected plan id is invalid."]`)),
	creates(tenantPlan, "no integer", `"plan_id":1`, `"plan_id":"1"`, 422, invalid(`"plan_id":["The plan id field must be an integer."]`)),
	creates(tenantCycle, "monthly", "", "", 201, one(madeIs)),
	creates(tenantCycle, "yearly", "monthly", "yearly", 201, one(replaced(madeIs, "monthly", "yearly"))),
	creates(tenantCycle, "weekly", "monthly", "weekly", 422, invalid(`"billing_cycle":["The selected billing cycle is invalid."]`)),
	creates(tenantPayment, "manual", "", "", 201, one(madeIs)),
	creates(tenantPayment, "bank_transfer", "manual", "bank_transfer", 201, one(replaced(madeIs, "manual", "bank_transfer"))),
	creates(tenantPayment, "card", "manual", "card", 201, one(replaced(madeIs, "manual", "card"))),
	creates(tenantPayment, "stripe", "manual", "stripe", 201, one(replaced(madeIs, "manual", "stripe"))),
	creates(tenantPayment, "paypal", "manual", "paypal", 201, one(replaced(madeIs, "manual", "paypal"))),
	creates(tenantPayment, "another", "manual", "cowries", 422, invalid(`"payment_method":["The selected payment method is invalid."]`)),
	creates(tenantHasID, "", "", "", 201, one(madeIs)),
	{
		says: tenantFields, with: "those that are given", method: "POST", path: "/platform/tenants", as: "platform",
		body:   replaced(newTenant, `"manual"`, `"manual","timezone":"Europe/Stockholm","currency":"SEK","country":"SE"`),
		status: 201, want: one(replaced(replaced(replaced(madeIs, "UTC", "Europe/Stockholm"), "EUR", "SEK"), `null,"created_at"`, `"SE","created_at"`)),
	},
	{
		says: invoiceFields, with: "an invoice's", before: billed, method: "GET", path: "/platform/invoices?tenant_id={new_tenant}&per_page=100", as: "platform", status: 200,
		want: `{"data":[` + invoiceIs + `],` + platformPages + `invoices` + andNoOtherPage,
	},
	{says: invoiceFields, with: "a tenant's", method: "GET", path: "/platform/tenants?per_page=100", as: "platform", status: 200, want: `{"data":[<anything>` + tenantIs + `<anything>],<anything>}`},

	{
		says: tenantList, method: "GET", path: "/platform/tenants?per_page=100", as: "platform", status: 200,
		want: `{"data":[<anything>` + tenantIs + `<anything>],` + platformPages + `tenants` + andNoOtherPage,
	},
	creates(tenantCreate, "", "", "", 201, one(madeIs)),
	{
		says: tenantEdit, method: "PATCH", path: "/platform/tenants/{new_tenant}", as: "platform", body: `{"name":"Åro","payment_method":"card","slug":"elsewhere"}`, status: 200,
		want: one(replaced(replaced(replaced(madeIs, "<id>", "{new_tenant}"), "Café Åro", "Åro"), "manual", "card")),
	},
	{says: tenantEdit, with: "unknown", method: "PATCH", path: "/platform/tenants/9223372036854775807", as: "platform", body: `{"name":"Åro"}`, status: 404, want: notFound},
	{says: tenantEdit, with: "suspended", story: func(v *visit) {
		quiet := v.quiet()
		quiet.is(quiet.ask("GET", "/customers/{missing}", "", ""), 404, notFound)
		got := quiet.ask("PATCH", "/platform/tenants/{tenant}", "platform", `{"status":"suspended"}`)
		quiet.is(got, 200, one(replaced(replaced(tenantIs, "Sandbox A", "<anything>"), `"active"`, `"suspended"`)))
		quiet.is(quiet.ask("GET", "/customers/{missing}", "", ""), 401, unauthorized)
	}},
	{
		says: bodiesNotShown, with: "a tenant's update", method: "PATCH", path: "/platform/tenants/{new_tenant}", as: "platform",
		body: `{"name":5,"email":"owner","plan_id":null,"billing_cycle":"weekly","payment_method":"cowries","status":"gone"}`, status: 422,
		want: invalid(`"billing_cycle":["The selected billing cycle is invalid."],"email":["The email field must be a valid email address."],"name":["The name field must be a string."],` +
			`"payment_method":["The selected payment method is invalid."],"plan_id":["The plan id field is required."],"status":["The selected status is invalid."]`),
	},
	{
		says: invoiceList, before: billed, method: "GET", path: "/platform/invoices?per_page=100", as: "platform", status: 200,
		want: `{"data":[<anything>` + invoiceIs + `<anything>],` + platformPages + `invoices` + andNoOtherPage,
	},
	{
		says: invoiceList, with: "of a tenant that owes nothing", method: "GET", path: "/platform/invoices?tenant_id={new_tenant}&per_page=100", as: "platform", status: 200,
		want: `{"data":[],` + platformPages + `invoices` + andNoOtherPage,
	},
}
