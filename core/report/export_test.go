package report

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/limit"
)

// CountFrom lets opening balances be remembered of tenants with so many accounts.
func (s *Service) CountFrom(accounts int64) *Service {
	s.manyAccounts = accounts
	return s
}

// SetClock lets the service see the same database at another instant.
func (s *Service) SetClock(d *db.DB) { s.db = d }

// Impatient has reports wait for no more than a moment.
func (s *Service) Impatient() *Service {
	s.gate = limit.NewGate(atOnce, ofTenant, 50*time.Millisecond, busy)
	return s
}

// Hold takes the place of one report of a tenant.
func (s *Service) Hold(ctx context.Context, t core.TenantID) (leave func(), err error) {
	return s.gate.Enter(ctx, t)
}

// OfTenant is how many reports of a tenant are counted at once.
var OfTenant = ofTenant
