package shoptest

import (
	"cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/programme"
)

// Rule sets how a unit of the business ends, and returns the business as it is read after that. What the change leaves out is as the page proposes it:
// until the end of the month, after a full period for what customers have.
func (s Shop) Rule(unit ledger.Unit, c programme.Change) Shop {
	s.T.Helper()
	rules, err := s.Programme.Settings(s.T.Context(), s.By)
	s.Check(err)
	c.Unit, c.Version = unit, rules.Of(unit).Version
	c.RoundTo, c.Before = cmp.Or(c.RoundTo, core.ToMonth), cmp.Or(c.Before, programme.BeforePeriod)
	c.GraceDays = cmp.Or(c.GraceDays, new(int64(rules.Of(unit).GraceDays)))
	s.Must(s.Programme.Change(s.T.Context(), s.By, c))
	return s.Known()
}

// Known is the same business as requests read it now: with its rules. A test may have written them without the use case that shares them with
// the tenant, and a distributed database has no trigger that does.
func (s Shop) Known() Shop {
	s.T.Helper()
	s.Exec("select loyalty.share_programme($1)", s.By.Tenant.ID)
	t, err := db.FindTenant(s.T.Context(), s.DB, s.By.Tenant.ID)
	s.Check(err)
	s.By.Tenant.PointsExpiry, s.By.Tenant.StampsExpiry = t.PointsExpiry, t.StampsExpiry
	return s
}
