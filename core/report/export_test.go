package report

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/limit"
)

// CountFrom sets the number of accounts from which a business is large.
func (s *Service) CountFrom(accounts int64) *Service {
	s.manyAccounts = accounts
	return s
}

// KeepLeaders sets how many leaders of a ranking are kept, and how many more than asked for are counted.
func (s *Service) KeepLeaders(most, spare int64) *Service {
	s.leaders.most, s.leaders.spare = most, spare
	return s
}

// TopOfLeaders returns a ranking as it follows from what is kept, if it does.
func (s *Service) TopOfLeaders(ctx context.Context, by core.Actor, r Ranking) ([]Customer, bool, error) {
	asked, err := s.ranking(by, r)
	if err != nil {
		return nil, false, err
	}
	return s.topOfLeaders(ctx, by, asked)
}

// SetClock gives the service the same database at another instant.
func (s *Service) SetClock(d *db.DB) { s.db = d }

// Impatient limits the waiting time of reports to a moment.
func (s *Service) Impatient() *Service {
	s.gate = limit.NewGate(maxAtOnce, maxPerTenant, 50*time.Millisecond, busy)
	return s
}

// Hold occupies the place of one report of a tenant.
func (s *Service) Hold(ctx context.Context, t core.TenantID) (leave func(), err error) {
	return s.gate.Enter(ctx, t)
}

// MaxPerTenant is how many reports of a tenant are counted at once.
var MaxPerTenant = maxPerTenant

// Of is the part of a flow that entries of a kind add up to.
func (f *Flow) Of(kind ledger.Kind) *int64 { return f.of(kind) }

// VisitDays is how many days, one after the other, the statement of Visitors is asked about.
func (s *Service) VisitDays(by core.Actor, sel Selection) (int, error) {
	picked, err := s.resolveSelection(by, sel)
	if err != nil {
		return 0, err
	}
	now := s.db.Now()
	return len(picked.timetable(picked.step, picked.against, now).visitArgs(picked.asOf(now), nil)["midnights"].([]time.Time)), nil
}
