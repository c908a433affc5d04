// Package usage counts how much of its plan a tenant uses, and refuses to exceed it (decisions §6). It
// reads tables of other packages and writes none.
//
// Its surprising rule: limits are soft. A count is cached for a minute, so a few requests within a
// minute can exceed a limit. A limit is never cached: a new one applies at once. A refusal always counts again, so
// freed space can be used at once.
package usage

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Kind is what a plan limits.
type Kind string

// The kinds.
const (
	Customers Kind = "customers" // active
	Staff     Kind = "staff"     // active, including invited people
	Sends     Kind = "sends"     // confirmed in this calendar month of the tenant's zone, except cancelled and failed ones
)

var kinds = []Kind{Customers, Staff, Sends}

// MaxAge is the maximum age of a cached count.
const MaxAge = time.Minute

// ErrLimit refuses to exceed the tenant's plan. The message of a refusal names the limit.
var ErrLimit = core.Refuse("plan-limit-reached", "The limit of the plan has been reached.")

// Use is how much of a limit is used.
type Use struct {
	Kind  Kind
	Used  int64
	Limit *int64 // nil: none
}

// NearLimit reports whether at least 80 % of the limit is used.
func (u Use) NearLimit() bool { return u.Limit != nil && u.Used*5 >= *u.Limit*4 }

// LimitReached reports whether the whole limit is used.
func (u Use) LimitReached() bool { return u.Limit != nil && u.Used >= *u.Limit }

func (u Use) refuses(more int64) bool { return u.Limit != nil && u.Used+more > *u.Limit }

// refusal returns ErrLimit with what the plan allows and what to do.
func (u Use) refusal() *core.Error {
	limit := strconv.FormatInt(*u.Limit, 10)
	sentence := map[Kind]string{
		Customers: "The plan allows " + limit + " active customers, and no more can be added. Deactivate customers who no longer come, or move to a larger plan.",
		Staff:     "The plan allows " + limit + " staff. Deactivate someone, or move to a larger plan.",
		Sends:     "The plan allows " + limit + " coupon sends a month. Send again next month, or move to a larger plan.",
	}[u.Kind]
	return &core.Error{Kind: ErrLimit.Kind, Code: ErrLimit.Code, Message: sentence, Cause: ErrLimit}
}

// Meter counts what tenants use, and caches the counts: one in a process. It never caches a limit.
type Meter struct {
	db *db.DB

	mu     sync.Mutex
	counts map[countKey]count
}

type countKey struct {
	tenant core.TenantID
	kind   Kind
}

// count is how much was used at an instant.
type count struct {
	used int64
	at   time.Time
}

func (c count) isFresh(now time.Time) bool {
	age := now.Sub(c.at)
	return age >= 0 && age < MaxAge
}

// uncounted is the count where there is no limit. It is above every limit, so that a new limit has the use counted.
const uncounted = math.MaxInt64 / 2

// NewMeter returns a meter.
func NewMeter(d *db.DB) *Meter { return &Meter{db: d, counts: map[countKey]count{}} }

// Check counts, and refuses with ErrLimit if more would exceed the limit of the transaction's tenant.
func Check(ctx context.Context, tx *db.Tx, kind Kind, more int64) error {
	_, err := countAndCheck(ctx, tx, kind, more)
	return err
}

// Reading reads how much of a kind the transaction's tenant uses of its plan; nothing if the plan has no limit.
func Reading(to *[]Use, tx *db.Tx, kind Kind) db.Reading {
	return db.AllInto(to, usesSQL, db.Args{"kind": kind, "unlimited": false, "now": tx.Now})
}

// Refuse returns ErrLimit if more would exceed the limit.
func (u Use) Refuse(more int64) error {
	if u.refuses(more) {
		return u.refusal()
	}
	return nil
}

// Room counts how many more of a kind the plan of the transaction's tenant allows. false: it has no limit.
func Room(ctx context.Context, tx *db.Tx, kind Kind) (room int64, limited bool, err error) {
	u, err := db.One[Use](ctx, tx, usesSQL, db.Args{"kind": kind, "unlimited": false, "now": tx.Now})
	return u.room(err)
}

// ReadRoom is Room for pages.
func ReadRoom(ctx context.Context, d *db.DB, by core.Actor, kind Kind) (room int64, limited bool, err error) {
	u, err := db.One[Use](ctx, d.Tenant(by), usesSQL, db.Args{"kind": kind, "unlimited": false, "now": d.Now()})
	return u.room(err)
}

func (u Use) room(err error) (room int64, limited bool, _ error) {
	if errors.Is(err, core.ErrNotFound) {
		return 0, false, nil
	}
	if err != nil || u.Limit == nil {
		return 0, false, err
	}
	return max(*u.Limit-u.Used, 0), true, nil
}

func countAndCheck(ctx context.Context, tx *db.Tx, kind Kind, more int64) (used int64, err error) {
	u, err := db.One[Use](ctx, tx, usesSQL, db.Args{"kind": kind, "unlimited": false, "now": tx.Now})
	switch {
	case errors.Is(err, core.ErrNotFound):
		return uncounted, nil
	case err == nil && u.refuses(more):
		err = u.refusal()
	}
	return u.Used, err
}

// Admit returns a cached count for the statement that adds one more. That statement reads the limit and compares, so a limit
// applies at once and costs no round trip. If it adds nothing, the caller calls Admit anew, which counts again and may refuse
// with ErrLimit.
func (m *Meter) Admit(ctx context.Context, tx *db.Tx, kind Kind, anew bool) (used int64, err error) {
	key := countKey{tx.Tenant, kind}
	if !anew {
		if used, known := m.take(key, tx.Now); known {
			return used, nil
		}
	}
	if used, err = countAndCheck(ctx, tx, kind, 1); err != nil {
		return 0, err
	}
	m.store(key, count{used + 1, tx.Now})
	return used, nil
}

// take returns a cached count, and adds one to it.
func (m *Meter) take(key countKey, now time.Time) (used int64, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts[key]
	if !c.isFresh(now) {
		delete(m.counts, key)
		return 0, false
	}
	m.counts[key] = count{c.used + 1, c.at}
	return c.used, true
}

// Forget has the next use counted anew, after several were added at once.
func (m *Meter) Forget(tenant core.TenantID, kind Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.counts, countKey{tenant, kind})
}

func (m *Meter) store(key countKey, c count) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[key] = c
}

// Uses returns what the actor's tenant uses of its plan: customers, staff, sends. It counts customers up
// to twice the limit, or up to 100,000 without a limit.
func Uses(ctx context.Context, d *db.DB, by core.Actor) ([]Use, error) {
	return db.All[Use](ctx, d.Tenant(by), usesSQL, db.Args{"kind": nil, "unlimited": true, "now": d.Now()})
}

// Uses is Uses with the meter's database.
func (m *Meter) Uses(ctx context.Context, by core.Actor) ([]Use, error) { return Uses(ctx, m.db, by) }

// Warnings returns the uses of the actor's tenant that are near their limit, by counts of at most
// MaxAge.
func (m *Meter) Warnings(ctx context.Context, by core.Actor) ([]Use, error) {
	uses, err := m.limited(ctx, by)
	return slices.DeleteFunc(uses, func(u Use) bool { return !u.NearLimit() }), err
}

// limited returns the uses that have a limit, in one round trip: the limits with the cached counts or, if one is
// missing, with new ones.
func (m *Meter) limited(ctx context.Context, by core.Actor) ([]Use, error) {
	now := m.db.Now()
	if cached := m.cached(by.Tenant.ID, now); len(cached) == len(kinds) {
		uses, err := db.All[Use](ctx, m.db.Tenant(by), limitsSQL, nil)
		for i, u := range uses {
			uses[i].Used = cached[u.Kind]
		}
		// Without a limit nothing was counted.
		if err != nil || !slices.ContainsFunc(uses, func(u Use) bool { return u.Used >= uncounted }) {
			return uses, err
		}
	}
	uses, err := db.All[Use](ctx, m.db.Tenant(by), usesSQL, db.Args{"kind": nil, "unlimited": false, "now": now})
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		c := count{uncounted, now}
		if i := slices.IndexFunc(uses, func(u Use) bool { return u.Kind == kind }); i >= 0 {
			c.used = uses[i].Used
		}
		m.store(countKey{by.Tenant.ID, kind}, c)
	}
	return uses, nil
}

// cached returns a tenant's counts that are fresh.
func (m *Meter) cached(tenant core.TenantID, now time.Time) map[Kind]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[Kind]int64{}
	for _, kind := range kinds {
		if c := m.counts[countKey{tenant, kind}]; c.isFresh(now) {
			found[kind] = c.used
		}
	}
	return found
}
