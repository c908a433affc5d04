package staff_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
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

// mails are sent as their letter, written out.
func mails(t *testing.T, d *db.DB) *mail.Service {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	render := func(_ context.Context, _ string, l mail.Letter) (mail.Rendered, error) {
		return mail.Rendered{Subject: "Choose a password", Text: fmt.Sprintf("secret=%s", l.(staff.InvitationLetter).Secret), HTML: "<p></p>"}, nil
	}
	return mail.New(d, jobs, render, nil, log)
}

// "Invitations and password resets are random, stored as hashes, single use, 60 minutes
// (invitations 7 days)": the secret is in the mail and nowhere else.
func TestAnInvitationIsMailed(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	m := mails(t, s.db)
	p, err := s.add(t.Context(), cashier("bo@example.com", ""))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.InTenant(t.Context(), s.db, s.by, func(tx *db.Tx) (int, error) {
		return 0, staff.Invite(t.Context(), tx, s.by, m, s.by.Tenant, p)
	})
	if err != nil {
		t.Fatal(err)
	}
	var recipient, text, entry string
	var invited int64
	var hash []byte
	var created, expires time.Time
	err = s.db.Pool().QueryRow(t.Context(), `
		select m.recipient, m.text, i.staff_id, i.hash, i.created_at, i.expires_at, a::text
		from loyalty.invitation i
		join loyalty.mail m on m.tenant_id = i.tenant_id
		join loyalty.audit_entry a on a.tenant_id = i.tenant_id and a.action = 'staff.invite'
		where i.tenant_id = $1 and i.taken_at is null`, s.by.Tenant.ID).
		Scan(&recipient, &text, &invited, &hash, &created, &expires, &entry)
	if err != nil {
		t.Fatal(err)
	}
	_, secret, _ := strings.Cut(text, "secret=")
	if want := sha256.Sum256([]byte(secret)); string(hash) != string(want[:]) || len(secret) != 26 {
		t.Errorf("the hash of %s is %x, want %x", secret, hash, want)
	}
	if recipient != "bo@example.com" || invited != p.ID || expires.Sub(created) != 7*24*time.Hour || strings.Contains(entry, secret) {
		t.Errorf("invited %d by a mail to %s, from %s until %s, log %s", invited, recipient, created, expires, entry)
	}
}
