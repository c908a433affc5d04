package tenant_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/usage"
)

// named creates a tenant with a name that is also its slug.
func (o office) named(name string, change func(*tenant.New)) tenant.Tenant {
	o.T.Helper()
	n := described(name)
	n.Name, n.Email = strings.ToUpper(name[:1])+name[1:], name+"@example.com"
	if change != nil {
		change(&n)
	}
	return o.create(n)
}

// sell records a sale to a new customer, by a token of the owner: the business may have no country.
func (o office) sell(made tenant.Tenant) {
	o.T.Helper()
	served, err := db.FindTenant(o.T.Context(), o.DB, made.ID)
	o.Check(err)
	by := core.Actor{Kind: core.ByToken, ID: "1", Name: "Maja", Tenant: served, Role: core.Owner}
	shop := shoptest.Of(o.T, o.DB, by)
	shop.Sale(shop.Customer().ID, shop.Points(100), 500)
}

// owe creates an overdue invoice.
func (o office) owe(id core.TenantID) {
	o.T.Helper()
	o.Exec(`
		insert into loyalty.invoice (tenant_id, number, status, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end, created_at, issued_at, due_at)
		values ($1, $1, 'overdue', 'EUR', '[]', 100, 0, 100, '2026-01-01', '2026-01-31', now(), now(), now())`, id)
}

func (o office) overview(p tenant.OverviewFilter) tenant.Overview {
	o.T.Helper()
	shown, err := o.Overview(o.T.Context(), o.By, p)
	o.Check(err)
	return shown
}

func slugs(o tenant.Overview) (list []string) {
	for _, s := range o.Tenants {
		list = append(list, s.Slug)
	}
	return list
}

// The overview has search, filters, orders and counts by condition.
func TestOverview(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	plan := o.plan(false)
	aro := o.named("aro", func(n *tenant.New) { n.Name, n.Country = "Café Åro", "SE" })
	bike := o.named("bike", func(n *tenant.New) { n.PlanID = plan })
	late := o.named("cloud", func(n *tenant.New) { n.Country = "FI" })
	o.named("delta", nil)
	gone := o.named("echo", nil)
	o.sell(aro)
	o.sell(aro)
	o.sell(bike)
	o.sell(late)
	o.owe(late.ID)
	o.owe(gone.ID)
	o.Must(o.Suspend(t.Context(), o.By, gone.ID, "It asked for it."))

	if uncounted := o.overview(tenant.OverviewFilter{}); uncounted.CountedAt != nil || uncounted.Tenants[0].Customers != 0 || uncounted.Total != 5 {
		t.Errorf("before anything was counted: %+v", uncounted)
	}
	o.Check(o.Service.Count(t.Context()))
	all := o.overview(tenant.OverviewFilter{Order: new("name")})
	if diff := cmp.Diff([]string{"bike", "aro", "cloud", "delta", "echo"}, slugs(all)); diff != "" {
		t.Errorf("by name (-want +got):\n%s", diff)
	}
	wantCounts := map[tenant.Condition]int64{tenant.IsActive: 2, tenant.IsLate: 1, tenant.IsSettingUp: 1, tenant.IsSuspended: 1}
	if diff := cmp.Diff(wantCounts, all.Counts); diff != "" || all.Total != 5 || all.All() != 5 {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"FI", "SE"}, all.Countries); diff != "" {
		t.Errorf("countries (-want +got):\n%s", diff)
	}
	if age := o.DB.Now().Sub(*all.CountedAt); age < 0 || age > time.Minute {
		t.Errorf("counted %s ago", age)
	}
	first := all.Tenants[1] // the one that was sold at
	if first.Customers != 2 || first.SalesLately != 2 || first.Staff != 1 || first.LastActivityAt == nil || first.PlanName != "Free" || first.Condition != tenant.IsActive {
		t.Errorf("the busiest: %+v", first)
	}
	for what, c := range map[string]struct {
		tenant.OverviewFilter
		want []string
	}{
		"part of a name":       {tenant.OverviewFilter{Search: new(" ÅRO")}, []string{"aro"}},
		"part of a slug":       {tenant.OverviewFilter{Search: new("lou")}, []string{"cloud"}},
		"an address":           {tenant.OverviewFilter{Search: new("DELTA@example")}, []string{"delta"}},
		"letters with marks":   {tenant.OverviewFilter{Search: new("ÅＲＯ")}, []string{"aro"}},
		"no pattern":           {tenant.OverviewFilter{Search: new("%")}, nil},
		"late":                 {tenant.OverviewFilter{Condition: new("late")}, []string{"cloud"}},
		"suspended, not late":  {tenant.OverviewFilter{Condition: new("suspended")}, []string{"echo"}},
		"setting up":           {tenant.OverviewFilter{Condition: new("setting_up")}, []string{"delta"}},
		"a plan":               {tenant.OverviewFilter{PlanID: &plan}, []string{"bike"}},
		"a country":            {tenant.OverviewFilter{Country: new("SE")}, []string{"aro"}},
		"from Z":               {tenant.OverviewFilter{Order: new("name"), Reverse: true}, []string{"echo", "delta", "cloud", "aro", "bike"}},
		"the newest":           {tenant.OverviewFilter{Order: new("created")}, []string{"echo", "delta", "cloud", "bike", "aro"}},
		"the oldest":           {tenant.OverviewFilter{Order: new("created"), Reverse: true, Size: 1, Number: 1}, []string{"aro"}},
		"the most sales":       {tenant.OverviewFilter{Order: new("sales"), Size: 1, Number: 1}, []string{"aro"}},
		"the most customers":   {tenant.OverviewFilter{Order: new("customers"), Size: 1, Number: 1}, []string{"aro"}},
		"the second page":      {tenant.OverviewFilter{Order: new("name"), Size: 2, Number: 2}, []string{"cloud", "delta"}},
		"behind the last page": {tenant.OverviewFilter{Order: new("name"), Size: 2, Number: 9}, nil},
	} {
		if got := slugs(o.overview(c.OverviewFilter)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
	// The last activity comes first.
	o.sell(bike)
	o.Check(o.Service.Count(t.Context()))
	if got := slugs(o.overview(tenant.OverviewFilter{})); got[0] != "bike" {
		t.Errorf("by activity: %v", got)
	}
	// Counts use the other filters; the total uses all.
	if found := o.overview(tenant.OverviewFilter{Search: new("o@example.com"), Condition: new("suspended")}); found.Total != 1 || found.All() != 2 {
		t.Errorf("%d of %d found: %+v", found.Total, found.All(), found.Counts)
	}
	_, err := o.Overview(t.Context(), o.By, tenant.OverviewFilter{Condition: new("fine"), Order: new("size"), Number: 0, Size: 25, Search: new(strings.Repeat("x", 256))})
	shoptest.WantFields(t, err, core.Fields{
		"status": {core.InvalidChoice}, "sort": {core.InvalidChoice}, "page": {core.Min(1)},
		"search": {core.MaxLength(255)},
	})
}

// Completed sales of the last 30 days are counted, voided ones are not.
func TestCountIsOfRecentSales(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	made := o.named("aro", nil)
	o.sell(made)
	o.sell(made)
	o.Exec(`
		update loyalty.transaction set status = 'voided', voided_at = now() where id = (select max(id::text)::uuid from loyalty.transaction)`)
	o.Check(o.Service.Count(t.Context()))
	if got := o.overview(tenant.OverviewFilter{}).Tenants[0]; got.SalesLately != 1 {
		t.Errorf("sales = %d, want the one that was not voided", got.SalesLately)
	}
	later := tenant.NewService(o.DB.At(o.DB.Now().Add(tenant.RecentPeriod+time.Hour)), nil)
	o.Check(later.Count(t.Context()))
	if got := o.overview(tenant.OverviewFilter{}).Tenants[0]; got.SalesLately != 0 || got.Condition != tenant.IsActive || got.LastActivityAt == nil {
		t.Errorf("a month later: %+v", got)
	}
	// A slower process that counts for an earlier instant changes nothing.
	o.Check(o.Service.Count(t.Context()))
	if got := o.overview(tenant.OverviewFilter{}).Tenants[0]; got.SalesLately != 0 {
		t.Errorf("an older count replaced a newer one: %+v", got)
	}
	// A tenant can't count the others.
	_, err := db.In(t.Context(), o.DB.Tenant(core.Actor{Kind: core.BySystem, Tenant: core.Tenant{ID: made.ID}}), func(tx *db.Tx) (int64, error) {
		return db.One[int64](t.Context(), tx, "select loyalty.count_tenants(now(), gen_random_uuid())", nil)
	})
	if err == nil || !strings.Contains(err.Error(), "this works on all tenants") {
		t.Errorf("in a tenant: %v", err)
	}
}

// One round trip for the list, four for one tenant.
func TestOverviewRoundTrips(t *testing.T) {
	t.Parallel()
	d, trips := dbtest.RoundTrips(t)
	o := officeIn(t, d)
	made := o.create(described(slug()))
	searched := tenant.OverviewFilter{Size: 25, Number: 1, Search: new("x")}
	o.overview(searched)
	o.Must(o.Find(t.Context(), o.By, made.ID))
	before := trips()
	o.overview(searched)
	if n := trips() - before; n != 1 {
		t.Errorf("an overview takes %d round trips, want 1", n)
	}
	before = trips()
	o.Must(o.Find(t.Context(), o.By, made.ID))
	if n := trips() - before; n != 4 {
		t.Errorf("one tenant takes %d round trips, want 4", n)
	}
}

// A tenant has its usage and people.
func TestFind(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create(described(slug()))
	o.sell(made)
	d, err := o.Find(t.Context(), o.By, made.ID)
	o.Check(err)
	if d.ID != made.ID || d.PlanName != "Free" || d.Served.Slug != made.Slug || d.SuspendedAt != nil || len(d.Uses) != 3 || d.Uses[0] != (usage.Use{Kind: usage.Customers, Used: 1}) {
		t.Errorf("found %+v", d)
	}
	if len(d.People) != 1 || d.People[0].Role != core.Owner || !d.People[0].Invited || d.People[0].SignedInAt != nil || d.InvitedOwner() == nil {
		t.Errorf("its people: %+v", d.People)
	}
	o.Exec(`
		with known as (
			update loyalty.credential set password_hash = 'x' where staff_id = $2 returning staff_id
		)
		insert into loyalty.audit_entry (tenant_id, id, action, subject_kind, subject_id, actor_kind, actor_id, actor_name, address, request_id, created_at)
		select $1, gen_random_uuid(), 'staff.sign_in', 'staff', staff_id::text, 'staff', staff_id::text, 'Maja', '', '', now()
		from known`, made.ID, d.People[0].ID)
	if d, err = o.Find(t.Context(), o.By, made.ID); err != nil || d.People[0].SignedInAt == nil || d.People[0].Invited || d.InvitedOwner() != nil {
		t.Errorf("after signing in: %+v, %v", d.People, err)
	}
	if _, err := o.Find(t.Context(), o.By, 1<<40); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("none = %v", err)
	}
}

// The reason of a suspension is stored, mailed to the owner and in the audit log; a suspended
// tenant can be reactivated.
func TestSuspend(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create(described(slug()))
	_, err := o.Suspend(t.Context(), o.By, made.ID, " ")
	shoptest.WantFields(t, err, core.Fields{"reason": {core.Required}})
	_, err = o.Suspend(t.Context(), o.By, made.ID, strings.Repeat("x", 501))
	shoptest.WantFields(t, err, core.Fields{"reason": {core.MaxLength(500)}})
	if _, err := o.Reactivate(t.Context(), o.By, made.ID); !errors.Is(err, tenant.ErrNotSuspended) {
		t.Errorf("reactivating an active one: %v", err)
	}

	suspended, err := o.Suspend(t.Context(), o.By, made.ID, "Three invoices are overdue.")
	if err != nil || suspended.Status != tenant.Suspended || suspended.SuspendedAt == nil || *suspended.SuspendReason != "Three invoices are overdue." {
		t.Fatalf("suspended: %+v, %v", suspended, err)
	}
	if _, err := o.Suspend(t.Context(), o.By, made.ID, "Again"); !errors.Is(err, tenant.ErrSuspended) {
		t.Errorf("twice: %v", err)
	}
	// Other edits don't change it.
	if edited := o.edit(made.ID, tenant.Edit{Name: core.Set("Kiosk"), Status: core.Set("suspended")}); edited.SuspendReason == nil || !edited.SuspendedAt.Equal(*suspended.SuspendedAt) {
		t.Errorf("edited: %+v", edited)
	}
	d, err := o.Find(t.Context(), o.By, made.ID)
	if err != nil || d.Condition != tenant.IsSuspended || *d.SuspendReason != "Three invoices are overdue." {
		t.Errorf("found: %+v, %v", d, err)
	}
	active, err := o.Reactivate(t.Context(), o.By, made.ID)
	if err != nil || active.Status != tenant.Active || active.SuspendedAt != nil || active.SuspendReason != nil {
		t.Errorf("reactivated: %+v, %v", active, err)
	}
	log := o.log(made.ID)
	for i, want := range []string{
		"tenant.create", `tenant.suspend Root 192.0.2.7 request-1 - {"email": "owner@example.com", "reason": "Three invoices are overdue."}`, "tenant.edit",
		`tenant.reactivate Root 192.0.2.7 request-1 - {"email": "owner@example.com"}`,
	} {
		if len(log) != 4 || !strings.HasPrefix(log[i], want) {
			t.Errorf("the log is %q", log)
			break
		}
	}
	rows, err := dbtest.Owner(o.DB).Query(t.Context(), "select recipient || ': ' || text from loyalty.mail where recipient = 'owner@example.com' and text like $1 order by id", "%"+made.Slug+"%Reason:%")
	o.Check(err)
	var mails []string
	for rows.Next() {
		var m string
		o.Check(rows.Scan(&m))
		mails = append(mails, m)
	}
	want := []string{
		fmt.Sprintf("owner@example.com: {Tenant:Café Slug:%s Reason:Three invoices are overdue. Over:false}", made.Slug),
		fmt.Sprintf("owner@example.com: {Tenant:Kiosk Slug:%s Reason: Over:true}", made.Slug),
	}
	if diff := cmp.Diff(want, mails); diff != "" {
		t.Errorf("mails (-want +got):\n%s", diff)
	}

	// "API PATCH status keeps working (reason null)."
	if plain := o.edit(made.ID, tenant.Edit{Status: core.Set("suspended")}); plain.SuspendedAt == nil || plain.SuspendReason != nil {
		t.Errorf("without a reason: %+v", plain)
	}
	if again := o.edit(made.ID, tenant.Edit{Status: core.Set("active")}); again.SuspendedAt != nil {
		t.Errorf("active again: %+v", again)
	}
	if _, err := o.Suspend(t.Context(), o.By, 1<<40, "None"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("none = %v", err)
	}
}

// No role of a tenant can use the platform's use cases.
func TestTenantsRolesAreRefused(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create(described(slug()))
	for _, by := range []core.Actor{
		{},
		{Kind: core.ByStaff, Tenant: core.Tenant{ID: made.ID}, Role: core.Owner},
		{Kind: core.ByToken, Tenant: core.Tenant{ID: made.ID}, Role: core.Owner},
		{Kind: core.ByAdmin, Tenant: core.Tenant{ID: made.ID}, Role: core.SuperAdmin},
	} {
		_, create := core.Result(o.Create(t.Context(), by, described(slug()), nil))
		_, edit := o.Edit(t.Context(), by, made.ID, tenant.Edit{})
		_, list := o.List(t.Context(), by, tenant.Filter{}, core.Page{Size: 1})
		_, overview := o.Overview(t.Context(), by, tenant.OverviewFilter{})
		_, find := o.Find(t.Context(), by, made.ID)
		_, suspend := o.Suspend(t.Context(), by, made.ID, "No")
		_, reactivate := o.Reactivate(t.Context(), by, made.ID)
		for what, err := range map[string]error{
			"create": create, "edit": edit, "list": list, "overview": overview, "find": find, "suspend": suspend, "reactivate": reactivate,
		} {
			if !errors.Is(err, core.ErrAdmin) {
				t.Errorf("%s by %s %s: %v", what, by.Kind, by.Role, err)
			}
		}
	}
}
