package report

import "example.com/loyalty/core/db"

// CountFrom lets opening balances be remembered of tenants with so many accounts.
func (s *Service) CountFrom(accounts int64) *Service {
	s.manyAccounts = accounts
	return s
}

// SetClock lets the service see the same database at another instant.
func (s *Service) SetClock(d *db.DB) { s.db = d }
