// Package token keeps API tokens: their person, their abilities, and what they were used for in the last days. The secret
// is shown once, when the token is created; its SHA-256 is stored.
//
// A token works only while its person may have one: an active owner of an active tenant,
// or an active super-admin.
package token

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// Ability is what a token may do; the API calls it a scope.
type Ability string

// The six abilities (specification §5.6). There are no others.
const (
	CustomersRead     Ability = "customers:read"
	CustomersWrite    Ability = "customers:write"
	TransactionsWrite Ability = "transactions:write"
	RewardsRead       Ability = "rewards:read"
	CouponsRead       Ability = "coupons:read"
	ReportsRead       Ability = "reports:read"
)

// Abilities are all of them.
var Abilities = []Ability{CustomersRead, CustomersWrite, TransactionsWrite, RewardsRead, CouponsRead, ReportsRead}

// Token is an API token without its secret.
type Token struct {
	ID         int64
	Name       string
	Abilities  []Ability
	LastUsedAt *time.Time // to the minute
	ExpiresAt  *time.Time
	CreatedAt  time.Time
}

// Created is a new token with its secret, which is never shown again.
type Created struct {
	Token
	Secret string // "{id}|{40 characters}{checksum}"
}

// New describes a new token of the actor's person.
type New struct {
	Name      string
	Scopes    *[]string // may be empty: a token that manages tokens
	ExpiresAt *time.Time

	Malformed core.Fields // what the front end could not read
}

// MaxLive is the maximum number of live tokens of a person: neither revoked nor expired.
const MaxLive = 100

// ErrLimit refuses a token beyond MaxLive.
var ErrLimit = core.Refuse("token-limit-reached", "The limit of 100 active API tokens for one person has been reached. Revoke one that is no longer used.")

// maxTogether is the number of tokens that one statement reads. Requests with the same token count once, so a
// business with many requests doesn't delay others: it would need as many tokens.
const maxTogether = 1000

// Service creates, lists, revokes and authenticates tokens.
type Service struct {
	db    *db.DB
	jobs  *job.Queue
	mails Mails

	credentials db.Combined[int64, credential] // by the token's ID, of all tenants
	uses        db.Combined[int64, bool]       // likewise
}

// NewService makes the service and registers its jobs.
func NewService(d *db.DB, jobs *job.Queue, mails Mails) *Service {
	s := &Service{db: d, jobs: jobs, mails: mails}
	s.credentials = db.NewCombiner(maxTogether, s.readCredentials).Do
	s.uses = db.NewCombiner(maxTogether, s.markUsed).Do
	job.Handle(jobs, job.Upkeep, s.announce)
	job.Handle(jobs, job.Upkeep, s.deleteOld)
	job.Every(jobs, time.Hour, deleteOld{})
	job.Handle(jobs, job.Upkeep, s.deleteOldUse)
	job.Every(jobs, time.Hour, deleteOldUse{})
	job.Handle(jobs, job.Upkeep, s.warn)
	job.Every(jobs, warnEvery, warnExpiring{})
	return s
}

// input is a valid New.
type input struct {
	name      string
	abilities []Ability
	expiresAt *time.Time
}

func (n New) validate(tx *db.Tx) (input, error) {
	check := core.NewCheck(n.Malformed)
	in := input{name: check.Text("name", &n.Name, 255), abilities: []Ability{}, expiresAt: n.ExpiresAt}
	if n.Scopes == nil {
		if check.OK("scopes") {
			check.Add("scopes", core.Required)
		}
	} else {
		for i, scope := range *n.Scopes {
			// A platform token carries no tenant scope.
			if !slices.Contains(Abilities, Ability(scope)) || tx.Tenant == 0 {
				field := "scopes." + strconv.Itoa(i)
				check.Add(field, core.InvalidChoice)
			} else if !slices.Contains(in.abilities, Ability(scope)) {
				in.abilities = append(in.abilities, Ability(scope))
			}
		}
	}
	if n.ExpiresAt != nil && !n.ExpiresAt.After(tx.Now) {
		check.Add("expires_at", core.MustBeFuture)
	}
	return in, check.Err()
}

// Create creates a token for the actor's person and mails them. A super-admin's token is a platform
// token.
func (s *Service) Create(ctx context.Context, by core.Actor, n New, once *core.Once[Created]) (core.Reply[Created], error) {
	if err := requireTokenRole(by); err != nil {
		return core.Reply[Created]{}, err
	}
	fresh := newSecret()
	return db.In(ctx, s.db.Within(by), db.Once(ctx, by, once, func(tx *db.Tx) (Created, error) {
		valid, err := n.validate(tx)
		if err != nil {
			return Created{}, err
		}
		// A concurrent demotion waits and revokes this token, or is seen here.
		p, err := lockOwner(ctx, tx, by.StaffID)
		if err != nil {
			return Created{}, err
		}
		if !p.Active || !mayHave(p.Role, tx.Tenant) {
			return Created{}, refusal(by)
		}
		t, err := insert(ctx, tx, by, valid, fresh)
		if err != nil {
			return Created{}, err
		}
		return Created{Token: t.Token, Secret: fresh.format(t.ID)}, s.announceNew(ctx, tx, p, t.lastNotice)
	}))
}

// owner is a person who has tokens.
type owner struct {
	ID         int64
	Role       core.Role
	Name       string
	Email      string
	Active     bool   // the person and their business
	TenantName string // "" for the platform
}

// lockOwner locks a person of the transaction's tenant, or of the platform.
func lockOwner(ctx context.Context, tx *db.Tx, id int64) (owner, error) {
	return db.One[owner](ctx, tx, lockOwnerSQL, db.Args{"id": id, "tenant": int64(tx.Tenant)})
}

// refusal returns the error for an actor who may no longer have tokens.
func refusal(by core.Actor) error {
	if by.Kind == core.ByToken {
		return core.ErrUnauthenticated
	}
	return core.ErrRole
}

// inserted is a new token and the last mail about earlier ones.
type inserted struct {
	Token
	lastNotice
}

// insert stores a token of a person whose row is locked.
func insert(ctx context.Context, tx *db.Tx, by core.Actor, n input, s secret) (inserted, error) {
	caller, err := callerOf(by)
	if err != nil {
		return inserted{}, err
	}
	t, err := db.One[inserted](ctx, tx, insertSQL, db.Args{
		"tenant": int64(tx.Tenant), "staff": by.StaffID, "name": n.name, "hash": s.hash(),
		"abilities": n.abilities, "expires_at": n.expiresAt, "most": MaxLive, "caller": caller,
		"actor_kind": by.Kind, "actor_name": by.Name, "address": by.Address, "now": tx.Now,
	})
	if errors.Is(err, core.ErrNotFound) {
		return inserted{}, insertRefusal(ctx, tx, caller)
	}
	if err != nil {
		return inserted{}, err
	}
	return t, audit.Write(tx, by, audit.Entry{
		Action: "token.create", Subject: "token", ID: strconv.FormatInt(t.ID, 10), Name: t.Name,
		New: map[string]any{"name": t.Name, "abilities": t.Abilities, "expires_at": t.ExpiresAt},
	})
}

// callerOf returns the id of the token that the actor calls with, or 0.
func callerOf(by core.Actor) (int64, error) {
	if by.Kind != core.ByToken {
		return 0, nil
	}
	return strconv.ParseInt(by.ID, 10, 64)
}

// insertRefusal returns the reason why no token was inserted.
func insertRefusal(ctx context.Context, tx *db.Tx, caller int64) error {
	if caller != 0 {
		_, err := db.One[bool](ctx, tx, callerSQL, db.Args{"caller": caller})
		if errors.Is(err, core.ErrNotFound) {
			return core.ErrUnauthenticated
		}
		if err != nil {
			return err
		}
	}
	return ErrLimit
}

// List returns a page of the tokens of the actor's person.
func (s *Service) List(ctx context.Context, by core.Actor, p core.Page) (core.List[Token], error) {
	if err := requireTokenRole(by); err != nil {
		return core.List[Token]{}, err
	}
	position := func(t Token) core.Cursor { return core.NumberCursor(t.CreatedAt, t.ID) }
	return db.ListPage(ctx, s.db, by, tokenList, db.Args{"staff": by.StaffID}, p, position)
}

// Find returns a token of the actor's person. Another person's, or a revoked one, is core.ErrNotFound.
func (s *Service) Find(ctx context.Context, by core.Actor, id int64) (Token, error) {
	if err := requireTokenRole(by); err != nil {
		return Token{}, err
	}
	return db.One[Token](ctx, s.db.Within(by), findSQL, db.Args{"staff": by.StaffID, "id": id})
}

// FindForPerson returns a token of a person of the actor's tenant. Another person's, or a revoked one,
// is core.ErrNotFound.
func (s *Service) FindForPerson(ctx context.Context, by core.Actor, person, id int64) (Token, error) {
	if err := requireTokenRole(by); err != nil {
		return Token{}, err
	}
	return db.One[Token](ctx, s.db.Tenant(by), findSQL, db.Args{"staff": person, "id": id})
}

// ListLive returns all live tokens of a person of the actor's tenant, newest first.
func (s *Service) ListLive(ctx context.Context, by core.Actor, person int64) ([]Token, error) {
	if err := requireTokenRole(by); err != nil {
		return nil, err
	}
	return db.All[Token](ctx, s.db.Tenant(by), listLiveSQL, db.Args{"staff": person, "now": s.db.Now()})
}

// IsAbility reports whether an ability exists.
func IsAbility(a Ability) bool { return slices.Contains(Abilities, a) }

// requireTokenRole refuses people who may not have tokens: on the platform only super-admins have them,
// in a tenant only owners.
func requireTokenRole(by core.Actor) error {
	if by.Tenant.ID == 0 {
		return by.RequireAdmin()
	}
	return by.Require(core.Owner)
}
