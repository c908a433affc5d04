package admin_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
	"example.com/loyalty/web/webtest"
)

var parameter = regexp.MustCompile(`:[a-z]+`)

// unknownRecord is the route's path, with ids that don't exist.
func unknownRecord(r route.Route) string {
	return parameter.ReplaceAllStringFunc(r.Path, func(name string) string {
		if name == ":id" || name == ":token" {
			return "999999999"
		}
		return "01JZZZZZZZZZZZZZZZZZZZZZZZ"
	})
}

// request sends a request to a route, for a record that doesn't exist.
func (b *browser) request(r route.Route, header ...string) webtest.Page {
	b.T.Helper()
	if r.Method == http.MethodPost {
		return b.Post(unknownRecord(r), nil, header...)
	}
	return b.Ask(r.Method, unknownRecord(r), header...)
}

// "A test walks every panel route as stranger, as each role and as another tenant's owner": without the
// required role, the answer is the sign-in or 403.
func TestEveryRouteRequiresItsRole(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	roles := map[core.Role]*browser{}
	for _, role := range []core.Role{core.Cashier, core.Manager, core.Owner} {
		roles[role] = s.signedIn(role)
	}
	// The cookie of another business's owner, sent to this host.
	foreign := s.stranger()
	foreign.Cookies[auth.SessionCookie] = other.signedIn(core.Owner).Cookies[auth.SessionCookie]

	for _, r := range admin.Routes() {
		if r.Who.Everyone {
			continue
		}
		for who, b := range map[string]*browser{"a stranger": s.stranger(), "another business's owner": foreign} {
			a := b.request(r)
			if to := a.Header().Get("Location"); a.Code != http.StatusSeeOther || !strings.HasPrefix(to, "/admin/sign-in") {
				t.Errorf("%s %s as %s = %d to %q, want the sign-in", r.Method, r.Path, who, a.Code, to)
			}
		}
		for role, b := range roles {
			if r.Path == "/admin/sign-out" {
				continue
			}
			a := b.request(r)
			allowed := role.Includes(r.Who.Role)
			if (a.Code == http.StatusForbidden) == allowed || a.Code >= http.StatusInternalServerError ||
				strings.HasPrefix(a.Header().Get("Location"), "/admin/sign-in") {
				t.Errorf("%s %s as %s = %d, allowed: %t", r.Method, r.Path, role, a.Code, allowed)
			}
			if a.Code >= http.StatusBadRequest && a.Find("main .empty-action a, form").Length() == 0 {
				t.Errorf("%s %s as %s: the error page of %d has no link", r.Method, r.Path, role, a.Code)
			}
		}
	}
}

const sessions = "/admin/settings/security/sessions/"

// records adds one record of each kind that routes contain, and returns their ids by the path before
// the id.
func (s *counter) records(owner *browser) map[string]string {
	s.T.Helper()
	branch, err := core.Result(s.Locations.Add(s.T.Context(), s.By, location.New{Name: "Harbour"}, nil))
	if err != nil {
		s.T.Fatal(err)
	}
	mug := s.offer("Mug", 30, 2)
	owner.Post(tokens+"/new", owner.tokenForm("Web shop", "customers:read"))
	for range 6 {
		s.adjusted("points", 1, "Sorry")
	}
	s.Check(s.Notifications.Check(s.T.Context(), s.By.Tenant))
	unusual := shoptest.Query[core.ID](s.Shop, "select id from loyalty.notification where tenant_id = $1 and kind = 'staff_activity'", s.By.Tenant.ID)
	spring := s.made(percentOff("Spring", "10"))
	s.send(spring, "one")
	records := map[string]string{
		"/admin/types/": s.typeID, "/admin/locations/": strconv.FormatInt(branch.ID, 10), staffPages + "/": owner.Person.ID,
		sessions: auth.SessionID(s.cashier.Cookies[auth.SessionCookie].Value), invoices: strconv.FormatInt(s.billed("issued", 4900), 10),
	}
	maps.Copy(records, s.earningRecords())
	levels := s.Levels(award.LevelRules{Basis: award.ByPoints, Period: award.AllTime}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1000})
	records["/admin/settings/programme/levels/"] = strconv.FormatInt(levels[1], 10)
	for _, path := range []string{
		"/admin/customers/" + s.elsa.ID.String(), s.sold(s.manager, "5"), mug, s.redeem(mug), spring,
		"/admin/notifications/" + unusual.String(), "/admin/vouchers/" + s.voucher("Summer", 5).String(),
		s.manager.uploaded(someCustomers), owner.Get(tokens).Links("tbody a")[0],
	} {
		records[path[:strings.LastIndex(path, "/")+1]] = path[strings.LastIndex(path, "/")+1:]
	}
	return records
}

// everything is each row of the shop's tables, as text.
func (s *shop) everything() string {
	s.T.Helper()
	var all strings.Builder
	for _, table := range shoptest.QueryAll[string](s.Shop, `
		select table_name::text
		from information_schema.columns
		where table_schema = 'loyalty'
			and column_name = 'tenant_id'`) {
		rows := shoptest.Query[string](s.Shop, "select coalesce(string_agg(x::text, ' ' order by x::text), '') from loyalty."+table+" x where tenant_id = $1", s.By.Tenant.ID)
		fmt.Fprintln(&all, table, rows)
	}
	return all.String()
}

// "… and as another tenant's owner": on their own host, another business's records are not found on any
// route, and are not changed.
func TestRecordsOfOtherBusinessesAreNotFound(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	owner := s.signedIn(core.Owner)
	records := s.records(owner)
	coupons := "/admin/coupons/"
	send := owner.Get(coupons + records[coupons]).Links("td a[href*='/sends/']")[0]
	before := s.everything()
	other := newShop(t)
	stranger := other.signedIn(core.Owner)
	own := other.everything()
	filled := webtest.Form(
		"first_name", "Mine", "last_name", "Mine", "phone", "070 174 06 05", "name", "Mine", "active", "0", "role", "owner", "change", "5", "understood", "1",
		"segment", "all", "when", "now", "subject", "Mine", "do", "top",
		"unit", "points", "amount", "5", "reason", "Mine", "rule_type", "points", "points_per_unit", "1", "unit_cents", "1", "points_cost", "1", "column_0", "phone",
	)
	for _, r := range admin.Routes() {
		noun, rest, names := strings.Cut(r.Path, ":")
		if !names || r.Who.Everyone {
			continue
		}
		record, known := records[noun]
		if !known {
			t.Errorf("there is no record for %s", r.Path)
		}
		_, action, _ := strings.Cut(rest, "/")
		action = strings.Replace(action, ":token", records[tokens+"/"], 1) // of that person
		path := strings.TrimSuffix(noun+record+"/"+action, "/")
		path = strings.Replace(path, coupons+record+"/sends/:send", send, 1)
		a := stranger.Ask(http.MethodGet, path)
		if r.Method == http.MethodPost {
			a = stranger.Post(path, filled)
		}
		want := http.StatusNotFound
		if noun == sessions { // an unknown session has ended already: back to the list
			want = http.StatusSeeOther
		}
		if a.Code != want {
			t.Errorf("%s %s = %d, want %d", r.Method, r.Path, a.Code, want)
		}
	}
	for noun, record := range records {
		if noun != sessions { // sessions have no page
			action := map[string]string{tokens + "/": "/revoke"}[noun]
			owner.Get(noun + record + action)
		}
	}
	owner.Get(staffPages + "/" + records[staffPages+"/"] + "/tokens/" + records[tokens+"/"] + "/revoke")
	if s.everything() != before || other.everything() != own {
		t.Error("a request changed another business's records")
	}
}

// "CrossOriginProtection": forms from other sites and from other tenants' hosts are refused.
func TestCrossOriginFormsAreRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	for _, r := range admin.Routes() {
		if r.Method != http.MethodPost {
			continue
		}
		for _, site := range []string{"cross-site", "same-site"} {
			if a := owner.request(r, "Sec-Fetch-Site", site); a.Code != http.StatusForbidden {
				t.Errorf("POST %s, %s = %d, want 403", r.Path, site, a.Code)
			}
		}
		if a := owner.request(r, "Sec-Fetch-Site", "", "Origin", "https://evil.example"); a.Code != http.StatusForbidden {
			t.Errorf("POST %s from another origin = %d, want 403", r.Path, a.Code)
		}
	}
	owner.Get("/admin/customers") // still signed in
}

// "Strict Content-Security-Policy without unsafe-inline or unsafe-eval, no sniffing,
// frame denial, referrer policy", "Vary and no caching of private pages", on every page.
func TestEveryPageIsPrivateAndStrict(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	for _, r := range admin.Routes() {
		if r.Method != http.MethodGet || r.Path == "/admin/look.css" || strings.HasPrefix(r.Path, "/admin/logo") {
			continue
		}
		a := owner.request(r)
		h := a.Header()
		policy := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: Content-Security-Policy %q", r.Path, policy)
		}
		if h.Get("Cache-Control") != "no-store" || !strings.Contains(strings.Join(h.Values("Vary"), ", "), "Cookie") {
			t.Errorf("%s: Cache-Control %q, Vary %q", r.Path, h.Values("Cache-Control"), h.Values("Vary"))
		}
		if h.Get("X-Frame-Options") != "DENY" || h.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s: %v", r.Path, h)
		}
		if a.Find("[style], style, script:not([src]), [onclick], [hx-on]").Length() > 0 {
			t.Errorf("%s contains inline styles or scripts, which its policy blocks", r.Path)
		}
	}
}

// Error pages are compressed like all others, also without a sign-in.
func TestErrorPagesAreCompressed(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(core.Cashier)
	for _, test := range []struct {
		who          *browser
		method, path string
		status       int
		message      string
	}{
		{cashier, http.MethodGet, "/admin/customers", http.StatusOK, ""},
		{cashier, http.MethodGet, "/admin/nowhere", http.StatusNotFound, page.NotFoundMessage},
		{cashier, http.MethodGet, "/admin/audit", http.StatusForbidden, ""},
		{cashier, http.MethodDelete, "/admin/customers", http.StatusMethodNotAllowed, page.NotDirectMessage},
		{s.stranger(), http.MethodGet, "/nowhere", http.StatusNotFound, page.NotFoundMessage},
	} {
		plain := test.who.Ask(test.method, test.path)
		packed := test.who.Ask(test.method, test.path, "Accept-Encoding", "gzip, br")
		if plain.Code != test.status || packed.Code != test.status || plain.Header().Get("Content-Encoding") != "" ||
			packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.Len() > plain.Body.Len()/2 {
			t.Fatalf("%s %s: %d in %d bytes, compressed %d in %d bytes (%q)", test.method, test.path,
				plain.Code, plain.Body.Len(), packed.Code, packed.Body.Len(), packed.Header().Get("Content-Encoding"))
		}
		r, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(r)
		if err != nil || string(unpacked) != plain.Body.String() || !strings.Contains(plain.Text("main"), test.message) {
			t.Errorf("%s %s: %v %s", test.method, test.path, err, unpacked)
		}
	}
}
