package staff_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/token"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a tenant whose owner adds people.
type shop struct {
	*staff.Service
	auth    *auth.Service
	tokens  *token.Service
	db      *db.DB
	by      core.Actor // its owner, who has a password
	visitor auth.Visitor
	post    *post
}

// post keeps the mails by recipient.
type post struct {
	sync.Mutex
	letters map[string][]mail.Email
}

func (p *post) render(_ context.Context, to string, l mail.Email) (mail.Rendered, error) {
	p.Lock()
	defer p.Unlock()
	p.letters[to] = append(p.letters[to], l)
	return mail.Rendered{Subject: "Letter", Text: fmt.Sprintf("%T", l), HTML: "<p></p>"}, nil
}

// to returns the mails to an address.
func (p *post) to(address string) []mail.Email {
	p.Lock()
	defer p.Unlock()
	return slices.Clone(p.letters[address])
}

func newShop(t *testing.T) shop {
	t.Helper()
	return shopIn(t, dbtest.DB(t))
}

// shopIn is a shop in a database, which may be the test's own.
func shopIn(t *testing.T, d *db.DB) shop {
	t.Helper()
	s := shopOn(t, d, dbtest.Tenant(t, d), &post{letters: map[string][]mail.Email{}})
	s.joined(t, s.by)
	return s
}

func shopOn(t *testing.T, d *db.DB, by core.Actor, p *post) shop {
	t.Helper()
	jobs, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	mails := mail.New(d, jobs, p.render, nil, slog.New(slog.DiscardHandler))
	service := dbtest.Auth(d, jobs, mails)
	return shop{
		Service: staff.NewService(d, mails, service), auth: service, tokens: token.NewService(d, jobs, mails), db: d, by: by,
		visitor: auth.Visitor{Tenant: by.Tenant, Address: "2001:db8::" + by.ID, RequestID: "R1"}, post: p,
	}
}

// later returns the shop after a time, in another process.
func (s shop) later(t *testing.T, d time.Duration) shop {
	t.Helper()
	return shopOn(t, s.db.At(s.db.Now().Add(d)), s.by, s.post)
}

// known is the password of the people in these tests.
const known = "correct horse battery"

var knownHash = sync.OnceValues(func() (string, error) { return auth.HashPassword(context.Background(), 0, known) })

// joined sets a person's password to the known one.
func (s shop) joined(t *testing.T, person core.Actor) {
	t.Helper()
	hash, err := knownHash()
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, "update loyalty.credential set password_hash = $2 where staff_id = $1", person.StaffID, hash)
}

// person returns a person of the shop who has joined.
func (s shop) person(t *testing.T, role core.Role) core.Actor {
	t.Helper()
	p := dbtest.Person(t, s.db, s.by, role)
	s.joined(t, p)
	return p
}

// token creates a token for a person.
func (s shop) token(t *testing.T, person core.Actor) token.Created {
	t.Helper()
	made, err := s.tokens.Create(t.Context(), person, token.New{Name: new("Till"), Scopes: &[]string{}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (s shop) email(t *testing.T, person core.Actor) (email string) {
	t.Helper()
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select email from loyalty.staff where id = $1", person.StaffID).Scan(&email); err != nil {
		t.Fatal(err)
	}
	return email
}

// cookie signs a person in by a proof, and returns their browser's cookie.
func (s shop) cookie(t *testing.T, p auth.Proof, cookie string) string {
	t.Helper()
	v := &auth.Visit{Slug: s.by.Tenant.Slug}
	v.SignIn(p)
	if err := auth.NewStore(s.db).CommitCtx(auth.WithVisit(t.Context(), v), cookie, []byte{}, s.db.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	return cookie
}

func (s shop) isSignedIn(t *testing.T, cookie string) bool {
	t.Helper()
	_, err := s.auth.Actor(t.Context(), cookie, s.by.Tenant.Slug)
	if err != nil && !errors.Is(err, core.ErrUnauthenticated) {
		t.Fatal(err)
	}
	return err == nil
}

// signIn signs in at the shop's host.
func (s shop) signIn(t *testing.T, email, password string) (auth.SignedIn, error) {
	t.Helper()
	return s.auth.SignIn(t.Context(), s.visitor, auth.Credentials{Email: email, Password: password})
}

// log returns the audit entries about people whose action matches a pattern.
func (s shop) log(t *testing.T, action string) (lines []string) {
	t.Helper()
	rows, err := dbtest.Owner(s.db).Query(t.Context(), `
		select action || ' ' || coalesce(old::text, '-') || ' ' || coalesce(new::text, '-')
		from loyalty.audit_entry
		where tenant_id = $1 and subject_kind = 'staff' and action like $2 and actor_name <> 'test'
		order by id`, s.by.Tenant.ID, action)
	if err != nil {
		t.Fatal(err)
	}
	lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func (s shop) wantLog(t *testing.T, action string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.log(t, action)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func (s shop) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := dbtest.Owner(s.db).Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func (s shop) add(ctx context.Context, n staff.New) (staff.Person, error) {
	return db.InTenant(ctx, s.db, s.by, func(tx *db.Tx) (staff.Person, error) { return staff.Add(ctx, tx, s.by, n) })
}

func cashier(email, password string) staff.New {
	return staff.New{Role: core.Cashier, Name: "Bo", Email: email, Password: password}
}

func (s shop) hash(t *testing.T, id int64) (hash *string) {
	t.Helper()
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select password_hash from loyalty.credential where staff_id = $1", id).Scan(&hash); err != nil {
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

// E-mail addresses are unique in a tenant, in any case; other tenants and the platform have their
// own.
func TestAnEmailIsUniqueInItsTenant(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	email := strings.ToLower(rand.Text()) + "@example.com"
	taken := core.Fields{"email": {core.Duplicate}}
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

// The platform has super-admins, a tenant owners, managers and cashiers.
func TestRolesBelongToTheirSide(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, role := range []core.Role{core.SuperAdmin, "", "boss"} {
		_, err := s.add(t.Context(), staff.New{Role: role, Name: "Bo", Email: "bo@example.com"})
		wantFields(t, err, core.Fields{"role": {core.InvalidChoice}})
	}
	platform := core.System(core.Tenant{}, "test")
	_, err := db.Platform(t.Context(), s.db, platform, func(tx *db.Tx) (staff.Person, error) {
		return staff.Add(t.Context(), tx, platform, staff.New{Role: core.Owner, Name: "Bo", Email: "bo@example.com"})
	})
	wantFields(t, err, core.Fields{"role": {core.InvalidChoice}})
	_, err = s.add(t.Context(), staff.New{Name: " ", Email: "bo", Role: core.Owner, Password: "short"})
	wantFields(t, err, core.Fields{
		"name":     {core.Required},
		"email":    {core.MustBeEmail},
		"password": {core.MinLength(12)},
	})
}

// New people are in the audit log, without their password.
func TestPeopleAreLogged(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	if _, err := s.add(t.Context(), cashier("bo@example.com", "correct horse battery")); err != nil {
		t.Fatal(err)
	}
	s.wantLog(t, "staff.create", `staff.create - {"name": "Bo", "role": "cashier", "email": "bo@example.com"}`)
}
