package auth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Visit is a request to a host of the product, with its session (Store.Load). It is in the request's
// context, because scs calls the store with nothing but a token.
type Visit struct {
	Slug      string // of the tenant; "": the platform's host
	Address   string // of the client
	UserAgent string
	RequestID string

	Tenant core.Tenant // zero: unknown, or the platform's host
	Person *Identity   // nil: not signed in

	data []byte // of the session; nil: there is none
	hash []byte // of the session that was found or written
}

// Identity is the person signed in by a session.
//
// A super-admin has no role until their two-step verification is set up, so they can do nothing
// else before.
type Identity struct {
	core.Actor
	Email     string
	TwoFactor bool
	Session   string // its ID
}

type (
	visitKey struct{}
	proofKey struct{}
)

// WithVisit adds a visit to a request's context.
func WithVisit(ctx context.Context, v *Visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

// WithProof returns the context in which a session is written that signs the person in. Its token must be renewed: an
// attacker may have planted the old one in this browser.
func WithProof(ctx context.Context, p Proof) context.Context {
	return context.WithValue(ctx, proofKey{}, p)
}

var (
	errNoVisit    = errors.New("auth: the context has no visit")
	errNotRenewed = errors.New("auth: a sign-in needs a renewed token")
)

func visitOf(ctx context.Context) (*Visit, error) {
	v, ok := ctx.Value(visitKey{}).(*Visit)
	if !ok {
		return nil, errNoVisit
	}
	return v, nil
}

// Store stores sessions for scs. The idle timeout of scs must stay off, since it writes in every
// request. Store checks it by a time that it writes once a minute.
type Store struct{ db *db.DB }

// NewStore makes the store.
func NewStore(d *db.DB) *Store { return &Store{db: d} }

// Load returns the visit with the session of a cookie's token, the tenant of the host and the
// signed-in person. Without a token it reads nothing. Once a minute it stores that the session was
// used.
func (s *Store) Load(ctx context.Context, v Visit, token string) (*Visit, error) {
	if token == "" {
		return &v, nil
	}
	hash := sessionHash(token)
	f, err := findSession(ctx, s.db, hash, v.Slug)
	if err != nil {
		return nil, err
	}
	if f.TenantID != 0 {
		if v.Tenant, err = f.Tenant(); err != nil {
			return nil, err
		}
		v.Tenant.Theme = f.Theme
	}
	if !f.isLive() {
		return &v, nil
	}
	if f.signedIn() {
		actor, err := f.actor()
		if err != nil {
			return nil, err
		}
		actor.Address, actor.RequestID = v.Address, v.RequestID
		v.Person = &Identity{Actor: actor, Email: f.Email, TwoFactor: f.TwoFactor, Session: sessionID(hash)}
	}
	v.hash, v.data = hash, f.Data
	if s.db.Now().Sub(*f.LastSeenAt) >= time.Minute {
		err = s.touchSession(ctx, hash, &v)
	}
	return &v, err
}

// FindCtx hands scs the session that Load has found for this request.
func (s *Store) FindCtx(ctx context.Context, token string) (data []byte, found bool, err error) {
	v, err := visitOf(ctx)
	if err != nil || !bytes.Equal(v.hash, sessionHash(token)) {
		return nil, false, err
	}
	return v.data, true, nil
}

// touchSession stores that a session was used, and from where. If several requests do so at once,
// one writes and the others skip it.
func (s *Store) touchSession(ctx context.Context, hash []byte, v *Visit) error {
	return s.write(ctx, sessionSeenSQL, db.Args{"hash": hash, "address": v.Address, "user_agent": v.agent()})
}

// CommitCtx writes a new session, or one that has not ended meanwhile. With a proof (WithProof) it signs the person
// in, unless they were deactivated, their password was set since they proved who they are, or their
// code is missing.
func (s *Store) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	v, err := visitOf(ctx)
	if err != nil {
		return err
	}
	hash, statement := sessionHash(token), saveSessionSQL
	if latest := s.db.Now().Add(SessionLifetime); expiry.After(latest) {
		expiry = latest
	}
	args := db.Args{
		"hash": hash, "slug": v.Slug, "data": data, "expires_at": expiry, "address": v.Address, "user_agent": v.agent(),
	}
	if proof, signsIn := ctx.Value(proofKey{}).(Proof); signsIn {
		if bytes.Equal(hash, v.hash) {
			return errNotRenewed
		}
		statement = signInSQL
		args["staff"], args["proved_at"], args["code"] = proof.StaffID, proof.At, proof.Code
	}
	if err := s.write(ctx, statement, args); err != nil {
		return err
	}
	v.hash = hash
	return nil
}

// DeleteCtx ends a session.
func (s *Store) DeleteCtx(ctx context.Context, token string) error {
	return s.write(ctx, deleteSessionSQL, db.Args{"hash": sessionHash(token)})
}

// write runs a statement in a transaction of the platform, since the tenant is not known yet.
func (s *Store) write(ctx context.Context, statement string, args db.Args) error {
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		args["now"] = tx.Now
		return db.Queue(tx, statement, args)
	})
}

var errNoContext = errors.New("auth: the store needs a context")

// Find is refused: without a context there is no visit.
func (s *Store) Find(string) ([]byte, bool, error) { return nil, false, errNoContext }

// Commit is refused like Find.
func (s *Store) Commit(string, []byte, time.Time) error { return errNoContext }

// Delete is refused like Find.
func (s *Store) Delete(string) error { return errNoContext }

// sessionHash returns the stored hash of a token.
func sessionHash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// agent returns the browser's user agent, shortened, in characters that PostgreSQL stores.
func (v *Visit) agent() string {
	text := strings.ReplaceAll(strings.ToValidUTF8(v.UserAgent, "?"), "\x00", "?")
	letters := []rune(text)
	return string(letters[:min(len(letters), 300)])
}

// findSession finds a session, with the tenant of the host and the person.
func findSession(ctx context.Context, d *db.DB, hash []byte, slug string) (foundSession, error) {
	now := d.Now()
	statement, args := findSessionSQL, db.Args{"hash": hash, "now": now, "seen": now.Add(-SessionIdle)}
	if slug == "" {
		statement = findAdminSessionSQL
	} else {
		args["slug"] = slug
	}
	f, err := db.One[foundSession](ctx, d.Platform(), statement, args)
	if errors.Is(err, core.ErrNotFound) {
		return foundSession{}, nil
	}
	return f, err
}

// signedIn reports whether the session is an active person's.
func (f foundSession) signedIn() bool { return f.isLive() && f.PersonID != nil }

// isLive reports whether there is a session. A deactivated person has none.
func (f foundSession) isLive() bool {
	return f.LastSeenAt != nil && (f.StaffID == nil) == (f.PersonID == nil)
}

func (f foundSession) actor() (core.Actor, error) {
	by := core.Actor{Kind: core.ByStaff, ID: idText(*f.PersonID), Name: f.PersonName, StaffID: *f.PersonID, Role: f.Role, NeedsActive: true}
	if f.TenantID != 0 {
		t, err := f.Tenant()
		t.Theme = f.Theme
		by.Tenant = t
		return by, err
	}
	if by.Kind = core.ByAdmin; !f.TwoFactor {
		by.Role = ""
	}
	return by, nil
}
