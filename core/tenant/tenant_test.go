package tenant_test

import (
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/tenant"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var maker = core.System(core.Tenant{}, "test")

func slug() string { return "t-" + strings.ToLower(rand.Text()[:16]) }

func described(slug string) tenant.New {
	return tenant.New{
		Name: "Café", Slug: slug, Email: "owner@example.com", PlanID: 1,
		BillingCycle: tenant.Monthly, PaymentMethod: tenant.Manual,
	}
}

func create(t *testing.T, n tenant.New) (core.Tenant, error) {
	t.Helper()
	return db.Platform(t.Context(), dbtest.DB(t), maker, func(tx *db.Tx) (core.Tenant, error) { return tenant.Create(t.Context(), tx, n) })
}

func wantFields(t *testing.T, err error, want core.Fields) {
	t.Helper()
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Kind != core.KindInvalid {
		t.Fatalf("%v, want a refusal of fields", err)
	}
	if diff := cmp.Diff(want, refusal.Fields); diff != "" {
		t.Errorf("refused fields (-want +got):\n%s", diff)
	}
}

// "Create also accepts the last three (UTC, EUR, null)": they are the defaults.
func TestCreate(t *testing.T) {
	t.Parallel()
	n := described(slug())
	plain, err := create(t, n)
	if err != nil {
		t.Fatal(err)
	}
	if plain.TimeZone.String() != "UTC" || plain.Currency != "EUR" || plain.Country != "" {
		t.Errorf("defaults = %s, %s, %q", plain.TimeZone, plain.Currency, plain.Country)
	}
	n = described(slug())
	n.TimeZone, n.Currency, n.Country = "America/New_York", "USD", "US"
	made, err := create(t, n)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []core.Tenant{plain, made} {
		got, err := tenant.BySlug(t.Context(), dbtest.DB(t), want.Slug)
		if err != nil || got.TimeZone.String() != want.TimeZone.String() {
			t.Fatal(got, err)
		}
		got.TimeZone = want.TimeZone
		if got != want {
			t.Errorf("BySlug = %+v, want %+v", got, want)
		}
	}
	if _, err := tenant.BySlug(t.Context(), dbtest.DB(t), slug()); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("nobody's slug = %v, want ErrNotFound", err)
	}
}

// "Slug: 3–40 of a–z, 0–9, inner hyphens; not reserved; unique".
func TestSlugs(t *testing.T) {
	t.Parallel()
	end := strings.ToLower(rand.Text()[:10])
	for _, good := range []string{"a" + end[:2], "1-" + end, end + "-a-b-c", strings.Repeat("x", 30) + end, "0" + end} {
		if _, err := create(t, described(good)); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"ab", "a", "-" + end, end + "-", "a--" + end, "A" + end, "å" + end, "a_" + end, "a." + end, "a b" + end,
		"admin", "api", "www", "platform", "docs", "test", "mail",
	} {
		_, err := create(t, described(bad))
		if t.Run(bad, func(t *testing.T) { wantFields(t, err, core.Fields{"slug": {"The selected slug is invalid."}}) }); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	_, err := create(t, described(strings.Repeat("x", 41)))
	wantFields(t, err, core.Fields{"slug": {"The slug field must not be greater than 40 characters."}})
	_, err = create(t, described(""))
	wantFields(t, err, core.Fields{"slug": {"The slug field is required."}})
}

// Of many that want one slug at once, one gets it; the others hear so on the field.
func TestASlugIsTakenOnce(t *testing.T) {
	t.Parallel()
	wanted := slug()
	var made atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := create(t, described(wanted)); err == nil {
				made.Add(1)
			} else {
				var refusal *core.Error
				if !errors.As(err, &refusal) || !slices.Equal(refusal.Fields["slug"], []string{"The slug has already been taken."}) {
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

// Every wrong field is reported at once.
func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	_, err := create(t, tenant.New{
		Name: " ", Slug: "?", Email: "nobody", PlanID: 1, BillingCycle: "weekly", PaymentMethod: "gold",
		TimeZone: "Mars/Olympus", Currency: "euro", Country: "Sweden",
	})
	wantFields(t, err, core.Fields{
		"name":           {"The name field is required."},
		"slug":           {"The selected slug is invalid."},
		"email":          {"The email field must be a valid email address."},
		"billing_cycle":  {"The selected billing cycle is invalid."},
		"payment_method": {"The selected payment method is invalid."},
		"timezone":       {"The selected timezone is invalid."},
		"currency":       {"The selected currency is invalid."},
		"country":        {"The selected country is invalid."},
	})
	n := described(slug())
	n.TimeZone, n.Currency, n.Country = "Local", "eur", "se"
	_, err = create(t, n)
	wantFields(t, err, core.Fields{
		"timezone": {"The selected timezone is invalid."},
		"currency": {"The selected currency is invalid."},
		"country":  {"The selected country is invalid."},
	})
}

// "Local would be this machine's: refused"; a zone is one wherever it is asked for.
func TestZones(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "Europe/Stockholm", "Asia/Kathmandu"} {
		for range 2 {
			if zone, err := tenant.Zone(name); err != nil || zone.String() != name {
				t.Errorf("Zone(%s) = %s, %v", name, zone, err)
			}
		}
	}
	for _, name := range []string{"Local", "Mars/Olympus", "../etc/passwd"} {
		for range 2 {
			if zone, err := tenant.Zone(name); err == nil {
				t.Errorf("Zone(%s) = %s", name, zone)
			}
		}
	}
}

// A status is set on a tenant that exists.
func TestSetStatus(t *testing.T) {
	t.Parallel()
	made, err := create(t, described(slug()))
	if err != nil {
		t.Fatal(err)
	}
	set := func(id core.TenantID) error {
		_, err := db.Platform(t.Context(), dbtest.DB(t), maker, func(tx *db.Tx) (int, error) {
			return 0, tenant.SetStatus(t.Context(), tx, id, tenant.Suspended)
		})
		return err
	}
	if err := set(made.ID); err != nil {
		t.Fatal(err)
	}
	var status string
	if err := dbtest.DB(t).Pool().QueryRow(t.Context(), "select status from loyalty.tenant where id = $1", made.ID).Scan(&status); err != nil || status != "suspended" {
		t.Errorf("status = %s, %v", status, err)
	}
	if err := set(1 << 62); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("nobody's status = %v, want ErrNotFound", err)
	}
}
