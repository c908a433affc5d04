// Package report adds up a tenant's records, by local days. Days that are over were counted once (core/daily), and all others are counted
// when a report asks. So no figure is stale, and a changed time zone applies at once.
//
// Sales and redemptions are found and dated by their IDs, which contain created_at.
//
// Reports and the dashboard are for managers and owners.
package report

import (
	"context"
	"runtime"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/limit"
)

// Service counts reports.
type Service struct {
	db           *db.DB
	gate         *limit.Gate
	manyAccounts int64
	endings      hourly[endingsKey, countedEndings]
	holders      hourly[core.TenantID, []levelHolders]
	leaders      keptLeaders
}

// NewService makes the service.
func NewService(d *db.DB) *Service {
	return &Service{
		db: d, gate: limit.NewGate(maxAtOnce, maxPerTenant, patience, busy).Resting(),
		manyAccounts: manyAccounts, leaders: newKeptLeaders(),
	}
}

// The number of reports that this process counts at once. A report may read millions of records and
// use a whole core, perhaps of the machine that also runs the database. Other reports wait without a
// connection.
var (
	maxAtOnce    = min(4, max(2, runtime.GOMAXPROCS(0)))
	maxPerTenant = maxAtOnce / 2
)

const (
	patience = 5 * time.Second

	busy = "Other reports of your business are being counted. Try again in a few seconds."
)

const (
	// Planning a report for its arguments takes longer than it saves (planMode).
	planOnceSQL = `
	select ` + planOnce + ` as set`

	// Few reports run at once, so each may take longer than other statements: a year of a large business. A plan for any number of days
	// expects ten, and would sort thousands of rows to add them up, where a hash takes a third less time, and compare each span with all days of
	// a table, where it finds its own in the index.
	takeTimeSQL = `
	select set_config('statement_timeout', '40s', true) || set_config('enable_sort', 'off', true) || set_config('enable_material', 'off', true) || ` + planOnce + ` as set`

	planOnce = `set_config('plan_cache_mode', @plan_mode, true)`
)

// planMode has statements planned once. A distributed database plans them for their arguments, which say where the rows are.
func (s *Service) planMode() db.Args {
	if s.db.IsDistributed() {
		return db.Args{"plan_mode": "auto"}
	}
	return db.Args{"plan_mode": "force_generic_plan"}
}

// count runs a report's statement when the gate admits it.
func count[T any](ctx context.Context, s *Service, by core.Actor, sql string, args db.Args) (rows []T, err error) {
	err = s.together(ctx, by, db.AllInto(&rows, sql, args))
	return rows, err
}

// together runs a report's statements when the gate admits them.
func (s *Service) together(ctx context.Context, by core.Actor, readings ...db.Reading) error {
	leave, err := s.gate.Enter(ctx, by.Tenant.ID)
	if err != nil {
		return err
	}
	defer leave()
	return s.read(ctx, by, readings...)
}

// read runs statements of a report that the gate has admitted.
func (s *Service) read(ctx context.Context, by core.Actor, readings ...db.Reading) error {
	return db.Together(ctx, s.db.Tenant(by), append([]db.Reading{db.OneInto(&struct{ Set string }{}, takeTimeSQL, s.planMode())}, readings...)...)
}

// Range selects days in the tenant's time zone, including both ends. A day is its midnight in UTC. A nil To
// is today, a nil From is 29 days before To.
type Range struct {
	From *time.Time
	To   *time.Time

	Malformed core.Fields // what the front end could not read
}

const (
	defaultDays = 30
	maxDays     = 3653 // ten years
)

// days is a range of days in a time zone.
type days struct {
	from, to time.Time // midnights in UTC
	zone     *time.Location
}

func (r Range) days(check *core.Check, now time.Time, zone *time.Location) days {
	picked := days{zone: zone}
	today := picked.dayOf(now)
	picked.from, picked.to = today, today
	switch {
	case r.To != nil:
		picked.to = *r.To
	case r.From != nil && r.From.After(today):
		picked.to = *r.From
	}
	if r.From != nil {
		picked.from = *r.From
	} else {
		picked.from = picked.to.AddDate(0, 0, 1-defaultDays)
	}
	switch {
	case picked.to.Before(picked.from):
		check.Add("to", core.AfterOrEqual("from"))
	case picked.to.After(picked.from.AddDate(0, 0, maxDays-1)):
		check.Add("to", core.WithinDays(maxDays-1, "from"))
	}
	return picked
}

// resolve checks the role and returns the days of a range.
func (s *Service) resolve(by core.Actor, r Range) (days, error) {
	if err := by.Require(core.Manager); err != nil {
		return days{}, err
	}
	check := core.NewCheck(r.Malformed)
	picked := r.days(check, s.db.Now(), by.Tenant.TimeZone)
	return picked, check.Err()
}

// Days returns a range with both ends set, as every report reads it.
func (s *Service) Days(by core.Actor, r Range) (Range, error) {
	check := core.NewCheck(r.Malformed)
	picked := r.days(check, s.db.Now(), by.Tenant.TimeZone)
	if err := check.Err(); err != nil {
		return Range{}, err
	}
	return Range{From: &picked.from, To: &picked.to}, nil
}

// length is the number of days.
func (d days) length() int { return Period{d.from, d.to}.length() }

// dates returns each day.
func (d days) dates() (dates []time.Time) {
	for day := d.from; !day.After(d.to); day = day.AddDate(0, 0, 1) {
		dates = append(dates, day)
	}
	return dates
}

// startOf returns the first instant of a day.
func (d days) startOf(date time.Time) time.Time { return core.StartOfDate(date, d.zone) }

// end returns the first instant after the last day.
func (d days) end() time.Time { return d.startOf(d.to.AddDate(0, 0, 1)) }
