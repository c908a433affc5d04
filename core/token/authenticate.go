package token

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Caller is who calls with a token, and what they may do.
type Caller struct {
	core.Actor
	TokenID   int64
	Abilities []Ability
}

// May reports whether the caller has an ability.
func (c Caller) May(a Ability) bool { return slices.Contains(c.Abilities, a) }

// IsPlatform reports whether the caller is a super-admin with a platform token.
func (c Caller) IsPlatform() bool { return c.Role == core.SuperAdmin }

type credential struct {
	Hash        []byte
	Name        string
	Abilities   []Ability
	LastUsedAt  *time.Time
	ExpiresAt   *time.Time
	StaffID     int64
	Role        core.Role
	TenantID    core.TenantID
	TenantName  string
	TenantSlug  string
	Timezone    string
	Currency    string
	Country     string
	RevokedAt   *time.Time
	StaffActive bool
	OpenTenant  bool

	ConfirmAboveCents int64
}

// Authenticate tells who calls with a token: core.ErrUnauthenticated when it is
// missing, malformed, unknown, revoked or expired, when its person may not have tokens
// any more, or when its business is suspended. slug is the tenant host that was called,
// or "": another tenant's token is nobody there. One round trip, and once a minute a second one
// that notes the use.
func (s *Service) Authenticate(ctx context.Context, token, slug string) (Caller, error) {
	id, given, ok := parse(token)
	if !ok {
		return Caller{}, core.ErrUnauthenticated
	}
	c, err := db.PlatformOne[credential](ctx, s.db, credentialSQL, db.Args{"id": id})
	if errors.Is(err, core.ErrNotFound) {
		return Caller{}, core.ErrUnauthenticated
	}
	if err != nil {
		return Caller{}, err
	}
	now := s.db.Now()
	expired := c.ExpiresAt != nil && !now.Before(*c.ExpiresAt)
	if !given.matches(c.Hash) || c.RevokedAt != nil || expired || !c.StaffActive || !mayHave(c.Role, c.TenantID) || !c.OpenTenant ||
		(slug != "" && c.TenantSlug != slug) {
		return Caller{}, core.ErrUnauthenticated
	}
	if c.LastUsedAt == nil || now.Sub(*c.LastUsedAt) >= time.Minute {
		if err := s.markUsed(ctx, id); err != nil {
			return Caller{}, err
		}
	}
	zone, err := core.Zone(c.Timezone)
	if err != nil {
		return Caller{}, err
	}
	return Caller{
		TokenID:   id,
		Abilities: c.Abilities,
		Actor: core.Actor{
			Kind: core.ByToken, ID: strconv.FormatInt(id, 10), Name: c.Name, StaffID: c.StaffID, Role: c.Role,
			Tenant: core.Tenant{
				ID: c.TenantID, Name: c.TenantName, Slug: c.TenantSlug,
				TimeZone: zone, Currency: c.Currency, Country: c.Country, ConfirmAboveCents: c.ConfirmAboveCents,
			},
		},
	}, nil
}

// mayHave reports whether a person of that role may have tokens: an owner those of their
// tenant, a super-admin those of the platform.
func mayHave(role core.Role, tenant core.TenantID) bool {
	if tenant == 0 {
		return role == core.SuperAdmin
	}
	return role == core.Owner
}

// markUsed notes that a token was used. Of many requests in one instant one writes; the
// others pass by instead of waiting for it.
func (s *Service) markUsed(ctx context.Context, id int64) error {
	_, err := db.Platform(ctx, s.db, core.System(core.Tenant{}, "token use"), func(tx *db.Tx) (int64, error) {
		return 0, db.Queue(tx, usedSQL, db.Args{"id": id, "now": tx.Now})
	})
	return err
}
