package api_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
)

const (
	makesTenants = "| POST | /api/v1/platform/tenants | Tenant fields listed under Resources | Tenant object including `id`. |"
	editsTenants = "| PATCH | /api/v1/platform/tenants/{id} | Fields to update. | Tenant. |"
	listsTenants = "| GET | /api/v1/platform/tenants | - | List of tenants. |"
	tenantFields = "**Tenant**: `id, name, slug, email, plan_id, billing_cycle (monthly|yearly), payment_method (manual|bank_transfer|card|stripe|paypal), " +
		"status (active|suspended), timezone, currency, country, created_at`, + `test`: for tests of an integration, and never billed."
	alsoAccepts = "Create also accepts `timezone`, `currency` and `country` (UTC, EUR, null)."
	slugsAre    = "Slug: 3–40 of a–z, 0–9, inner hyphens; not reserved; unique; unchangeable."
	invites     = "Creating one makes its owner and queues the invitation."
	allButSlug  = "PATCH takes all but slug."
	moves       = "Changing the tenant's country re-keys all phones; collisions are listed and refuse it."
	noTenants   = "A tenant token on a platform endpoint: 403."
	superAdmins = "Platform endpoints need the caller to be a super-admin user; they do not use scopes. Without it: 403."
)

// tenantIs is the JSON of a tenant; country is JSON.
func tenantIs(id, name, slug, email, plan, cycle, method, status, zone, currency, country string) string {
	return `{"id":` + id + `,"name":"` + name + `","slug":"` + slug + `","email":"` + email + `","plan_id":` + plan +
		`,"billing_cycle":"` + cycle + `","payment_method":"` + method + `","status":"` + status + `","timezone":"` + zone +
		`","currency":"` + currency + `","country":` + country + `,"test":false,"created_at":"<time>"}`
}

var (
	newTenantIs = tenantIs("<id>", "Bageri Öst", "{new_slug}", "ost@example.com", "1", "monthly", "manual", "active", "UTC", "EUR", "null")
	// The scenario's own tenant.
	shopIs = tenantIs("{tenant}", "Café {slug}", "{slug}", "owner@example.com", "1", "monthly", "manual", "active", "Europe/Stockholm", "EUR", `"SE"`)
)

const aTenant = `{"name":"Bageri Öst","slug":"{new_slug}","email":"ost@example.com","plan_id":1,"billing_cycle":"monthly","payment_method":"manual"}`

// newTenants counts the tenants with the new slug, and what was created with each.
func (s *shop) newTenants() string {
	s.T.Helper()
	return shoptest.Query[string](s.Shop, `
		select coalesce(string_agg(concat_ws(', ',
			(select string_agg(role || ' ' || email, ' ') from loyalty.staff where tenant_id = n.id),
			(select count(*) from loyalty.invitation where tenant_id = n.id) || ' invited',
			(select string_agg(subject || ' to ' || recipient, ' ') from loyalty.mail where tenant_id = n.id),
			(select count(*) from loyalty.platform_audit_entry where subject_kind = 'tenant' and subject_id = n.id::text) || ' logged'), '; '), '')
		from loyalty.tenant n
		where n.slug = $1`, s.fill("{new_slug}"))
}

// oneTenant checks that one was created with everything that belongs to it.
func oneTenant(s *shop, _ answer) {
	s.T.Helper()
	if got, want := s.newTenants(), "owner ost@example.com, 1 invited, "+s.invitation+" to ost@example.com, 1 logged"; !matches(got, want) {
		s.T.Errorf("created %q, want %q", got, want)
	}
}

func noTenant(s *shop, _ answer) {
	s.T.Helper()
	if got := s.newTenants(); got != "" {
		s.T.Errorf("created %q, want nothing", got)
	}
}

func TestCreateTenant(t *testing.T) {
	proves(t, created, "The response includes the tenant object, which has an `id` (integer). Other fields of the tenant object: not shown.", tenantFields, invites)
	const required = `"billing_cycle":["The billing cycle field is required."],"email":["The email field is required."],"name":["The name field is required."],` +
		`"payment_method":["The payment method field is required."],"plan_id":["The plan id field is required."],"slug":["The slug field is required."]`
	post := func(says, with, body string, status int, want string) scenario {
		sc := scenario{says: says, with: with, method: "POST", path: "/platform/tenants", auth: "platform", body: body, status: status, want: want, after: noTenant}
		if status == 201 {
			sc.after = oneTenant
		}
		return sc
	}
	with := func(field, value string) string {
		return strings.TrimSuffix(aTenant, "}") + `,"` + field + `":` + value + `}`
	}
	table := []scenario{
		post(makesTenants, "", aTenant, 201, one(newTenantIs)),
		post(alsoAccepts, "given", strings.TrimSuffix(aTenant, "}")+`,"timezone":"Asia/Kathmandu","currency":"NPR","country":"NP"}`, 201,
			one(strings.NewReplacer(`"UTC"`, `"Asia/Kathmandu"`, `"EUR"`, `"NPR"`, `"country":null`, `"country":"NP"`).Replace(newTenantIs))),
		post(alsoAccepts, "null", strings.TrimSuffix(aTenant, "}")+`,"timezone":null,"currency":null,"country":null}`, 201, one(newTenantIs)),
		post("Unknown body fields are ignored.", "of a tenant", with("status", `"suspended"`), 201, one(newTenantIs)),
		post("| name | string | Business name. |", "100 characters", strings.Replace(aTenant, "Bageri Öst", strings.Repeat("ö", 100), 1), 201, one(strings.Replace(newTenantIs, "Bageri Öst", strings.Repeat("ö", 100), 1))),
		post("Names at most 100 characters.", "of a tenant", strings.Replace(aTenant, "Bageri Öst", strings.Repeat("ö", 101), 1), 422, invalid(`"name":["The name field must not be greater than 100 characters."]`)),
		post("| email | string | Owner e-mail address. |", "", strings.Replace(aTenant, "ost@example.com", "invalid", 1), 422, invalid(`"email":["The email field must be a valid email address."]`)),
		post("| plan_id | integer |", "unknown", strings.Replace(aTenant, `"plan_id":1`, `"plan_id":9223372036854775807`, 1), 422, invalid(`"plan_id":["The selected plan id is invalid."]`)),
		post("| plan_id | integer |", "below one", strings.Replace(aTenant, `"plan_id":1`, `"plan_id":0`, 1), 422, invalid(`"plan_id":["The selected plan id is invalid."]`)),
		post("| plan_id | integer |", "retired", strings.Replace(aTenant, `"plan_id":1`, `"plan_id":{retired_plan}`, 1), 422, invalid(`"plan_id":["The selected plan id is invalid."]`)),
		post("| plan_id | integer |", "a string", strings.Replace(aTenant, `"plan_id":1`, `"plan_id":"1"`, 1), 422, invalid(`"plan_id":["The plan id field must be an integer."]`)),
		post("| plan_id | integer |", "a fraction", strings.Replace(aTenant, `"plan_id":1`, `"plan_id":1.0`, 1), 422, invalid(`"plan_id":["The plan id field must be an integer."]`)),
		post("| slug | string | Used in the tenant's admin host. |", "taken", strings.Replace(aTenant, "{new_slug}", "{slug}", 1), 422, invalid(`"slug":["The slug has already been taken."]`)),
		post(wrongType, "of a tenant", `{"name":1,"slug":[],"email":{},"plan_id":true,"billing_cycle":1,"payment_method":1,"timezone":1,"currency":1,"country":1}`, 422,
			invalid(`"billing_cycle":["The billing cycle field must be a string."],"country":["The country field must be a string."],"currency":["The currency field must be a string."],`+
				`"email":["The email field must be a string."],"name":["The name field must be a string."],"payment_method":["The payment method field must be a string."],`+
				`"plan_id":["The plan id field must be an integer."],"slug":["The slug field must be a string."],"timezone":["The timezone field must be a string."]`)),
		post("A create request carries:", "nothing", `{}`, 422, invalid(required)),
		post("every failing field is reported at once.", "of a tenant, those that only the database knows too", `{"name":"","slug":"{slug}","email":"x","plan_id":{retired_plan},"billing_cycle":"daily","payment_method":"gold","timezone":"Local","currency":"XXX","country":"EU"}`, 422,
			invalid(`"billing_cycle":["The selected billing cycle is invalid."],"country":["The selected country is invalid."],"currency":["The selected currency is invalid."],`+
				`"email":["The email field must be a valid email address."],"name":["The name field is required."],"payment_method":["The selected payment method is invalid."],`+
				`"plan_id":["The selected plan id is invalid."],"slug":["The slug has already been taken."],"timezone":["The selected timezone is invalid."]`)),
		post(nulText, "of a tenant", strings.Replace(aTenant, "Bageri", `B\u0000`, 1), 422, invalid(`"name":["The name field must not contain NUL characters."]`)),
	}
	for _, cycle := range []string{"monthly", "yearly"} {
		table = append(table, post("| billing_cycle | string | A `monthly` cycle exists; other allowed values: not shown. |", cycle,
			strings.Replace(aTenant, `"monthly"`, `"`+cycle+`"`, 1), 201, one(strings.Replace(newTenantIs, `"monthly"`, `"`+cycle+`"`, 1))))
	}
	for _, method := range []string{"manual", "bank_transfer", "card", "stripe", "paypal"} {
		table = append(table, post("| payment_method | string | Names a payment provider; allowed values: not shown. |", method,
			strings.Replace(aTenant, `"manual"`, `"`+method+`"`, 1), 201, one(strings.Replace(newTenantIs, `"manual"`, `"`+method+`"`, 1))))
	}
	for _, slug := range []string{"ab", "Café", "a_b", "-ab", "ab-", "a--b", "admin", "api", "platform", "www", "autodiscover", "ns1"} {
		table = append(table, post(slugsAre, slug, strings.Replace(aTenant, "{new_slug}", slug, 1), 422, invalid(`"slug":["The selected slug is invalid."]`)))
	}
	for _, code := range []string{"sek", "SE", "ABC", "XXX"} {
		table = append(table, post(alsoAccepts, "no currency "+code, with("currency", `"`+code+`"`), 422, invalid(`"currency":["The selected currency is invalid."]`)))
	}
	for _, code := range []string{"se", "SWE", "EU", "ZZ"} {
		table = append(table, post(alsoAccepts, "no country "+code, with("country", `"`+code+`"`), 422, invalid(`"country":["The selected country is invalid."]`)))
	}
	same := post("Staff e-mails are unique per tenant.", "another tenant's owner has the same", aTenant, 201, one(newTenantIs))
	same.before = func(s *shop) { s.addTenant(1) }
	table = append(table, same)
	for _, auth := range []string{"", "customers:read,reports:read"} {
		table = append(table, scenario{says: noTenants, with: "create by " + auth, method: "POST", path: "/platform/tenants", auth: auth, body: aTenant, status: 403, want: forbidden, after: noTenant})
	}
	runScenarios(t, table)
}

func TestEditTenant(t *testing.T) {
	patch := func(says, with, body string, status int, want string) scenario {
		return scenario{says: says, with: with, method: "PATCH", path: "/platform/tenants/{tenant}", auth: "platform", body: body, status: status, want: want, after: func(s *shop, got answer) {
			if status != 200 {
				s.call("PATCH", "/api/v1/platform/tenants/{tenant}", s.auth("platform"), `{}`).is(s.T, 200, s.fill(one(shopIs)))
			}
		}}
	}
	changed := func(from, to string) string { return one(strings.Replace(shopIs, from, to, 1)) }
	table := []scenario{
		{
			says: listsTenants, with: "among others", also: []string{"Invoice and full tenant record fields: not shown."}, method: "GET", path: "/platform/tenants?per_page=100", auth: "platform", status: 200,
			want: `{"data":[<anything>` + shopIs + `<anything>],<anything>}`,
		},
		{
			says: listsInvoices, with: "of one tenant", before: func(s *shop) { s.named["{invoice}"] = s.bill() }, method: "GET", path: "/platform/invoices?tenant_id={tenant}", auth: "platform", status: 200,
			want: strings.Replace(only("/platform/invoices", invoiceIs("{invoice}", "null", "{tenant}", "draft", "null", "null", "null")), `"tax_cents":1225,"total_cents":6125`, `"tax_cents":0,"total_cents":4900`, 1),
		},
		{says: listsInvoices, with: "of a tenant without any", method: "GET", path: "/platform/invoices?tenant_id={tenant}", auth: "platform", status: 200, want: only("/platform/invoices")},
		patch(editsTenants, "", `{"name":"Bar"}`, 200, changed("Café {slug}", "Bar")),
		patch("200 for: customer found, void, fulfil (their bodies are not read), redeem (its body is read if it is JSON), restore, batch, preview, PATCH.", "a tenant", `{}`, 200, one(shopIs)),
		patch(patches, "absent keeps", `{}`, 200, one(shopIs)),
		patch(patches, "null clears the country", `{"country":null}`, 200, changed(`"SE"`, "null")),
		patch(patches, "other nulls", `{"name":null,"email":null,"plan_id":null,"billing_cycle":null,"payment_method":null,"status":null,"timezone":null,"currency":null}`, 422,
			invalid(`"billing_cycle":["The billing cycle field is required."],"currency":["The currency field is required."],"email":["The email field is required."],`+
				`"name":["The name field is required."],"payment_method":["The payment method field is required."],"plan_id":["The plan id field is required."],`+
				`"status":["The status field is required."],"timezone":["The timezone field is required."]`)),
		patch(allButSlug, "everything", `{"name":"Bar","slug":"bar","email":"new@example.com","plan_id":{spare_plan},"billing_cycle":"yearly","payment_method":"stripe","status":"active","timezone":"Asia/Kathmandu","currency":"NPR","country":"NP"}`, 200,
			one(tenantIs("{tenant}", "Bar", "{slug}", "new@example.com", "{spare_plan}", "yearly", "stripe", "active", "Asia/Kathmandu", "NPR", `"NP"`))),
		patch(slugsAre, "unchangeable", `{"slug":"another"}`, 200, one(shopIs)),
		patch(slugsAre, "unchangeable, whatever it is", `{"slug":5}`, 200, one(shopIs)),
		patch(wrongType, "of a change", `{"name":1,"email":1,"plan_id":"1","billing_cycle":1,"payment_method":1,"status":1,"timezone":1,"currency":1,"country":1}`, 422,
			invalid(`"billing_cycle":["The billing cycle field must be a string."],"country":["The country field must be a string."],"currency":["The currency field must be a string."],`+
				`"email":["The email field must be a string."],"name":["The name field must be a string."],"payment_method":["The payment method field must be a string."],`+
				`"plan_id":["The plan id field must be an integer."],"status":["The status field must be a string."],"timezone":["The timezone field must be a string."]`)),
		patch("every failing field is reported at once.", "of a change", `{"name":" ","plan_id":{retired_plan},"status":"closed"}`, 422,
			invalid(`"name":["The name field is required."],"plan_id":["The selected plan id is invalid."],"status":["The selected status is invalid."]`)),
		patch("| plan_id | integer |", "a change to one that is retired", `{"plan_id":{retired_plan}}`, 422, invalid(`"plan_id":["The selected plan id is invalid."]`)),
		{
			says: "Tokens of a suspended tenant or deactivated person: 401 at once.", method: "PATCH", path: "/platform/tenants/{tenant}", auth: "platform",
			before: func(s *shop) {
				s.call("GET", "/api/v1/customers", s.token, "").is(s.T, 200, s.fill(only("/customers")))
			},
			body: `{"status":"suspended"}`, status: 200, want: changed(`"active"`, `"suspended"`), after: func(s *shop, _ answer) {
				s.call("GET", "/api/v1/customers", s.token, "").is(s.T, 401, unauthorized)
				s.call("PATCH", "/api/v1/platform/tenants/{tenant}", s.auth("platform"), `{"status":"active"}`).is(s.T, 200, s.fill(one(shopIs)))
				s.call("GET", "/api/v1/customers", s.token, "").is(s.T, 200, s.fill(only("/customers")))
			},
		},
		{
			says: moves, with: "re-keys", method: "PATCH", path: "/platform/tenants/{tenant}", auth: "platform", before: func(s *shop) { s.fill("{anna}") },
			body: `{"country":"DE"}`, status: 200, want: changed(`"SE"`, `"DE"`), after: func(s *shop, _ answer) {
				s.call("GET", "/api/v1/customers?phone=%2B46701740605", s.token, "").is(s.T, 200, s.fill(only("/customers")))
				s.call("GET", "/api/v1/customers?phone=0701740605", s.token, "").is(s.T, 200, s.fill(only("/customers", annaIs)))
			},
		},
		{
			says: moves, with: "refuses", method: "PATCH", path: "/platform/tenants/{tenant}", auth: "platform", before: func(s *shop) {
				s.fill("{anna}")
				s.call("PATCH", "/api/v1/platform/tenants/{tenant}", s.auth("platform"), `{"country":null}`)
				s.call("POST", "/api/v1/customers", s.token, `{"first_name":"B","last_name":"C","phone":"+46 70 174 06 05"}`)
			},
			body: `{"name":"Bar","country":"SE"}`, status: 422,
			want: invalid(`"country":["The country cannot be changed: 070-174 06 05 and +46 70 174 06 05 would be the same number."]`), after: func(s *shop, _ answer) {
				s.call("PATCH", "/api/v1/platform/tenants/{tenant}", s.auth("platform"), `{}`).is(s.T, 200, s.fill(changed(`"SE"`, "null")))
				s.call("GET", "/api/v1/customers?phone=070-1740605", s.token, "").is(s.T, 200, s.fill(only("/customers", annaIs)))
			},
		},
		{says: "| 404 | Not Found | `The requested resource was not found.` |", with: "unknown tenant", method: "PATCH", path: "/platform/tenants/9223372036854775807", auth: "platform", body: `{"name":5}`, status: 404, want: notFound},
		{says: "A path id that does not parse is 404.", with: "of a tenant", method: "PATCH", path: "/platform/tenants/{slug}", auth: "platform", body: `{}`, status: 404, want: notFound},
		{says: "A path id that does not parse is 404.", with: "a signed one", method: "PATCH", path: "/platform/tenants/+1", auth: "platform", body: `{}`, status: 404, want: notFound},
		{says: noTenants, with: "not even its own", method: "PATCH", path: "/platform/tenants/{tenant}", body: `{"name":"Bar"}`, status: 403, want: forbidden},
	}
	for _, status := range []string{"", "closed", "Active"} {
		table = append(table, patch(tenantFields, "no status "+status, `{"status":"`+status+`"}`, 422, invalid(`"status":["The `+map[bool]string{true: "status field is required", false: "selected status is invalid"}[status == ""]+`."]`)))
	}
	runScenarios(t, table)
}

// platform is a shop and a super-admin in their own database, because lists of the platform show
// all tenants.
func newPlatform(t testing.TB) (s *shop, admin string) {
	t.Helper()
	s = shopAt(t, newServer(t, dbtest.OwnDB(t), nil))
	return s, platformToken(t, s.server)
}

func TestListTenants(t *testing.T) {
	t.Parallel()
	proves(t, listsTenants, tenantFields, "Lists are newest first;", "Unknown filter values are 422.",
		"A platform level exists above tenants. Platform endpoints (`/api/v1/platform/*`) are for super-admin users only and manage tenants and invoices.",
		superAdmins, noTenants)
	s, admin := newPlatform(t)
	s.call("POST", "/api/v1/platform/tenants", admin, aTenant)
	const path = "/platform/tenants"
	list := func(query string, items ...string) {
		t.Helper()
		s.call("GET", "/api/v1"+path+query, admin, "").is(t, 200, s.fill(only(path, items...)))
	}
	list("", newTenantIs, shopIs)
	list("?status=suspended")
	s.call("PATCH", "/api/v1/platform/tenants/{tenant}", admin, `{"status":"suspended"}`)
	suspended := strings.Replace(shopIs, `"active"`, `"suspended"`, 1)
	list("?status=active", newTenantIs)
	list("?status=suspended", suspended)
	list("", newTenantIs, suspended)
	if _, err := dbtest.Owner(s.DB).Exec(t.Context(), "update loyalty.tenant set test = true where slug = $1", s.fill("{new_slug}")); err != nil {
		t.Fatal(err)
	}
	list("?status=active", strings.Replace(newTenantIs, `"test":false`, `"test":true`, 1))
	s.call("GET", "/api/v1"+path+"?status=closed&per_page=0&cursor=x", admin, "").is(t, 422,
		invalid(`"cursor":["The selected cursor is invalid."],"per_page":["The per page field must be at least 1."],"status":["The selected status is invalid."]`))
	s.call("GET", "/api/v1"+path, s.stranger().token, "").is(t, 403, forbidden)
	s.call("GET", "/api/v1"+path, "", "").is(t, 401, unauthorized)
}

// The response of a repeated request is stored for the platform, not for the tenant.
func TestTenantWithAKeyIsCreatedOnce(t *testing.T) {
	t.Parallel()
	proves(t, keys, makesTenants)
	s := newShop(t)
	admin := platformToken(t, s.server)
	body := s.fill(aTenant)
	var first answer
	var answers [20]answer
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			var err error
			if answers[i], err = s.try(t.Context(), "POST", "/api/v1/platform/tenants", admin, strings.NewReader(body), "Idempotency-Key: k"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, got := range answers {
		switch {
		case got.status == 409:
			got.is(t, 409, conflict)
			continue
		case got.header.Get("Idempotent-Replayed") == "":
			first = got
		}
		got.is(t, 201, s.fill(one(newTenantIs)))
	}
	s.replays(t, first, "POST", "/api/v1/platform/tenants", admin, body, "Idempotency-Key: k")
	oneTenant(s, first)
	s.call("POST", "/api/v1/platform/tenants", admin, body, "Idempotency-Key: another").is(t, 422, invalid(`"slug":["The slug has already been taken."]`))
	id, _, _ := strings.Cut(admin, "|")
	if kept := shoptest.Query[int](s.Shop, "select count(*) from loyalty.idempotency where tenant_id = 0 and caller = $1", "token "+id); kept != 1 {
		t.Errorf("%d responses are stored for the platform, want 1", kept)
	}
}

// Changes of a tenant are in the platform's audit log, not in the tenant's.
func TestTenantsAreLogged(t *testing.T) {
	t.Parallel()
	proves(t, editsTenants)
	s := newShop(t)
	admin := platformToken(t, s.server)
	s.call("PATCH", "/api/v1/platform/tenants/{tenant}", admin, `{"name":"Café {slug}"}`)
	own := s.rows("audit_entry")
	got := s.call("PATCH", "/api/v1/platform/tenants/{tenant}", admin, `{"status":"suspended","currency":"SEK","timezone":"Europe/Stockholm"}`)
	id, _, _ := strings.Cut(admin, "|")
	entry := shoptest.Query[string](s.Shop, `
		select string_agg(concat_ws(' ', actor_kind, actor_id, request_id, old, new), '; ')
		from loyalty.platform_audit_entry
		where action = 'tenant.edit' and subject_id = $1`, fmt.Sprint(s.By.Tenant.ID))
	want := "token " + id + " " + got.header.Get("X-Request-Id") + ` {"status": "active", "currency": "EUR"} {"status": "suspended", "currency": "SEK"}`
	if entry != want {
		t.Errorf("the log says %s, want %s", entry, want)
	}
	if now := s.rows("audit_entry"); now != own {
		t.Errorf("%d entries in the tenant's own log, want %d", now, own)
	}
}

// addTenant creates another tenant.
func (s *shop) addTenant(i int) {
	s.T.Helper()
	s.must(core.Result(s.tenants.Create(context.Background(), core.System(core.Tenant{}, "test"), tenant.New{
		Name: "N", Slug: fmt.Sprintf("n%d-%s", i, s.By.Tenant.Slug), Email: "ost@example.com", PlanID: 1,
		BillingCycle: "monthly", PaymentMethod: "manual",
	}, nil)))
}

// plan creates a plan.
func (s *shop) plan(retired bool) string {
	s.T.Helper()
	return fmt.Sprint(shoptest.Query[int64](s.Shop, `
		insert into loyalty.plan (name, monthly_cents, yearly_cents, currency, retired)
		values ($1, 4900, 49000, 'EUR', $2)
		returning id`, core.NewID(s.db.Now()).String(), retired))
}
