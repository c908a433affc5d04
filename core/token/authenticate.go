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

// Caller is the actor of a request with a token, and its abilities.
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
	ID          int64
	Hash        []byte
	Name        string
	Abilities   []Ability
	LastUsedAt  *time.Time
	ExpiresAt   *time.Time
	RevokedAt   *time.Time
	StaffID     int64
	Role        core.Role
	StaffActive bool
	db.TenantRow
}

// Authenticate returns the caller with a token, or core.ErrUnauthenticated when it is missing,
// malformed, unknown, revoked or expired, when its person may not have tokens any more, or when its
// business is suspended. slug is the tenant's host that was called, where tokens of other tenants are
// refused, or "". Once a minute it stores that the token was used. A caller who is refused although they know the
// secret is returned with the TokenID alone, so that the refusal can be counted.
func (s *Service) Authenticate(ctx context.Context, token, slug string) (Caller, error) {
	id, c, err := s.find(ctx, token, slug)
	if err != nil {
		return Caller{TokenID: id}, err
	}
	if c.LastUsedAt == nil || s.db.Now().Sub(*c.LastUsedAt) >= time.Minute {
		if _, err := s.uses(ctx, 0, id); err != nil {
			return Caller{}, err
		}
	}
	tenant, err := c.Tenant()
	if err != nil {
		return Caller{}, err
	}
	return Caller{
		TokenID:   id,
		Abilities: c.Abilities,
		Actor: core.Actor{
			Kind: core.ByToken, ID: strconv.FormatInt(id, 10), Name: c.Name, StaffID: c.StaffID, Role: c.Role, Tenant: tenant,
			NeedsActive: true,
		},
	}, nil
}

// Works reports whether requests with a token are accepted. It doesn't count as a use.
func (s *Service) Works(ctx context.Context, token string) (bool, error) {
	_, _, err := s.find(ctx, token, "")
	if errors.Is(err, core.ErrUnauthenticated) {
		return false, nil
	}
	return err == nil, err
}

// find returns what is stored about a valid token, or core.ErrUnauthenticated, with the id if the secret is the token's.
func (s *Service) find(ctx context.Context, token, slug string) (id int64, c credential, err error) {
	id, given, ok := parseToken(token)
	if !ok {
		return 0, credential{}, core.ErrUnauthenticated
	}
	c, err = s.credentials(ctx, 0, id)
	if errors.Is(err, core.ErrNotFound) {
		return 0, credential{}, core.ErrUnauthenticated
	}
	if err != nil {
		return 0, credential{}, err
	}
	if !given.matches(c.Hash) {
		return 0, credential{}, core.ErrUnauthenticated
	}
	expired := c.ExpiresAt != nil && !s.db.Now().Before(*c.ExpiresAt)
	if c.RevokedAt != nil || expired || !c.StaffActive || !mayHave(c.Role, c.TenantID) || c.Suspended || (slug != "" && c.TenantSlug != slug) {
		return id, credential{}, core.ErrUnauthenticated
	}
	return id, c, nil
}

// mayHave reports whether people with a role may have tokens: owners those of their tenant,
// super-admins those of the platform.
func mayHave(role core.Role, tenant core.TenantID) bool {
	if tenant == 0 {
		return role == core.SuperAdmin
	}
	return role == core.Owner
}

// readCredentials reads the tokens of requests that arrived together, of all tenants.
func (s *Service) readCredentials(ctx context.Context, _ core.TenantID, ids []int64) (map[int64]credential, error) {
	sql, args := credentialsSQL, db.Args{"ids": ids}
	if len(ids) == 1 {
		sql, args = credentialSQL, db.Args{"id": ids[0]}
	}
	rows, err := db.All[credential](ctx, s.db.Platform(), sql, args)
	found := make(map[int64]credential, len(rows))
	for _, c := range rows {
		found[c.ID] = c
	}
	return found, err
}

// markUsed stores that tokens were used.
func (s *Service) markUsed(ctx context.Context, _ core.TenantID, ids []int64) (map[int64]bool, error) {
	marked := make(map[int64]bool, len(ids))
	for _, id := range ids {
		marked[id] = true
	}
	return marked, db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		return db.Queue(tx, usedSQL, db.Args{"ids": ids, "now": tx.Now})
	})
}
