package tenant_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// office is the platform, as a super-admin sees it.
type office struct {
	shoptest.Shop
	*tenant.Service
}

func newOffice(t *testing.T) office { return officeIn(t, dbtest.DB(t)) }

func officeIn(t *testing.T, d *db.DB) office {
	t.Helper()
	admin := core.Actor{Kind: core.ByAdmin, ID: slug(), Name: "Root", Role: core.SuperAdmin, Address: "192.0.2.7", RequestID: "request-1"}
	s := shoptest.Of(t, d, admin)
	return office{s, s.Tenants}
}

func slug() string { return "t-" + strings.ToLower(rand.Text()[:16]) }

func described(slug string) tenant.New {
	return tenant.New{
		Name: "Café", Slug: slug, Email: "owner@example.com", PlanID: 1,
		BillingCycle: "monthly", PaymentMethod: "manual",
	}
}

func (o office) create(n tenant.New) tenant.Tenant {
	o.T.Helper()
	made, err := core.Result(o.Create(o.T.Context(), o.By, n, nil))
	o.Check(err)
	return made
}

func (o office) edit(id core.TenantID, e tenant.Edit) tenant.Tenant {
	o.T.Helper()
	edited, err := o.Edit(o.T.Context(), o.By, id, e)
	o.Check(err)
	return edited
}

// plan creates a plan.
func (o office) plan(retired bool) int64 {
	o.T.Helper()
	return shoptest.Query[int64](o.Shop, `
		insert into loyalty.plan (name, monthly_cents, yearly_cents, currency, retired)
		values ($1, 100, 1000, 'EUR', $2)
		returning id`, slug(), retired)
}

// log returns the entries about a tenant in the platform's audit log.
func (o office) log(id core.TenantID) []string {
	o.T.Helper()
	return shoptest.QueryAll[string](o.Shop, `
		select concat_ws(' ', action, actor_name, address, request_id, coalesce(old::text, '-'), coalesce(new::text, '-'))
		from loyalty.platform_audit_entry
		where subject_kind = 'tenant' and subject_id = $1
		order by id`, fmt.Sprint(id))
}

// Time zone, currency and country have defaults.
func TestCreate(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	plain := o.create(described(slug()))
	want := tenant.Tenant{
		ID: plain.ID, Name: "Café", Slug: plain.Slug, Email: "owner@example.com", PlanID: 1, BillingCycle: tenant.Monthly,
		PaymentMethod: tenant.Manual, Status: tenant.Active, TimeZone: "UTC", Currency: "EUR", CreatedAt: plain.CreatedAt,
		ConfirmAboveCents: new(int64(100_000)),
	}
	if diff := cmp.Diff(want, plain); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	n := described(slug())
	n.TimeZone, n.Currency, n.Country = "America/New_York", "USD", "US"
	made := o.create(n)
	if made.TimeZone != "America/New_York" || made.Currency != "USD" || *made.Country != "US" {
		t.Errorf("made = %+v", made)
	}
	n = described(slug())
	n.TimeZone, n.Currency, n.Country = "", " ", ""
	if made := o.create(n); made.TimeZone != "UTC" || made.Currency != "EUR" || made.Country != nil {
		t.Errorf("of nothing but spaces: %+v", made)
	}
	served, err := tenant.BySlug(t.Context(), o.DB, made.Slug)
	if err != nil || served.ID != made.ID || served.TimeZone.String() != "America/New_York" || served.Currency != "USD" || served.Country != "US" {
		t.Errorf("BySlug = %+v, %v", served, err)
	}
	byID, err := db.FindTenant(t.Context(), o.DB, made.ID)
	if err != nil || byID != served {
		t.Errorf("ByID = %+v, %v, want %+v", byID, err, served)
	}
	if _, err := tenant.BySlug(t.Context(), o.DB, slug()); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("an unknown slug = %v, want ErrNotFound", err)
	}
}

// Creating a tenant creates its owner and mails the invitation.
func TestCreateInvitesTheOwner(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	n := described(slug())
	n.Name = strings.Repeat("å", 100)
	made := o.create(n)
	var role, status, name, email, recipient, text string
	var password *string
	err := dbtest.Owner(o.DB).QueryRow(t.Context(), `
		select s.role, s.status, s.name, s.email, c.password_hash, m.recipient, m.text
		from loyalty.staff s
		join loyalty.credential c on c.staff_id = s.id
		join loyalty.invitation i on i.tenant_id = s.tenant_id and i.staff_id = s.id
		join loyalty.mail m on m.tenant_id = s.tenant_id
		where s.tenant_id = $1`, made.ID).Scan(&role, &status, &name, &email, &password, &recipient, &text)
	o.Check(err)
	if role != "owner" || status != "active" || password != nil || email != "owner@example.com" || recipient != email {
		t.Errorf("the owner is %s, %s, %s; invited is %s", role, status, email, recipient)
	}
	if want := "Owner of " + strings.Repeat("å", 91); name != want || !strings.Contains(text, made.Slug) {
		t.Errorf("the owner is called %q, want %q; the mail says %s", name, want, text)
	}
	want := `tenant.create Root 192.0.2.7 request-1 - {"name": "` + made.Name + `", "slug": "` + made.Slug + `", "email": "owner@example.com", "status": "active", ` +
		`"country": null, "plan_id": 1, "currency": "EUR", "timezone": "UTC", "billing_cycle": "monthly", "payment_method": "manual"}`
	if diff := cmp.Diff([]string{want}, o.log(made.ID)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	var own string
	err = dbtest.Owner(o.DB).QueryRow(t.Context(), `
		select string_agg(action || ' by ' || actor_name, ', ' order by id)
		from loyalty.audit_entry
		where tenant_id = $1`, made.ID).Scan(&own)
	if err != nil || own != "staff.create by Root, staff.invite by Root" {
		t.Errorf("the tenant's own log: %s, %v", own, err)
	}
}

var errWords = errors.New("no words for it")

// wordless can't write invitations.
type wordless struct{ shoptest.Mails }

func (w wordless) Invitation(string, auth.InvitationEmail) mail.Email { return w }

func (wordless) Render(context.Context) (mail.Rendered, error) { return mail.Rendered{}, errWords }

// If the invitation can't be written, no tenant is created.
func TestCreateIsAllOrNothing(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	n := described(slug())
	jobs, err := job.New(o.DB, slog.New(slog.DiscardHandler))
	o.Check(err)
	if _, err := core.Result(tenant.NewService(o.DB, wordless{shoptest.NewMails(o.DB, jobs)}).Create(t.Context(), o.By, n, nil)); !errors.Is(err, errWords) {
		t.Fatalf("Create = %v, want the renderer's error", err)
	}
	if _, err := tenant.BySlug(t.Context(), o.DB, n.Slug); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("the tenant = %v, want ErrNotFound", err)
	}
	o.create(n)
}

// A slug has 3 to 40 letters, digits and inner hyphens, and is unique and not reserved.
func TestSlugs(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	end := strings.ToLower(rand.Text()[:10])
	for _, good := range []string{"0" + end[:2], "1-" + end, "mail-" + end, "ns1" + end, "mail-" + end[:4] + "2", end + "-a-b-c", strings.Repeat("x", 30) + end, "0" + end} {
		if _, err := core.Result(o.Create(t.Context(), o.By, described(good), nil)); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"ab", "a", "-" + end, end + "-", "a--" + end, "A" + end, "å" + end, "a_" + end, "a." + end, "a b" + end,
	} {
		_, err := core.Result(o.Create(t.Context(), o.By, described(bad), nil))
		if t.Run(bad, func(t *testing.T) { shoptest.WantFields(t, err, core.Fields{"slug": {core.InvalidChoice}}) }); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	for _, reserved := range []string{
		"admin", "api", "www", "platform", "docs", "test", "mail",
		"wpad", "autodiscover", "autoconfig", "mta-sts", "isatap", "localhost", "localdomain", // asked by programs
		"smtp", "imap", "imap2", "pop3", "mx1", "mx02", "ns1", "ns42", "dns", "www2", "webmail", "postmaster", "hostmaster", "abuse",
		"sso", "secure", "signin", "sign-in", "login", "account", "password", "oauth2", "verify", // for frauds
		"metrics", "grafana", "status", "vpn", "staging", "loyalty", "billing", "till",
	} {
		_, err := core.Result(o.Create(t.Context(), o.By, described(reserved), nil))
		t.Run(reserved, func(t *testing.T) { shoptest.WantFields(t, err, core.Fields{"slug": {{Rule: "reserved"}}}) })
	}
	_, err := core.Result(o.Create(t.Context(), o.By, described(strings.Repeat("x", 41)), nil))
	shoptest.WantFields(t, err, core.Fields{"slug": {core.MaxLength(40)}})
	_, err = core.Result(o.Create(t.Context(), o.By, described(""), nil))
	shoptest.WantFields(t, err, core.Fields{"slug": {core.Required}})
}

// The slugs proposed for a business whose name is reserved are free ones.
func TestProposedSlugsAvoidReservedNames(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for name, want := range map[string]string{"Store": "store-", "Music": "music-", "Metrics Ltd": "metrics-ltd", "Ns 1": "ns-1", "WPAD": "wpad-", "Signin": "signin-"} {
		got, err := o.ProposeSlug(t.Context(), o.By, name)
		if err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

// A business whose slug is reserved by a later version keeps it.
func TestAnEarlierBusinessKeepsItsReservedSlug(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	made := o.create(described(slug()))
	o.Exec("update loyalty.tenant set slug = 'metrics' where id = $1", made.ID)
	if edited := o.edit(made.ID, tenant.Edit{Name: core.Set("Metrics")}); edited.Slug != "metrics" || edited.Name != "Metrics" {
		t.Errorf("%+v", edited)
	}
	if served, err := tenant.BySlug(t.Context(), o.DB, "metrics"); err != nil || served.ID != made.ID {
		t.Errorf("BySlug = %+v, %v", served, err)
	}
}

// Of concurrent requests for one slug, one gets it; the others are refused on the field.
func TestASlugIsTakenOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	wanted := slug()
	var made atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := core.Result(o.Create(t.Context(), o.By, described(wanted), nil)); err == nil {
				made.Add(1)
			} else {
				var refusal *core.Error
				if !errors.As(err, &refusal) || !slices.Equal(refusal.Fields["slug"], []core.Violation{core.Duplicate}) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("%d tenants with one slug, want 1", made.Load())
	}
}

// A request that is sent many times at once creates one tenant and one mail.
func TestIdempotencyKeyCreatesOneTenant(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	wanted := slug()
	var made, replayed, running atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			switch reply, err := o.Create(t.Context(), o.By, described(wanted), &core.Once[tenant.Tenant]{
				RequestKey: core.RequestKey{Key: "key"},
				Respond:    func(tenant.Tenant) (core.Response, error) { return core.Response{Status: 201, Body: []byte("{}")}, nil },
			}); {
			case reply.Replayed():
				replayed.Add(1)
			case err == nil:
				made.Add(1)
			case errors.Is(err, core.ErrKeyRunning):
				running.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	served, err := tenant.BySlug(t.Context(), o.DB, wanted)
	o.Check(err)
	if made.Load() != 1 || made.Load()+replayed.Load()+running.Load() != 20 || shoptest.Query[int](o.Shop, "select count(*) from loyalty.mail where tenant_id = $1", served.ID) != 1 {
		t.Errorf("%d made, %d replayed, %d running; %d mails", made.Load(), replayed.Load(), running.Load(), shoptest.Query[int](o.Shop, "select count(*) from loyalty.mail where tenant_id = $1", served.ID))
	}
}

// All violations are reported at once, also those that only the database detects.
func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	taken := o.create(described(slug())).Slug
	retired := o.plan(true)
	for _, c := range []struct {
		name string
		n    tenant.New
		want core.Fields
	}{
		{"nothing", tenant.New{Malformed: core.Fields{"plan_id": {core.Required}}}, core.Fields{
			"name": {core.Required}, "slug": {core.Required}, "email": {core.Required},
			"plan_id": {core.Required}, "billing_cycle": {core.Required},
			"payment_method": {core.Required},
		}},
		{"everything", tenant.New{
			Name: strings.Repeat("å", 101), Slug: taken, Email: "no address", PlanID: 1 << 62, BillingCycle: "weekly",
			PaymentMethod: "gold", TimeZone: "Mars/Olympus", Currency: "euro", Country: "Sweden",
		}, core.Fields{
			"name": {core.MaxLength(100)}, "slug": {core.Duplicate},
			"email": {core.MustBeEmail}, "plan_id": {core.InvalidChoice}, "billing_cycle": {core.InvalidChoice},
			"payment_method": {core.InvalidChoice}, "timezone": {core.InvalidChoice}, "currency": {core.InvalidChoice}, "country": {core.InvalidChoice},
		}},
		{"what only the database knows", tenant.New{
			Name: "Café", Slug: taken, Email: "owner@example.com", PlanID: retired, BillingCycle: "yearly", PaymentMethod: "card",
		}, core.Fields{"slug": {core.Duplicate}, "plan_id": {core.InvalidChoice}}},
		{"unreadable", tenant.New{
			Name: "Café", Slug: slug(), Email: "owner@example.com", BillingCycle: "yearly", PaymentMethod: "card",
			Malformed: core.Fields{"plan_id": {core.MustBeInteger}, "currency": {core.MustBeString}},
		}, core.Fields{"plan_id": {core.MustBeInteger}, "currency": {core.MustBeString}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := core.Result(o.Create(t.Context(), o.By, c.n, nil))
			shoptest.WantFields(t, err, c.want)
		})
	}
}

func TestAddressesWithoutAMailboxAreRefused(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create(described(slug()))
	for _, typed := range shoptest.NoEmails() {
		n := described(slug())
		n.Email = typed
		_, err := core.Result(o.Create(t.Context(), o.By, n, nil))
		shoptest.WantFields(t, err, core.Fields{"email": {core.MustBeEmail}})
		_, err = o.Edit(t.Context(), o.By, made.ID, tenant.Edit{Email: core.Set(typed)})
		shoptest.WantFields(t, err, core.Fields{"email": {core.MustBeEmail}})
	}
}

// Currencies are those in use, countries those with phone numbers, in upper case.
func TestCodes(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create(described(slug()))
	for code, good := range map[string]bool{
		"EUR": true, "SEK": true, "USD": true, "JPY": true, "ZWG": true, "VES": true,
		"eur": false, "EURO": false, "ABC": false, "DEM": false, "XXX": false, "XTS": false, "XAU": false, "978": false,
	} {
		edited, err := o.Edit(t.Context(), o.By, made.ID, tenant.Edit{Currency: core.Set(code)})
		if good != (err == nil) || (good && edited.Currency != code) {
			t.Errorf("currency %q: %v", code, err)
		}
	}
	for code, good := range map[string]bool{
		"SE": true, "US": true, "GB": true, "NP": true,
		"se": false, "UK": false, "EU": false, "ZZ": false, "SWE": false, "SU": false, "AN": false, "001": false, "S": false,
	} {
		edited, err := o.Edit(t.Context(), o.By, made.ID, tenant.Edit{Country: core.Set(code)})
		if good != (err == nil) || (good && *edited.Country != code) {
			t.Errorf("country %q: %v", code, err)
		}
	}
	for what, codes := range map[string][]string{"currencies": core.Currencies(), "countries": tenant.Countries()} {
		first := map[string]string{"currencies": "AED", "countries": "AC"}[what]
		if !slices.IsSorted(codes) || codes[0] != first || len(codes) < 140 {
			t.Errorf("%d %s to choose from, the first is %s", len(codes), what, codes[0])
		}
	}
}

// An edit changes only the fields that are set, and is in the audit log.
func TestEdit(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made, plan := o.create(described(slug())), o.plan(false)
	created := o.log(made.ID)

	if same := o.edit(made.ID, tenant.Edit{Name: core.Set("Café")}); cmp.Diff(made, same) != "" {
		t.Errorf("changed nothing: %+v, was %+v", same, made)
	}
	suspended := o.edit(made.ID, tenant.Edit{Status: core.Set("suspended")})
	if suspended.Status != tenant.Suspended || suspended.Name != made.Name {
		t.Errorf("suspended = %+v", suspended)
	}
	edited := o.edit(made.ID, tenant.Edit{
		Name: core.Set(" Bar "), Email: core.Set("new@example.com"), PlanID: core.Set(plan), BillingCycle: core.Set("yearly"),
		PaymentMethod: core.Set("paypal"), Status: core.Set("active"), TimeZone: core.Set("Asia/Kathmandu"), Currency: core.Set("NPR"), Country: core.Set("NP"),
	})
	want := tenant.Tenant{
		ID: made.ID, Name: "Bar", Slug: made.Slug, Email: "new@example.com", PlanID: plan, BillingCycle: tenant.Yearly, PaymentMethod: tenant.PayPal,
		Status: tenant.Active, TimeZone: "Asia/Kathmandu", Currency: "NPR", Country: new("NP"), CreatedAt: made.CreatedAt,
		ConfirmAboveCents: new(int64(100_000)),
	}
	if diff := cmp.Diff(want, edited); diff != "" {
		t.Errorf("edited (-want +got):\n%s", diff)
	}
	if cleared := o.edit(made.ID, tenant.Edit{Country: core.Optional[string]{Set: true}}); cleared.Country != nil {
		t.Errorf("country = %s, want none", *cleared.Country)
	}
	log := []string{
		`tenant.edit Root 192.0.2.7 request-1 {"status": "active"} {"status": "suspended"}`,
		fmt.Sprintf(`tenant.edit Root 192.0.2.7 request-1 {"name": "Café", "email": "owner@example.com", "status": "suspended", "country": null, "plan_id": 1, `+
			`"currency": "EUR", "timezone": "UTC", "billing_cycle": "monthly", "payment_method": "manual"} `+
			`{"name": "Bar", "email": "new@example.com", "status": "active", "country": "NP", "plan_id": %d, `+
			`"currency": "NPR", "timezone": "Asia/Kathmandu", "billing_cycle": "yearly", "payment_method": "paypal"}`, plan),
		`tenant.edit Root 192.0.2.7 request-1 {"country": "NP"} {"country": null}`,
	}
	if diff := cmp.Diff(append(created, log...), o.log(made.ID)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if _, err := o.Edit(t.Context(), o.By, 1<<62, tenant.Edit{Name: core.Set(" ")}); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("unknown = %v, want ErrNotFound", err)
	}
}

// Only the country can be cleared.
func TestEditRefuses(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create(described(slug()))
	null := core.Optional[string]{Set: true}
	_, err := o.Edit(t.Context(), o.By, made.ID, tenant.Edit{
		Name: null, Email: null, PlanID: core.Optional[int64]{Set: true}, BillingCycle: null, PaymentMethod: null, Status: null, TimeZone: null, Currency: null,
	})
	shoptest.WantFields(t, err, core.Fields{
		"name": {core.Required}, "email": {core.Required}, "plan_id": {core.Required}, "billing_cycle": {core.Required},
		"payment_method": {core.Required}, "status": {core.Required}, "timezone": {core.Required}, "currency": {core.Required},
	})
	retired := o.plan(true)
	_, err = o.Edit(t.Context(), o.By, made.ID, tenant.Edit{PlanID: core.Set(retired), Status: core.Set("gone")})
	shoptest.WantFields(t, err, core.Fields{"plan_id": {core.InvalidChoice}, "status": {core.InvalidChoice}})
	_, err = o.Edit(t.Context(), o.By, made.ID, tenant.Edit{PlanID: core.Set(retired)})
	shoptest.WantFields(t, err, core.Fields{"plan_id": {core.InvalidChoice}})
	_, err = o.Edit(t.Context(), o.By, made.ID, tenant.Edit{Malformed: core.Fields{"name": {core.MustBeString}}})
	shoptest.WantFields(t, err, core.Fields{"name": {core.MustBeString}})

	// A tenant can keep a retired plan.
	plan := o.plan(false)
	o.edit(made.ID, tenant.Edit{PlanID: core.Set(plan)})
	o.Exec("update loyalty.plan set retired = true where id = $1", plan)
	if edited := o.edit(made.ID, tenant.Edit{PlanID: core.Set(plan), Name: core.Set("Bar")}); edited.Name != "Bar" || edited.PlanID != plan {
		t.Errorf("edited = %+v", edited)
	}
}

// welcome creates customers with phone numbers.
func (o office) welcome(id core.TenantID, phones ...string) {
	o.T.Helper()
	served, err := db.FindTenant(o.T.Context(), o.DB, id)
	o.Check(err)
	for _, phone := range phones {
		n := customer.New{FirstName: "Anna", LastName: "Lindqvist", Phone: phone}
		o.Must(core.Result(o.Customers.Upsert(o.T.Context(), core.System(served, "test"), n, nil)))
	}
}

// samePhones is the violation of a country in which two numbers of a tenant would be the same.
func (o office) samePhones(id core.TenantID, one, other string) core.Violation {
	o.T.Helper()
	of := func(phone string) core.ID {
		return shoptest.Query[core.ID](o.Shop, "select id from loyalty.customer where tenant_id = $1 and phone = $2", id, phone)
	}
	return core.Violation{Rule: "same_phones_in_country", Other: one + " and " + other, Records: [2]core.ID{of(one), of(other)}}
}

func (o office) keys(id core.TenantID) string {
	o.T.Helper()
	return shoptest.Query[string](o.Shop, "select string_agg(phone_key, ' ' order by phone_key) from loyalty.customer where tenant_id = $1", id)
}

// A change of the country changes all keys of phone numbers, or is refused if numbers collide.
func TestEditCountryRekeysPhones(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create(described(slug()))
	o.welcome(made.ID, "070-174 06 05", "08-465 004 12")
	o.edit(made.ID, tenant.Edit{Country: core.Set("SE")})
	if got := o.keys(made.ID); got != "+46701740605 +46846500412" {
		t.Errorf("in Sweden the keys are %s", got)
	}
	o.edit(made.ID, tenant.Edit{Country: core.Optional[string]{Set: true}})
	if got := o.keys(made.ID); got != "0701740605 0846500412" {
		t.Errorf("in no country the keys are %s", got)
	}
	o.welcome(made.ID, "+46 70 174 06 05")
	before := o.log(made.ID)
	_, err := o.Edit(t.Context(), o.By, made.ID, tenant.Edit{Name: core.Set("Bar"), Country: core.Set("SE")})
	shoptest.WantFields(t, err, core.Fields{"country": {o.samePhones(made.ID, "070-174 06 05", "+46 70 174 06 05")}})
	if after := o.log(made.ID); !slices.Equal(before, after) {
		t.Errorf("the refusal is in the log: %q", after)
	}
}

// Concurrent changes that collide are all refused, and the tenant doesn't change.
func TestConcurrentCollisionsAreRefused(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create(described(slug()))
	o.welcome(made.ID, "070-174 06 05", "08-465 004 12", "+46 70 174 06 05")
	keys, log := o.keys(made.ID), o.log(made.ID)
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			_, err := o.Edit(t.Context(), o.By, made.ID, tenant.Edit{Name: core.Set(fmt.Sprint("Bar ", i)), Country: core.Set("SE")})
			if !core.IsKind(err, core.KindInvalid) {
				t.Errorf("Edit = %v, want it refused", err)
			}
		})
	}
	wg.Wait()
	if now := o.edit(made.ID, tenant.Edit{}); cmp.Diff(made, now) != "" || o.keys(made.ID) != keys || !slices.Equal(o.log(made.ID), log) {
		t.Errorf("now %+v with keys %s and log %q", now, o.keys(made.ID), o.log(made.ID))
	}
}

// Of two concurrent edits, each entry has the values that it replaced.
func TestConcurrentEditsAreLogged(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create(described(slug()))
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			if _, err := o.Edit(t.Context(), o.By, made.ID, tenant.Edit{Name: core.Set(fmt.Sprint("Bar ", i))}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	replaced := regexp.MustCompile(`\{"name": "(.*)"\} \{"name": "(.*)"\}$`)
	by := map[string]string{}
	for _, line := range o.log(made.ID)[1:] {
		names := replaced.FindStringSubmatch(line)
		by[names[1]] = names[2]
	}
	name, steps := "Café", 0
	for ; by[name] != ""; steps++ {
		name = by[name]
	}
	if last := o.edit(made.ID, tenant.Edit{}); steps != 10 || last.Name != name {
		t.Errorf("the log leads to %s in %d steps, the name is %s: %v", name, steps, last.Name, by)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	var all []core.TenantID
	for i := range 5 {
		made := o.create(described(slug()))
		all = append([]core.TenantID{made.ID}, all...)
		if i%2 == 0 {
			o.edit(made.ID, tenant.Edit{Status: core.Set("suspended")})
		}
	}
	// At one instant, the id breaks ties.
	o.Exec("update loyalty.tenant set created_at = '2026-05-01' where id = any($1)", all[1:4])
	all = []core.TenantID{all[0], all[4], all[1], all[2], all[3]}
	for status, want := range map[string][]core.TenantID{"": all, "suspended": {all[0], all[1], all[3]}, "active": {all[2], all[4]}} {
		var f tenant.Filter
		if status != "" {
			f.Status = &status
		}
		var forward, back []core.TenantID
		p := core.Page{Size: 2}
		last := o.list(f, p)
		for forward = ids(last); last.Next != nil; forward = append(forward, ids(last)...) {
			p.Cursor = last.Next
			last = o.list(f, p)
		}
		for back = ids(last); last.Prev != nil; back = append(ids(last), back...) {
			p.Cursor = last.Prev
			last = o.list(f, p)
		}
		if !slices.Equal(forward, want) || !slices.Equal(back, want) {
			t.Errorf("%q: forward %v, back %v, want %v", status, forward, back, want)
		}
	}
	_, err := o.List(t.Context(), o.By, tenant.Filter{Status: new("gone")}, core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.InvalidChoice}}})
	shoptest.WantFields(t, err, core.Fields{"status": {core.InvalidChoice}, "cursor": {core.InvalidChoice}})
}

func ids(l core.List[tenant.Tenant]) (ids []core.TenantID) {
	for _, n := range l.Items {
		ids = append(ids, n.ID)
	}
	return ids
}

func (o office) list(f tenant.Filter, p core.Page) core.List[tenant.Tenant] {
	o.T.Helper()
	l, err := o.List(o.T.Context(), o.By, f, p)
	o.Check(err)
	return l
}
