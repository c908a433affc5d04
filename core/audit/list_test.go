package audit_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// business has an audit log.
type business struct{ shoptest.Shop }

func newBusiness(t *testing.T) business { return business{shoptest.New(t)} }

// did writes an entry at an instant.
func (b business) did(at time.Time, by core.Actor, e audit.Entry) {
	b.T.Helper()
	e.Subject, _, _ = strings.Cut(e.Action, ".")
	b.Check(write(b.T, b.DB.At(at), by, e, nil))
}

func (b business) list(by core.Actor, f audit.Filter, p core.Page) core.List[audit.Line] {
	b.T.Helper()
	l, err := b.Audit.List(b.T.Context(), by, f, p)
	b.Check(err)
	return l
}

func (b business) all(f audit.Filter) []audit.Line {
	b.T.Helper()
	return b.list(b.By, f, core.Page{Size: 100}).Items
}

func ids(lines []audit.Line) (ids []core.ID) {
	for _, l := range lines {
		ids = append(ids, l.ID)
	}
	return ids
}

// A line has actor, action, subject, and old and new values.
func TestLineHasAllFields(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	by := b.By
	by.Address, by.RequestID = "192.0.2.7", "request-1"
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	b.did(at, by, audit.Entry{
		Action: "reward.edit", ID: "7",
		Old: map[string]any{"name": "Espresso", "points_cost": 10, "stock": nil, "active": true, "description": "Small, strong", "same": "same"},
		New: map[string]any{"name": "Doppio \"due\" <3", "points_cost": 20, "stock": 5, "active": false, "same": "same", "image": nil, "sizes": []int{1, 2}},
	})
	got := b.all(audit.Filter{Subject: new("reward")})
	if len(got) != 1 {
		t.Fatalf("%d lines, want 1", len(got))
	}
	want := audit.Line{
		ID: got[0].ID, At: got[0].At, Action: "reward.edit", Subject: "reward", SubjectID: "7",
		Changes: []audit.Change{
			{"active", new("true"), new("false")},
			{"description", new("Small, strong"), nil},
			{"name", new("Espresso"), new("Doppio \"due\" <3")},
			{"points_cost", new("10"), new("20")},
			{"sizes", nil, new("[1, 2]")},
			{"stock", nil, new("5")},
		},
		Actor: "staff:" + by.ID, ActorName: "A owner", Address: "192.0.2.7", RequestID: "request-1",
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
	if got[0].At.Truncate(time.Minute) != at {
		t.Errorf("at %s, want %s", got[0].At, at)
	}
	b.did(at, by, audit.Entry{Action: "token.revoke", ID: "7"})
	if got := b.all(audit.Filter{Subject: new("token")}); len(got) != 1 || got[0].Changes != nil {
		t.Errorf("without values = %+v", got)
	}
}

// Each filter, alone and combined, finds the same lines as a scan of all lines, in pages forward
// and back.
func TestFilters(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	people := []core.Actor{b.By, b.As(core.Manager).By, core.System(b.By.Tenant, "mail")}
	actions := []string{"customer.edit", "customer.create", "reward.edit", "token.create", "staff.invite"}
	// Around the two midnights of a day in Stockholm, UTC+2.
	first := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	for range 80 {
		at := first.Add(time.Duration(rng.Int64N(int64(60 * time.Hour))))
		b.did(at, people[rng.IntN(3)], audit.Entry{Action: actions[rng.IntN(5)], ID: strconv.Itoa(rng.IntN(3))})
	}
	all := b.all(audit.Filter{})
	if len(all) < 80 || !slices.IsSortedFunc(all, func(a, b audit.Line) int { return slices.Compare(b.ID[:], a.ID[:]) }) {
		t.Fatalf("%d lines, want more, and the newest first", len(all))
	}
	day := func(date string) *time.Time {
		d, err := time.Parse(time.DateOnly, date)
		b.Check(err)
		return &d
	}
	date := func(l audit.Line) string { return l.At.In(b.By.Tenant.TimeZone).Format(time.DateOnly) }
	type condition struct {
		name  string
		set   func(*audit.Filter)
		picks func(audit.Line) bool
	}
	anything := condition{"", func(*audit.Filter) {}, func(audit.Line) bool { return true }}
	whats := []condition{
		anything,
		{"action", func(f *audit.Filter) { f.Action = new("customer.edit") }, func(l audit.Line) bool { return l.Action == "customer.edit" }},
		{"subject", func(f *audit.Filter) { f.Subject = new("customer") }, func(l audit.Line) bool { return l.Subject == "customer" }},
		{"record", func(f *audit.Filter) { f.Subject, f.SubjectID = new("customer"), new("1") }, func(l audit.Line) bool { return l.Subject == "customer" && l.SubjectID == "1" }},
		{
			"record and action", func(f *audit.Filter) {
				f.Subject, f.SubjectID, f.Action = new("customer"), new("1"), new("customer.edit")
			},
			func(l audit.Line) bool { return l.Action == "customer.edit" && l.SubjectID == "1" },
		},
		{"another's action", func(f *audit.Filter) { f.Subject, f.Action = new("reward"), new("customer.edit") }, func(audit.Line) bool { return false }},
	}
	whos := []condition{
		anything,
		{"person", func(f *audit.Filter) { f.Actor = new("staff:" + b.By.ID) }, func(l audit.Line) bool { return l.Actor == "staff:"+b.By.ID }},
		{"system", func(f *audit.Filter) { f.Actor = new("system:") }, func(l audit.Line) bool { return l.Actor == "system:" }},
	}
	whens := []condition{
		anything,
		{"from", func(f *audit.Filter) { f.From = day("2026-06-01") }, func(l audit.Line) bool { return date(l) >= "2026-06-01" }},
		{"to", func(f *audit.Filter) { f.To = day("2026-06-01") }, func(l audit.Line) bool { return date(l) <= "2026-06-01" }},
		{"on", func(f *audit.Filter) { f.From, f.To = day("2026-06-01"), day("2026-06-01") }, func(l audit.Line) bool { return date(l) == "2026-06-01" }},
	}
	for _, what := range whats {
		for _, who := range whos {
			for _, when := range whens {
				var f audit.Filter
				var want []core.ID
				for _, c := range []condition{what, who, when} {
					c.set(&f)
				}
				for _, l := range all {
					if what.picks(l) && who.picks(l) && when.picks(l) {
						want = append(want, l.ID)
					}
				}
				got := ids(shoptest.Walk(t, 7, func(p core.Page) (core.List[audit.Line], error) { return b.list(b.By, f, p), nil }))
				if !slices.Equal(got, want) {
					t.Errorf("%s, %s, %s: %d lines, want %d", what.name, who.name, when.name, len(got), len(want))
				}
			}
		}
	}
}

// Managers don't see entries about people, tokens, settings and billing; cashiers and other tenants
// see none.
func TestLogIsReadByRole(t *testing.T) {
	t.Parallel()
	b, stranger := newBusiness(t), newBusiness(t)
	manager, cashier := b.As(core.Manager).By, b.As(core.Cashier).By
	for _, action := range audit.Actions(b.By) {
		b.did(b.DB.Now(), b.By, audit.Entry{Action: action, ID: "70000"})
	}
	seen := func(by core.Actor, f audit.Filter) (actions []string) {
		t.Helper()
		for _, l := range b.list(by, f, core.Page{Size: 100}).Items {
			if l.SubjectID == "70000" && !slices.Contains(actions, l.Action) {
				actions = append(actions, l.Action)
			}
		}
		slices.Sort(actions)
		return actions
	}
	for _, f := range []audit.Filter{{}, {Actor: new("staff:" + b.By.ID)}} {
		if got, want := seen(b.By, f), slices.Sorted(slices.Values(audit.Actions(b.By))); !slices.Equal(got, want) {
			t.Errorf("an owner reads of %v, want %v", got, want)
		}
		got, want := seen(manager, f), slices.Sorted(slices.Values(audit.Actions(manager)))
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("a manager reads of %v, want %v", got, want)
		}
		for _, action := range got {
			if noun, _, _ := strings.Cut(action, "."); slices.Contains([]string{"staff", "session", "token", "tenant"}, noun) {
				t.Errorf("a manager reads of %s", action)
			}
		}
		if got := seen(stranger.By, f); len(got) != 0 {
			t.Errorf("a stranger reads of %v", got)
		}
	}
	for _, f := range []audit.Filter{
		{Subject: new("staff")}, {Subject: new("token"), SubjectID: new("70000")}, {Action: new("tenant.edit")}, {Action: new("token.create"), Actor: new("staff:1")},
	} {
		if _, err := b.Audit.List(t.Context(), manager, f, core.Page{Size: 15}); !errors.Is(err, core.ErrRole) {
			t.Errorf("a manager asks for the owner's: %v, want ErrRole", err)
		}
	}
	if _, err := b.Audit.List(t.Context(), cashier, audit.Filter{}, core.Page{Size: 15}); !errors.Is(err, core.ErrRole) || audit.Actions(cashier) != nil {
		t.Errorf("a cashier = %v, want ErrRole", err)
	}
}

// All unknown filter values are refused at once.
func TestListRefusesUnknownFilters(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	june, may := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		f    audit.Filter
		want core.Fields
	}{
		{audit.Filter{Action: new("customer.eat"), Subject: new("customs"), Actor: new("12"), From: &june, To: &may}, core.Fields{
			"action": {core.InvalidChoice}, "subject": {core.InvalidChoice},
			"actor": {core.InvalidChoice}, "to": {core.AfterOrEqual("from")},
			"cursor": {core.InvalidChoice},
		}},
		{audit.Filter{SubjectID: new("7"), Actor: new("ghost:12")}, core.Fields{
			"subject": {core.Required}, "actor": {core.InvalidChoice}, "cursor": {core.InvalidChoice},
		}},
		{audit.Filter{Subject: new("customer"), SubjectID: new("\x00"), Actor: new("staff:\x00")}, core.Fields{
			"subject_id": {core.NoNUL}, "actor": {core.NoNUL},
			"cursor": {core.InvalidChoice},
		}},
	} {
		_, err := b.Audit.List(t.Context(), b.By, c.f, core.Page{Size: 15, Malformed: core.Fields{"cursor": {core.InvalidChoice}}})
		shoptest.WantFields(t, err, c.want)
	}
}

func TestAPageIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	b := business{shoptest.In(t, d)}
	b.did(d.Now(), b.By, audit.Entry{Action: "customer.edit", ID: core.NewID(d.Now()).String()})
	trips := func(ask func()) int {
		ask() // prepares the statements
		before := count()
		ask()
		return count() - before
	}
	for _, f := range []audit.Filter{
		{}, {Action: new("customer.edit")}, {Actor: new("staff:" + b.By.ID)}, {Subject: new("customer"), SubjectID: new("1")},
	} {
		if got := trips(func() { b.all(f) }); got != 1 {
			t.Errorf("%+v makes %d round trips, want 1", f, got)
		}
	}
	if got := trips(func() { b.people() }); got != 1 {
		t.Errorf("whom to pick makes %d round trips, want 1", got)
	}
}

// The platform's actions are in its own log.
var ofThePlatform = audit.PlatformActions()

// Every action that core writes is in the list of nouns.
func TestEveryActionIsKnown(t *testing.T) {
	t.Parallel()
	known := audit.Actions(core.System(core.Tenant{}, "test"))
	looksLikeOne := regexp.MustCompile(`^"[a-z_]{2,}\.[a-z_]+"$`) // not a column: "t.id"
	found := 0
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"example.com/loyalty/core/audit"` }) {
			return nil
		}
		ast.Inspect(file, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			if !ok || !looksLikeOne.MatchString(l.Value) {
				return true
			}
			found++
			if action := strings.Trim(l.Value, `"`); !slices.Contains(known, action) && !slices.Contains(ofThePlatform, action) {
				t.Errorf("%s writes %s, which core/audit/known.go does not have: who may read of it?", path, action)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 20 {
		t.Errorf("only %d actions are found in the code", found)
	}
	if once := slices.Compact(slices.Sorted(slices.Values(known))); len(once) != len(known) {
		t.Errorf("an action is listed twice: %v", known)
	}
}
