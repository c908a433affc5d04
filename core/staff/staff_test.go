package staff_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/token"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business whose owner, who has a password, adds people.
type shop struct {
	shoptest.Shop
	*staff.Service
	auth    *auth.Service
	tokens  *token.Service
	visitor auth.Visitor
}

// known is the password of the people in these tests.
const known = shoptest.Password

func newShop(t *testing.T) shop { return shopIn(t, dbtest.DB(t)) }

// shopIn is a shop in a database, which may be the test's own.
func shopIn(t *testing.T, d *db.DB) shop {
	t.Helper()
	s := shoptest.In(t, d)
	s.GivePassword(s.By)
	return withServices(s)
}

// withServices returns the shop of a business.
func withServices(s shoptest.Shop) shop {
	return shop{
		Shop: s, Service: s.Staff, auth: s.Auth, tokens: s.Tokens,
		visitor: auth.Visitor{Tenant: s.By.Tenant, Address: "2001:db8::" + s.By.ID, RequestID: "R1"},
	}
}

// later returns the shop after a time, in another process.
func (s shop) later(d time.Duration) shop {
	s.T.Helper()
	return withServices(s.Later(d))
}

// token creates a token for a person.
func (s shop) token(person core.Actor) token.Created {
	s.T.Helper()
	made, err := core.Result(s.tokens.Create(s.T.Context(), person, token.New{Name: "Till", Scopes: &[]string{}}, nil))
	s.Check(err)
	return made
}

func (s shop) isSignedIn(cookie string) bool {
	s.T.Helper()
	_, err := s.auth.Actor(s.T.Context(), cookie, s.By.Tenant.Slug)
	if err != nil && !errors.Is(err, core.ErrUnauthenticated) {
		s.T.Fatal(err)
	}
	return err == nil
}

// signIn signs in at the shop's host.
func (s shop) signIn(email, password string) (auth.SignedIn, error) {
	s.T.Helper()
	return s.auth.SignIn(s.T.Context(), s.visitor, auth.Credentials{Email: email, Password: password})
}

func (s shop) add(ctx context.Context, n staff.New) (staff.Person, error) {
	return db.In(ctx, s.DB.Tenant(s.By), func(tx *db.Tx) (staff.Person, error) { return staff.Add(ctx, tx, s.By, n) })
}

func cashier(email, password string) staff.New {
	return staff.New{Role: core.Cashier, Name: "Bo", Email: email, Password: password}
}

func (s shop) hash(id int64) *string {
	s.T.Helper()
	return shoptest.Query[*string](s.Shop, "select password_hash from loyalty.credential where staff_id = $1", id)
}

// E-mail addresses are unique in a tenant, in any case; other tenants and the platform have their
// own.
func TestAnEmailIsUniqueInItsTenant(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	email := strings.ToLower(rand.Text()) + "@example.com"
	taken := core.Fields{"email": {core.Duplicate}}
	s.Must(s.add(t.Context(), cashier(email, "")))
	_, err := s.add(t.Context(), cashier(strings.ToUpper(email), ""))
	shoptest.WantFields(t, err, taken)
	if _, err := other.add(t.Context(), cashier(email, "")); err != nil {
		t.Errorf("in another tenant: %v", err)
	}
	admin := staff.New{Name: "Root", Email: email}
	if _, err := staff.CreateAdmin(t.Context(), s.DB, core.System(core.Tenant{}, "test"), admin); err != nil {
		t.Errorf("on the platform: %v", err)
	}
	_, err = staff.CreateAdmin(t.Context(), s.DB, core.System(core.Tenant{}, "test"), admin)
	shoptest.WantFields(t, err, taken)
}

func TestAddressesWithoutAMailboxAreRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, typed := range shoptest.NoEmails() {
		_, err := s.add(t.Context(), cashier(typed, ""))
		shoptest.WantFields(t, err, core.Fields{"email": {core.MustBeEmail}})
		_, err = staff.CreateAdmin(t.Context(), s.DB, core.System(core.Tenant{}, "test"), staff.New{Name: "Root", Email: typed})
		shoptest.WantFields(t, err, core.Fields{"email": {core.MustBeEmail}})
	}
}

// Passwords are hashed with argon2id, have at least 12 characters and are not common.
func TestPasswords(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	short := core.MinLength(12)
	easy := core.Violation{Rule: "easy_password"}
	for password, want := range map[string]core.Violation{
		"short":                      short,
		"elevenchars":                short,
		"ååååååååååå":                short, // 22 bytes
		"123456789012":               easy,
		"aaaaaaaaaaaaaaaa":           easy,
		"abcabcabcabc":               easy,
		"bo@example.com":             easy, // the address itself
		"BO@Example.com":             easy,
		strings.Repeat("long ", 205): core.MaxLength(1024),
	} {
		_, err := s.add(t.Context(), cashier("bo@example.com", password))
		shoptest.WantFields(t, err, core.Fields{"password": {want}})
	}

	for _, password := range []string{"twelve chars", "åäö åäö åäö!", "correct horse battery staple"} {
		p, err := s.add(t.Context(), cashier(strings.ToLower(rand.Text())+"@example.com", password))
		if err != nil {
			t.Fatalf("%q: %v", password, err)
		}
		hash := s.hash(p.ID)
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
	if err != nil || s.hash(invited.ID) != nil {
		t.Errorf("invited without a password: %v", err)
	}
}

// The platform has super-admins, a tenant owners, managers and cashiers.
func TestRolesBelongToTheirSide(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, role := range []core.Role{core.SuperAdmin, "", "boss"} {
		_, err := s.add(t.Context(), staff.New{Role: role, Name: "Bo", Email: "bo@example.com"})
		shoptest.WantFields(t, err, core.Fields{"role": {core.InvalidChoice}})
	}
	platform := core.System(core.Tenant{}, "test")
	_, err := db.In(t.Context(), s.DB.Platform(), func(tx *db.Tx) (staff.Person, error) {
		return staff.Add(t.Context(), tx, platform, staff.New{Role: core.Owner, Name: "Bo", Email: "bo@example.com"})
	})
	shoptest.WantFields(t, err, core.Fields{"role": {core.InvalidChoice}})
	_, err = s.add(t.Context(), staff.New{Name: " ", Email: "bo", Role: core.Owner, Password: "short"})
	shoptest.WantFields(t, err, core.Fields{
		"name":     {core.Required},
		"email":    {core.MustBeEmail},
		"password": {core.MinLength(12)},
	})
}

// New people are in the audit log, without their password.
func TestPeopleAreLogged(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Must(s.add(t.Context(), cashier("bo@example.com", "correct horse battery")))
	s.WantPeopleLog("staff.create", `staff.create - {"name": "Bo", "role": "cashier", "email": "bo@example.com"}`)
}
