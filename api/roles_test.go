package api_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/token"
)

// dismissals are the changes that take a person's access away, with the statuses of an owner's
// token and session afterwards; 0: access.
var dismissals = []struct {
	name           string
	do             func(s *shop, person core.Actor) error
	token, session int // on token routes, the only ones that accept a session
}{
	{"nothing", func(*shop, core.Actor) error { return nil }, 0, 0},
	{"owner to manager", func(s *shop, p core.Actor) error { return s.role(p, core.Manager) }, 401, 403},
	{"owner to cashier", func(s *shop, p core.Actor) error { return s.role(p, core.Cashier) }, 401, 403},
	{"owner to manager and back", func(s *shop, p core.Actor) error {
		if err := s.role(p, core.Manager); err != nil {
			return err
		}
		return s.role(p, core.Owner)
	}, 401, 0},
	{"deactivated", func(s *shop, p core.Actor) error { return s.people.Deactivate(s.T.Context(), s.By, p.StaffID) }, 401, 401},
	{"tenant suspended", func(s *shop, _ core.Actor) error {
		_, err := s.tenants.Suspend(s.T.Context(), core.System(core.Tenant{}, "test"), s.By.Tenant.ID, "Unpaid")
		return err
	}, 401, 401},
}

func (s *shop) role(p core.Actor, role core.Role) error {
	return s.people.SetRole(s.T.Context(), s.By, p.StaffID, role)
}

// "A token works only while its person may have one: an owner of the tenant (or a super-admin).
// Losing the role, being deactivated or a suspended tenant turns it to 401 at once": after
// every such change, on every route, with token and session.
func TestEveryRouteAfterADismissal(t *testing.T) {
	t.Parallel()
	for _, d := range dismissals {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.change("credential", "password_hash = 'x'", "staff_id = "+s.By.ID) // another owner stays
			person := dbtest.Person(t, s.db, s.By, core.Owner)
			secret := makeToken(t, s.server, person, token.Abilities...).Secret
			host, cookie := s.signedIn(person)
			before := s.everyRoute(secret, host, cookie)
			for route, got := range before {
				about := strings.HasPrefix(strings.Split(route, " ")[1], "/api/v1/tokens")
				platform := strings.Contains(route, "/platform/")
				if (got.token == 403) != platform || got.token == 401 || (got.session == 401) == about {
					t.Errorf("%s before: %+v", route, got)
				}
			}
			if err := d.do(s, person); err != nil {
				t.Fatal(err)
			}
			for route, got := range s.everyRoute(secret, host, cookie) {
				want := before[route]
				if d.token != 0 {
					want.token = d.token
				}
				if want.session != 401 && d.session != 0 {
					want.session = d.session
				}
				if got != want {
					t.Errorf("%s: %+v, want %+v", route, got, want)
				}
			}
		})
	}
}

// answered has the statuses of one route.
type answered struct{ token, session int }

func (s *shop) everyRoute(secret, host, cookie string) map[string]answered {
	s.T.Helper()
	all := map[string]answered{}
	for _, e := range s.api.Endpoints() {
		method, path := unknownIDs(e.Method + " " + e.Path)
		if !slices.Contains([]string{"GET", "POST", "PATCH", "DELETE"}, method) {
			s.T.Fatalf("unknown method %s", method)
		}
		all[method+" "+path] = answered{
			token:   s.server.call(s.T, method, path, secret, "").status,
			session: s.server.call(s.T, method, path, "", "", host, cookie, "Sec-Fetch-Site: same-origin").status,
		}
	}
	return all
}

func TestEveryRouteOfADismissedSuperAdmin(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	secret := platformToken(t, s.server)
	id, _, _ := strings.Cut(secret, "|")
	s.must(dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.staff set status = 'inactive' where id = (select staff_id from loyalty.token where id::text = $1)", id))
	for _, e := range s.api.Endpoints() {
		method, path := unknownIDs(e.Method + " " + e.Path)
		s.server.call(t, method, path, secret, "").is(t, 401, unauthorized)
	}
}

// "At most 100 live tokens a person (422 `token-limit-reached`); the mails about new tokens are
// gathered, at most one an hour": 200 calls at once make 100 tokens and one mail.
func TestConcurrentTokensStopAtTheLimit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.change("token", "told_at = told_at - interval '1 hour'") // the e-mail about the first one was an hour ago
	mails := s.rows("mail")
	var mu sync.Mutex
	statuses := map[int]int{}
	var wait sync.WaitGroup
	for i := range 200 {
		wait.Go(func() {
			got := s.server.call(t, "POST", "/api/v1/tokens", s.token, fmt.Sprintf(`{"name":"Till %d","scopes":[]}`, i))
			mu.Lock()
			defer mu.Unlock()
			statuses[got.status]++
			if got.status != 201 && !strings.Contains(got.body, "token-limit-reached") {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
	wait.Wait()
	if statuses[201] != token.MaxLive-1 || statuses[422] != 200-(token.MaxLive-1) {
		t.Errorf("statuses %v", statuses)
	}
	if n := s.rows("mail") - mails; n != 1 {
		t.Errorf("%d mails, want 1", n)
	}
}
