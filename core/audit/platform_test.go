package audit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

var root = core.Actor{Kind: core.ByAdmin, ID: "1", Name: "Root", Role: core.SuperAdmin}

// platform is an installation with its own audit log and those of two businesses.
type platform struct {
	t    *testing.T
	db   *db.DB
	a, b core.Actor
	at   time.Time
}

func newPlatform(t *testing.T) *platform {
	t.Helper()
	d := dbtest.OwnDB(t)
	return &platform{t, d, dbtest.Tenant(t, d), dbtest.Tenant(t, d), d.Now().Truncate(24*time.Hour).AddDate(0, 0, 1)}
}

// did writes an entry a minute after the last one: a tenant's, or the platform's.
func (p *platform) did(by core.Actor, e audit.Entry) {
	p.t.Helper()
	p.at = p.at.Add(time.Minute)
	e.Subject, _, _ = strings.Cut(e.Action, ".")
	write := func(tx *db.Tx) (int, error) { return 0, audit.Write(tx, by, e) }
	var err error
	if by.Tenant.ID == 0 {
		_, err = db.In(p.t.Context(), p.db.At(p.at).Platform(), write)
	} else {
		_, err = db.In(p.t.Context(), p.db.At(p.at).Tenant(by), write)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *platform) list(f audit.PlatformFilter, page core.Page) core.List[audit.PlatformLine] {
	p.t.Helper()
	if page.Size == 0 {
		page.Size = 100
	}
	list, err := audit.NewService(p.db).ListPlatform(p.t.Context(), root, f, page)
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// seen returns the lines that this test wrote, as "slug action", newest first.
func (p *platform) seen(f audit.PlatformFilter) (lines []string) {
	p.t.Helper()
	for _, l := range p.list(f, core.Page{}).Items {
		if l.At.Before(p.at.Truncate(24 * time.Hour)) {
			continue // from creating the businesses
		}
		name := map[core.TenantID]string{p.a.Tenant.ID: "a", p.b.Tenant.ID: "b"}[l.Tenant.ID]
		lines = append(lines, strings.TrimSpace(name+" "+l.Action))
	}
	return lines
}

// The platform's list has the entries of the platform and all tenants, newest first, with filters
// by business, action, person and date.
func TestListPlatform(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	var email string
	if err := dbtest.Owner(p.db).QueryRow(t.Context(), "select email from loyalty.staff where id = $1", p.a.StaffID).Scan(&email); err != nil {
		t.Fatal(err)
	}
	helper := core.Actor{Kind: core.ByAdmin, ID: "1", Name: "Root", Role: core.SuperAdmin, Tenant: p.b.Tenant}
	p.did(p.a, audit.Entry{Action: "location.create", ID: "1"})
	p.did(p.b, audit.Entry{Action: "token.create", ID: "2"})
	p.did(root, audit.Entry{Action: "queue.pause", ID: "mail"})
	p.did(root, audit.Entry{Action: "tenant.create", ID: fmt.Sprint(p.a.Tenant.ID), Name: p.a.Tenant.Name})
	p.did(helper, audit.Entry{Action: "tenant.edit", ID: fmt.Sprint(p.b.Tenant.ID), Name: p.b.Tenant.Name})
	p.did(p.a, audit.Entry{Action: "location.edit", ID: "1"})
	day := p.at.Truncate(24 * time.Hour)
	next := day.AddDate(0, 0, 1)
	for name, c := range map[string]struct {
		f    audit.PlatformFilter
		want []string
	}{
		"all":              {audit.PlatformFilter{}, []string{"a location.edit", "b tenant.edit", "tenant.create", "queue.pause", "b token.create", "a location.create"}},
		"a business":       {audit.PlatformFilter{Business: &p.a.Tenant.Slug}, []string{"a location.edit", "tenant.create", "a location.create"}},
		"a noun":           {audit.PlatformFilter{Filter: audit.Filter{Subject: new("tenant")}}, []string{"b tenant.edit", "tenant.create"}},
		"an action":        {audit.PlatformFilter{Filter: audit.Filter{Action: new("location.edit")}}, []string{"a location.edit"}},
		"of the platform":  {audit.PlatformFilter{Filter: audit.Filter{Subject: new("queue")}}, []string{"queue.pause"}},
		"an actor":         {audit.PlatformFilter{Filter: audit.Filter{Actor: new("admin:1")}}, []string{"b tenant.edit", "tenant.create", "queue.pause"}},
		"both":             {audit.PlatformFilter{Filter: audit.Filter{Actor: new("admin:1"), Subject: new("tenant")}, Business: &p.b.Tenant.Slug}, []string{"b tenant.edit"}},
		"a person":         {audit.PlatformFilter{Person: new(strings.ToUpper(email))}, []string{"a location.edit", "a location.create"}},
		"a day":            {audit.PlatformFilter{Filter: audit.Filter{From: &day, To: &day}}, []string{"a location.edit", "b tenant.edit", "tenant.create", "queue.pause", "b token.create", "a location.create"}},
		"the day after":    {audit.PlatformFilter{Filter: audit.Filter{From: &next}}, nil},
		"nothing about it": {audit.PlatformFilter{Filter: audit.Filter{Subject: new("queue")}, Business: &p.a.Tenant.Slug}, nil},
	} {
		if got := p.seen(c.f); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, l := range p.list(audit.PlatformFilter{}, core.Page{}).Items {
		switch l.Action {
		case "tenant.create":
			if l.Subject == "tenant" && l.SubjectID == fmt.Sprint(p.a.Tenant.ID) && l.SubjectName != p.a.Tenant.Name {
				t.Errorf("who was created is %q", l.SubjectName)
			}
		case "tenant.edit":
			if l.Tenant.Slug != p.b.Tenant.Slug || l.Tenant.Currency != "EUR" || l.SubjectName != p.b.Tenant.Name {
				t.Errorf("the tenant of an entry: %q of %+v", l.SubjectName, l.Tenant)
			}
		}
	}
}

// Pages go forward and back over the logs of the platform and the tenants.
func TestListPlatformInPages(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	for i := range 12 {
		by := []core.Actor{p.a, root, p.b}[i%3]
		p.did(by, audit.Entry{Action: []string{"location.edit", "queue.pause", "location.edit"}[i%3], ID: fmt.Sprint(i)})
	}
	day := p.at.Truncate(24 * time.Hour)
	for _, f := range []audit.PlatformFilter{{Filter: audit.Filter{From: &day}}, {Filter: audit.Filter{From: &day, Subject: new("location")}}} {
		all := p.list(f, core.Page{}).Items
		var forward []core.ID
		page := core.Page{Size: 5}
		var last core.List[audit.PlatformLine]
		for {
			last = p.list(f, page)
			for _, l := range last.Items {
				forward = append(forward, l.ID)
			}
			if last.Next == nil {
				break
			}
			page.Cursor = last.Next
		}
		var want []core.ID
		for _, l := range all {
			want = append(want, l.ID)
		}
		if !slices.Equal(forward, want) {
			t.Errorf("%d lines forward, want %d", len(forward), len(want))
		}
		page.Cursor = last.Prev
		back := p.list(f, page)
		if n := len(back.Items); n != 5 || back.Items[n-1].ID != want[len(want)-len(last.Items)-1] {
			t.Errorf("%d lines back", n)
		}
	}
}

// No tenant can list the platform's log.
func TestListPlatformIsForSuperAdmins(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	owner := p.a
	owner.Role = core.SuperAdmin // of a tenant, there are none
	for _, by := range []core.Actor{p.a, owner, {Kind: core.ByToken, Tenant: p.a.Tenant, Role: core.Owner}} {
		if _, err := audit.NewService(p.db).ListPlatform(t.Context(), by, audit.PlatformFilter{}, core.Page{Size: 5}); !errors.Is(err, core.ErrAdmin) {
			t.Errorf("%s of a tenant = %v, want ErrAdmin", by.Role, err)
		}
	}
	for _, sql := range []string{
		"select count(*) from loyalty.audit_page('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', null, null, null, null, false, 10)",
		"select count(*) from loyalty.audit_log('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', null, null, null, null, false, 10)",
		"select count(*) from loyalty.audit_records('{1}', '{null}', '{1}')",
	} {
		_, err := db.In(t.Context(), p.db.Tenant(p.a), func(tx *db.Tx) (int64, error) { return db.One[int64](t.Context(), tx, sql, nil) })
		if err == nil || !strings.Contains(err.Error(), "works on all tenants") {
			t.Errorf("%s by a tenant = %v", sql, err)
		}
	}
}

// Unknown filter values are refused.
func TestListPlatformRefusesUnknownFilters(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	for field, f := range map[string]audit.PlatformFilter{
		"subject": {Filter: audit.Filter{Subject: new("weather")}}, "action": {Filter: audit.Filter{Action: new("rain.fall")}},
		"actor": {Filter: audit.Filter{Actor: new("wind")}}, "business": {Business: new("nowhere")}, "person": {Person: new("stranger@example.com")},
		"to": {Filter: audit.Filter{From: new(p.at), To: new(p.at.AddDate(0, 0, -2))}},
	} {
		_, err := audit.NewService(p.db).ListPlatform(t.Context(), root, f, core.Page{Size: 5})
		var refusal *core.Error
		if !errors.As(err, &refusal) || len(refusal.Fields[field]) != 1 || len(refusal.Fields) != 1 {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestPlatformPageIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	p := &platform{t, d, dbtest.Tenant(t, d), core.Actor{}, d.Now()}
	for _, c := range []struct {
		f    audit.PlatformFilter
		want int
	}{{audit.PlatformFilter{}, 1}, {audit.PlatformFilter{Business: &p.a.Tenant.Slug}, 2}} {
		p.list(c.f, core.Page{})
		before := count()
		p.list(c.f, core.Page{})
		if got := count() - before; got != c.want {
			t.Errorf("%+v: %d round trips, want %d", c.f, got, c.want)
		}
	}
}
