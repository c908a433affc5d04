package staff_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/alexedwards/argon2id"
	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/staff"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a tenant whose owner hires.
type shop struct {
	db *db.DB
	by core.Actor
}

func newShop(t *testing.T) shop {
	t.Helper()
	d := dbtest.DB(t)
	return shop{d, dbtest.Tenant(t, d)}
}

func (s shop) add(ctx context.Context, n staff.New) (staff.Person, error) {
	return db.InTenant(ctx, s.db, s.by, func(tx *db.Tx) (staff.Person, error) { return staff.Add(ctx, tx, s.by, n) })
}

func cashier(email, password string) staff.New {
	return staff.New{Role: core.Cashier, Name: "Bo", Email: email, Password: password}
}

func (s shop) hash(t *testing.T, id int64) (hash *string) {
	t.Helper()
	if err := s.db.Pool().QueryRow(t.Context(), "select password_hash from loyalty.staff where id = $1", id).Scan(&hash); err != nil {
		t.Fatal(err)
	}
	return hash
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

// "Staff e-mails are unique per tenant", whatever their case; other tenants and the
// platform have their own.
func TestAnEmailIsUniqueInItsTenant(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	email := strings.ToLower(rand.Text()) + "@example.com"
	taken := core.Fields{"email": {"The email has already been taken."}}
	if _, err := s.add(t.Context(), cashier(email, "")); err != nil {
		t.Fatal(err)
	}
	_, err := s.add(t.Context(), cashier(strings.ToUpper(email), ""))
	wantFields(t, err, taken)
	if _, err := other.add(t.Context(), cashier(email, "")); err != nil {
		t.Errorf("in another tenant: %v", err)
	}
	admin := staff.New{Name: "Root", Email: email}
	if _, err := staff.CreateAdmin(t.Context(), s.db, core.System(core.Tenant{}, "test"), admin); err != nil {
		t.Errorf("on the platform: %v", err)
	}
	_, err = staff.CreateAdmin(t.Context(), s.db, core.System(core.Tenant{}, "test"), admin)
	wantFields(t, err, taken)
}

// "Passwords: argon2id, at least 12 characters, not among common ones."
func TestPasswords(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const short = "The password field must be at least 12 characters."
	const easy = "The password is too easy to guess. Please choose a different one."
	for password, want := range map[string]string{
		"short":                      short,
		"elevenchars":                short,
		"ååååååååååå":                short, // 22 bytes
		"123456789012":               easy,
		"aaaaaaaaaaaaaaaa":           easy,
		"abcabcabcabc":               easy,
		"bo@example.com":             easy, // the address itself
		"BO@Example.com":             easy,
		strings.Repeat("long ", 205): "The password field must not be greater than 1024 characters.",
	} {
		_, err := s.add(t.Context(), cashier("bo@example.com", password))
		wantFields(t, err, core.Fields{"password": {want}})
	}

	for _, password := range []string{"twelve chars", "åäö åäö åäö!", "correct horse battery staple"} {
		p, err := s.add(t.Context(), cashier(strings.ToLower(rand.Text())+"@example.com", password))
		if err != nil {
			t.Fatalf("%q: %v", password, err)
		}
		hash := s.hash(t, p.ID)
		if hash == nil || !strings.HasPrefix(*hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
			t.Fatalf("hash = %v, want argon2id of 19 MiB", hash)
		}
		if ok, err := argon2id.ComparePasswordAndHash(password, *hash); err != nil || !ok {
			t.Errorf("%q does not match its hash: %v", password, err)
		}
		if ok, err := argon2id.ComparePasswordAndHash(password+" ", *hash); err != nil || ok {
			t.Errorf("another password matches the hash of %q: %v", password, err)
		}
	}
	invited, err := s.add(t.Context(), cashier("bo@example.com", ""))
	if err != nil || s.hash(t, invited.ID) != nil {
		t.Errorf("invited without a password: %v", err)
	}
}

// "Platform: super_admin. Tenant: owner, manager, cashier": a person is of one or the other.
func TestRolesBelongToTheirSide(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, role := range []core.Role{core.SuperAdmin, "", "boss"} {
		_, err := s.add(t.Context(), staff.New{Role: role, Name: "Bo", Email: "bo@example.com"})
		wantFields(t, err, core.Fields{"role": {"The selected role is invalid."}})
	}
	platform := core.System(core.Tenant{}, "test")
	_, err := db.Platform(t.Context(), s.db, platform, func(tx *db.Tx) (staff.Person, error) {
		return staff.Add(t.Context(), tx, platform, staff.New{Role: core.Owner, Name: "Bo", Email: "bo@example.com"})
	})
	wantFields(t, err, core.Fields{"role": {"The selected role is invalid."}})
	_, err = s.add(t.Context(), staff.New{Name: " ", Email: "bo", Role: core.Owner, Password: "short"})
	wantFields(t, err, core.Fields{
		"name":     {"The name field is required."},
		"email":    {"The email field must be a valid email address."},
		"password": {"The password field must be at least 12 characters."},
	})
}

// Who is added or shut out is in the log, without their password.
func TestPeopleAreLogged(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	p, err := s.add(t.Context(), cashier("bo@example.com", "correct horse battery"))
	if err != nil {
		t.Fatal(err)
	}
	if err := staff.Deactivate(t.Context(), s.db, stranger.by, p.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a stranger shuts them out = %v, want ErrNotFound", err)
	}
	if err := staff.Deactivate(t.Context(), s.db, s.by, p.ID); err != nil {
		t.Fatal(err)
	}
	if err := staff.Deactivate(t.Context(), s.db, s.by, p.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("shut out twice = %v, want ErrNotFound", err)
	}
	rows, err := s.db.Pool().Query(t.Context(), `
		select action || ' ' || coalesce(old::text, '-') || ' ' || coalesce(new::text, '-')
		from loyalty.audit_entry
		where tenant_id = $1 and subject_kind = 'staff' and actor_id = $2
		order by id`, s.by.Tenant.ID, s.by.ID)
	if err != nil {
		t.Fatal(err)
	}
	var log []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		log = append(log, line)
	}
	want := []string{
		`staff.create - {"name": "Bo", "role": "cashier", "email": "bo@example.com"}`,
		`staff.deactivate {"status": "active"} {"status": "inactive"}`,
	}
	if diff := cmp.Diff(want, log); diff != "" || rows.Err() != nil {
		t.Errorf("log, %v (-want +got):\n%s", rows.Err(), diff)
	}
}
