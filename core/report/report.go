// Package report counts what happened in a tenant. It only reads, and stores no
// totals: every figure is counted from the records when it is asked for, so none can
// be stale, and a changed time zone is right at once.
//
// A sale and a redemption are found by id, and dated by it: ids are made at created_at.
//
// Reports and the dashboard are for managers and owners; a cashier is refused.
package report

import (
	"context"
	"runtime"
	"sync"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/limit"
)

// Service answers the reports.
type Service struct {
	db           *db.DB
	gate         *limit.Gate
	manyAccounts int64

	mu       sync.Mutex
	openings map[core.TenantID]openingBalances // of large tenants
}

// NewService makes the service.
func NewService(d *db.DB) *Service {
	return &Service{
		db: d, gate: limit.NewGate(atOnce, ofTenant, patience, busy).Resting(),
		manyAccounts: manyAccounts, openings: map[core.TenantID]openingBalances{},
	}
}

// A report may read millions of records. So many are counted at once in this process, and so
// many of one tenant: the others wait, and hold no connection meanwhile. On a small machine
// they are fewer: the database may be on it, and every statement of a report takes a core.
var (
	atOnce   = min(4, max(2, runtime.GOMAXPROCS(0)))
	ofTenant = atOnce / 2
)

const (
	patience = 5 * time.Second

	busy = "Other reports of your business are being counted. Try again in a few seconds."
)

// count runs a report's statement when there is a place for it.
func count[T any](ctx context.Context, s *Service, by core.Actor, sql string, args db.Args) ([]T, error) {
	leave, err := s.gate.Enter(ctx, by.Tenant.ID)
	if err != nil {
		return nil, err
	}
	defer leave()
	return db.ReadAll[T](ctx, s.db, by, sql, args)
}

// Range picks days of the tenant's time zone, both included. A day is written as its
// midnight in UTC. Nil: the last 30 days, or as many as end with To, or those from
// From until today.
type Range struct {
	From *time.Time
	To   *time.Time

	Malformed core.Fields // what the front end could not read
}

const (
	defaultDays = 30
	maxDays     = 3653 // ten years
)

// days are the days from the first to the last.
type days struct {
	from, to time.Time // midnights in UTC
	zone     *time.Location
}

func (r Range) days(check *core.Check, now time.Time, zone *time.Location) days {
	y, m, d := now.In(zone).Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	picked := days{from: today, to: today, zone: zone}
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

// Days is a range with its first and its last day written out, as every report reads it.
// It asks nobody but the clock.
func (s *Service) Days(by core.Actor, r Range) (Range, error) {
	check := core.NewCheck(r.Malformed)
	picked := r.days(check, s.db.Now(), by.Tenant.TimeZone)
	if err := check.Err(); err != nil {
		return Range{}, err
	}
	return Range{From: &picked.from, To: &picked.to}, nil
}

// dates are the days one by one.
func (d days) dates() (dates []time.Time) {
	for day := d.from; !day.After(d.to); day = day.AddDate(0, 0, 1) {
		dates = append(dates, day)
	}
	return dates
}

// startOf is the first instant of a day.
func (d days) startOf(date time.Time) time.Time { return core.StartOfDate(date, d.zone) }

// end is the first instant after the last day.
func (d days) end() time.Time { return d.startOf(d.to.AddDate(0, 0, 1)) }

// bounds are where each day begins, and where the last one ends: as instants and as
// the first ids made then.
func (d days) bounds() (instants []time.Time, ids []core.ID) {
	for _, date := range d.dates() {
		instants = append(instants, d.startOf(date))
	}
	instants = append(instants, d.end())
	for _, at := range instants {
		ids = append(ids, core.FirstID(at))
	}
	return instants, ids
}
