// Package token keeps API tokens: who a token stands for and what it may do. The
// secret is told once, when the token is made; what is stored is its SHA-256.
package token

import (
	"context"
	"slices"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/mail"
)

// Ability is a scope of a token.
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

// Created is a new token with its secret, which is never told again.
type Created struct {
	Token
	Secret string // "{id}|{40 characters}{checksum}"
}

// New describes a token to be. It belongs to the actor's person.
type New struct {
	Name      *string
	Scopes    *[]string // may be empty: a token that manages tokens
	ExpiresAt *time.Time

	Unreadable core.Fields // what the front end could not read
}

// Service makes, lists and revokes tokens, and tells who calls with one. Of the people of
// a tenant, owners alone have tokens.
type Service struct {
	db   *db.DB
	mail *mail.Service
}

// NewService makes the service.
func NewService(d *db.DB, m *mail.Service) *Service { return &Service{db: d, mail: m} }

// Letter tells the owner that a token was made: any leaked token could make one
// with every scope.
type Letter struct {
	Tenant    string // name of the business, or "" for the platform
	Person    string
	Token     string // its name
	Abilities []Ability
	By        string
	Address   string
	At        time.Time
}

// input is a New that passed.
type input struct {
	name      string
	abilities []Ability
	expiresAt *time.Time
}

func (n New) validate(tx *db.Tx) (input, error) {
	check := core.NewCheck(n.Unreadable)
	in := input{name: check.Text("name", n.Name, 255), abilities: []Ability{}, expiresAt: n.ExpiresAt}
	if n.Scopes == nil {
		if check.OK("scopes") {
			check.Required("scopes")
		}
	} else {
		for i, scope := range *n.Scopes {
			// A platform token carries no tenant scope.
			if !slices.Contains(Abilities, Ability(scope)) || tx.Tenant == 0 {
				field := "scopes." + strconv.Itoa(i)
				check.Add(field, core.Selected(field))
			} else if !slices.Contains(in.abilities, Ability(scope)) {
				in.abilities = append(in.abilities, Ability(scope))
			}
		}
	}
	if n.ExpiresAt != nil && !n.ExpiresAt.After(tx.Now) {
		check.Add("expires_at", core.MustBe("expires_at", "a date after now"))
	}
	return in, check.Err()
}

// Create makes a token for the actor's person, writes so in the log and mails the
// person. A super-admin's token is a platform token.
func (s *Service) Create(ctx context.Context, by core.Actor, n New) (Created, error) {
	if err := by.Require(core.Owner); err != nil {
		return Created{}, err
	}
	return in(ctx, s.db, by, func(tx *db.Tx) (Created, error) {
		in, err := n.validate(tx)
		if err != nil {
			return Created{}, err
		}
		secret := newSecret()
		t, err := insert(ctx, tx, by, in, secret)
		if err != nil {
			return Created{}, err
		}
		owner, err := db.One[owner](ctx, tx, ownerSQL, db.Args{"id": by.StaffID})
		if err != nil {
			return Created{}, err
		}
		err = s.mail.Queue(ctx, tx, owner.Email, Letter{
			Tenant: by.Tenant.Name, Person: owner.Name, Token: t.Name, Abilities: t.Abilities,
			By: described(by), Address: by.Address, At: tx.Now,
		})
		return Created{Token: t, Secret: secret.of(t.ID)}, err
	})
}

func insert(ctx context.Context, tx *db.Tx, by core.Actor, in input, s secret) (Token, error) {
	t, err := db.One[Token](ctx, tx, insertSQL, db.Args{
		"tenant": int64(tx.Tenant), "staff": by.StaffID, "name": in.name, "hash": s.hash(),
		"abilities": in.abilities, "expires_at": in.expiresAt, "now": tx.Now,
	})
	if err != nil {
		return Token{}, err
	}
	return t, audit.Write(tx, by, audit.Entry{
		Action: "token.create", Subject: "token", ID: strconv.FormatInt(t.ID, 10),
		New: map[string]any{"name": t.Name, "abilities": t.Abilities, "expires_at": t.ExpiresAt},
	})
}

// List returns a page of the tokens of the actor's person. One round trip.
func (s *Service) List(ctx context.Context, by core.Actor, p core.Page) (core.List[Token], error) {
	if err := by.Require(core.Owner); err != nil {
		return core.List[Token]{}, err
	}
	if err := p.Err(); err != nil {
		return core.List[Token]{}, err
	}
	statement, args := p.Statement(listSQL, listAfterSQL, listBeforeSQL)
	args["staff"] = by.StaffID
	if p.Cursor != nil {
		args["id"] = p.Cursor.Number()
	}
	tokens, err := list(ctx, s.db, by, statement, args)
	return core.NewList(p, tokens, func(t Token) core.Cursor { return core.NumberCursor(t.CreatedAt, t.ID) }), err
}

// Find returns a token of the actor's person. Somebody else's, and one that was revoked,
// is core.ErrNotFound. One round trip.
func (s *Service) Find(ctx context.Context, by core.Actor, id int64) (Token, error) {
	if err := by.Require(core.Owner); err != nil {
		return Token{}, err
	}
	found, err := list(ctx, s.db, by, findSQL, db.Args{"staff": by.StaffID, "id": id})
	if err == nil && len(found) == 0 {
		err = core.ErrNotFound
	}
	if err != nil {
		return Token{}, err
	}
	return found[0], nil
}

// Revoke ends a token of the actor's person: it stops working with the commit. A
// token may revoke itself. Somebody else's is core.ErrNotFound.
func (s *Service) Revoke(ctx context.Context, by core.Actor, id int64) (Token, error) {
	if err := by.Require(core.Owner); err != nil {
		return Token{}, err
	}
	return in(ctx, s.db, by, func(tx *db.Tx) (Token, error) {
		t, err := db.One[Token](ctx, tx, revokeSQL, db.Args{"staff": by.StaffID, "id": id, "now": tx.Now})
		if err != nil {
			return Token{}, err
		}
		return t, audit.Write(tx, by, audit.Entry{
			Action: "token.revoke", Subject: "token", ID: strconv.FormatInt(id, 10),
			Old: map[string]any{"name": t.Name, "abilities": t.Abilities},
		})
	})
}

// Tokens belong to people of a tenant or of the platform; what differs is which
// wall the transaction stands behind.
func in[T any](ctx context.Context, d *db.DB, by core.Actor, fn func(*db.Tx) (T, error)) (T, error) {
	if by.Tenant.ID == 0 {
		return db.Platform(ctx, d, by, fn)
	}
	return db.InTenant(ctx, d, by, fn)
}

func list(ctx context.Context, d *db.DB, by core.Actor, statement string, args db.Args) ([]Token, error) {
	if by.Tenant.ID == 0 {
		return db.PlatformAll[Token](ctx, d, statement, args)
	}
	return db.ReadAll[Token](ctx, d, by, statement, args)
}

// described is the actor in the words of a mail.
func described(by core.Actor) string {
	if by.Kind == core.ByToken {
		return "the API token “" + by.Name + "”"
	}
	return by.Name
}

type owner struct{ Name, Email string }

// Known reports whether there is such an ability.
func Known(a Ability) bool { return slices.Contains(Abilities, a) }
