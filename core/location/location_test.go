package location_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/shoptest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// chain is a business with locations.
type chain struct {
	shoptest.Shop
	*location.Service
}

func newChain(t *testing.T) chain { return chainIn(t, dbtest.DB(t)) }

func chainIn(t *testing.T, d *db.DB) chain { return chain{shoptest.In(t, d), location.NewService(d)} }

func (c chain) open(name string) location.Location {
	c.T.Helper()
	l, err := core.Result(c.Add(c.T.Context(), c.By, location.New{Name: name}, nil))
	c.Check(err)
	return l
}

func (c chain) wantList(want ...location.Location) {
	c.T.Helper()
	got, err := c.List(c.T.Context(), c.By)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		c.T.Errorf("List: %v (-want +got):\n%s", err, diff)
	}
}

func second[T any](_ T, err error) error { return err }

// Locations are added, edited and listed.
func TestLocations(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	c.wantList()
	vasa, soder := c.open(" Vasastan "), c.open("Södermalm")
	if vasa.Name != "Vasastan" || !vasa.Active {
		t.Errorf("made %+v", vasa)
	}
	c.wantList(soder, vasa)

	for _, e := range []struct {
		edit location.Edit
		then location.Location
	}{
		{location.Edit{}, vasa},
		{location.Edit{Active: core.Set(false)}, location.Location{ID: vasa.ID, Name: "Vasastan"}},
		{location.Edit{Name: core.Set("Odenplan")}, location.Location{ID: vasa.ID, Name: "Odenplan"}},
		{location.Edit{Name: core.Set("ODENPLAN"), Active: core.Set(true)}, location.Location{ID: vasa.ID, Name: "ODENPLAN", Active: true}},
	} {
		if got, err := c.Edit(t.Context(), c.By, vasa.ID, e.edit); err != nil || got != e.then {
			t.Errorf("Edit = %+v, %v, want %+v", got, err, e.then)
		}
	}
	c.wantList(location.Location{ID: vasa.ID, Name: "ODENPLAN", Active: true}, soder)
}

// Duplicate names are refused in any notation, since the till couldn't tell them apart.
func TestDuplicateNamesAreRefused(t *testing.T) {
	t.Parallel()
	c, other := newChain(t), newChain(t)
	taken := core.Fields{"name": {core.Duplicate}}
	soder, vasa := c.open("Söder"), c.open("Vasastan")
	shoptest.WantFields(t, second(core.Result(c.Add(t.Context(), c.By, location.New{Name: "SÖDER"}, nil))), taken)
	shoptest.WantFields(t, second(c.Edit(t.Context(), c.By, vasa.ID, location.Edit{Name: core.Set("söder")})), taken)
	other.open("Söder")
	c.wantList(soder, vasa)

	var made atomic.Int32
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if _, err := core.Result(c.Add(t.Context(), c.By, location.New{Name: "Kungsholmen"}, nil)); err == nil {
				made.Add(1)
			} else if !core.IsKind(err, core.KindInvalid) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("%d made of one name, want 1", made.Load())
	}
}

func TestWrongFields(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	soder := c.open("Söder")
	required := core.Fields{"name": {core.Required}}
	shoptest.WantFields(t, second(core.Result(c.Add(t.Context(), c.By, location.New{}, nil))), required)
	shoptest.WantFields(t, second(core.Result(c.Add(t.Context(), c.By, location.New{Name: " "}, nil))), required)
	shoptest.WantFields(t, second(core.Result(c.Add(t.Context(), c.By, location.New{Name: strings.Repeat("å", 101)}, nil))),
		core.Fields{"name": {core.MaxLength(100)}})
	shoptest.WantFields(t, second(core.Result(c.Add(t.Context(), c.By, location.New{Malformed: core.Fields{"name": {core.MustBeString}}}, nil))), core.Fields{"name": {core.MustBeString}})
	shoptest.WantFields(t, second(c.Edit(t.Context(), c.By, soder.ID, location.Edit{
		Name: core.Optional[string]{Set: true}, Active: core.Optional[bool]{Set: true},
	})), core.Fields{"name": {core.Required}, "active": {core.Required}})
	shoptest.WantFields(t, second(c.Edit(t.Context(), c.By, soder.ID, location.Edit{Malformed: core.Fields{"name": {core.MustBeString}}})), core.Fields{"name": {core.MustBeString}})
	c.wantList(soder)
}

// Managers can change locations, cashiers can't.
func TestManagersChangeLocations(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	soder := c.open("Söder")
	for role, want := range map[core.Role]error{core.Cashier: core.ErrRole, core.Manager: nil, core.Owner: nil} {
		by := dbtest.Person(t, c.DB, c.By, role)
		if err := second(core.Result(c.Add(t.Context(), by, location.New{Name: "Of the " + string(role)}, nil))); !errors.Is(err, want) {
			t.Errorf("Add by a %s = %v, want %v", role, err, want)
		}
		if err := second(c.Edit(t.Context(), by, soder.ID, location.Edit{Active: core.Set(false)})); !errors.Is(err, want) {
			t.Errorf("Edit by a %s = %v, want %v", role, err, want)
		}
		if _, err := c.List(t.Context(), by); err != nil {
			t.Errorf("List by a %s = %v", role, err)
		}
	}
}

// Another tenant's locations look like missing ones.
func TestAnotherTenantsLocationsDoNotExist(t *testing.T) {
	t.Parallel()
	c, stranger := newChain(t), newChain(t)
	soder := c.open("Söder")
	for _, e := range []location.Edit{{Name: core.Set("Mine")}, {Active: core.Set(false)}, {Name: core.Set("")}} {
		if err := second(stranger.Edit(t.Context(), stranger.By, soder.ID, e)); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("Edit = %v, want ErrNotFound", err)
		}
	}
	stranger.wantList()
	c.wantList(soder)
}

// Changes of locations are in the audit log.
func TestLocationsAreLogged(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	soder := c.open("Söder")
	dbtest.Tick(c.DB) // so that entries have one order
	c.Must(c.Edit(t.Context(), c.By, soder.ID, location.Edit{Name: core.Set("Slussen"), Active: core.Set(false)}))
	if err := second(core.Result(c.Add(t.Context(), c.By, location.New{Name: "slussen"}, nil))); err == nil {
		t.Fatal("a name was taken twice")
	}
	var got string
	err := dbtest.Owner(c.DB).QueryRow(t.Context(), `
		select string_agg(concat_ws(' ', action, subject_id, coalesce(old::text, '-'), new::text), '; ' order by created_at, id)
		from loyalty.audit_entry
		where tenant_id = $1 and subject_kind = 'location'`, c.By.Tenant.ID).Scan(&got)
	want := fmt.Sprintf(`location.create %[1]d - {"name": "Söder", "active": true}; `+
		`location.edit %[1]d {"name": "Söder", "active": true} {"name": "Slussen", "active": false}`, soder.ID)
	if err != nil || got != want {
		t.Errorf("the log says %v\n%s, want\n%s", err, got, want)
	}
}

// Pages have the locations by name, also those before a position.
func TestPagesOfLocations(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	newChain(t).open("Elsewhere")
	for _, name := range []string{"Vasastan", "slussen", "Älvsjö", "Gamla stan", "Farsta"} {
		c.open(name)
	}
	want, err := c.List(t.Context(), c.By)
	c.Check(err)
	for _, size := range []int{1, 2, 5, 15} {
		got := shoptest.Walk(t, size, func(p core.Page) (core.List[location.Location], error) { return c.ListPage(t.Context(), c.By, p) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d a page (-want +got):\n%s", size, diff)
		}
	}
}

// The round trips of each use case.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	c := chainIn(t, d)
	soder := c.open("Söder")
	names := 0
	for _, step := range []struct {
		name string
		want int
		do   func() error
	}{
		{"list", 1, func() error { return second(c.List(t.Context(), c.By)) }},
		{"a page", 1, func() error { return second(c.ListPage(t.Context(), c.By, core.Page{Size: 15})) }},
		{"add", 2, func() error {
			names++
			return second(core.Result(c.Add(t.Context(), c.By, location.New{Name: fmt.Sprint(names)}, nil)))
		}},
		{"edit", 3, func() error {
			return second(c.Edit(t.Context(), c.By, soder.ID, location.Edit{Name: core.Set("Slussen")}))
		}},
	} {
		var trips int
		for range 2 { // the first run prepares the statements
			before := count()
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			trips = count() - before
		}
		if trips != step.want {
			t.Errorf("%s: %d round trips, want %d", step.name, trips, step.want)
		}
	}
}
