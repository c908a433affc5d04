// Package usage counts how much of its plan a tenant uses, and refuses to exceed it (decisions §6). It
// reads tables of other packages and writes none.
//
// Its surprising rule: limits are soft. A count is cached for a minute, so a few requests within a
// minute can exceed a limit. A refusal always counts again, so freed space can be used at once.
package usage

import (
	"context"
	"errors"
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

// Meter counts what tenants use, and caches the counts.
type Meter struct {
	db *db.DB

	mu     sync.Mutex
	counts map[countKey]cached[Use]
	near   map[core.TenantID]cached[[]Use]
}

type countKey struct {
	tenant core.TenantID
	kind   Kind
}

// cached is a value that was counted at an instant.
type cached[T any] struct {
	value T
	at    time.Time
}

func (c cached[T]) isFresh(now time.Time) bool {
	age := now.Sub(c.at)
	return age >= 0 && age < MaxAge
}

// NewMeter returns a meter.
func NewMeter(d *db.DB) *Meter {
	return &Meter{db: d, counts: map[countKey]cached[Use]{}, near: map[core.TenantID]cached[[]Use]{}}
}

// Check counts, and refuses with ErrLimit if more would exceed the limit of the transaction's tenant.
func Check(ctx context.Context, tx *db.Tx, kind Kind, more int64) error {
	_, err := countAndCheck(ctx, tx, kind, more)
	return err
}

// Room counts how many more of a kind the plan of the transaction's tenant allows. false: it has no limit.
func Room(ctx context.Context, tx *db.Tx, kind Kind) (room int64, limited bool, err error) {
	u, err := db.One[Use](ctx, tx, usesSQL, db.Args{"kind": kind, "unlimited": false, "now": tx.Now})
	return u.room(err)
}

// ReadRoom is Room for pages.
func ReadRoom(ctx context.Context, d *db.DB, by core.Actor, kind Kind) (room int64, limited bool, err error) {
	u, err := db.ReadOne[Use](ctx, d, by, usesSQL, db.Args{"kind": kind, "unlimited": false, "now": d.Now()})
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

func countAndCheck(ctx context.Context, tx *db.Tx, kind Kind, more int64) (Use, error) {
	u, err := db.One[Use](ctx, tx, usesSQL, db.Args{"kind": kind, "unlimited": false, "now": tx.Now})
	switch {
	case errors.Is(err, core.ErrNotFound):
		return Use{Kind: kind}, nil
	case err == nil && u.refuses(more):
		err = u.refusal()
	}
	return u, err
}

// Admit is Check for frequent requests: it doesn't count if the cached count leaves space.
func (m *Meter) Admit(ctx context.Context, tx *db.Tx, kind Kind, more int64) error {
	key := countKey{tx.Tenant, kind}
	if m.fitsLastCount(key, more, tx.Now) {
		return nil
	}
	u, err := countAndCheck(ctx, tx, kind, more)
	if err != nil {
		return err
	}
	u.Used += more
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[key] = cached[Use]{u, tx.Now}
	return nil
}

// fitsLastCount reports whether the cached count leaves space for more, and adds them to it.
func (m *Meter) fitsLastCount(key countKey, more int64, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts[key]
	if !c.isFresh(now) || c.value.refuses(more) {
		delete(m.counts, key)
		return false
	}
	c.value.Used += more
	m.counts[key] = c
	return true
}

// Uses returns what the actor's tenant uses of its plan: customers, staff, sends. It counts customers up
// to twice the limit, or up to 100,000 without a limit.
func (m *Meter) Uses(ctx context.Context, by core.Actor) ([]Use, error) {
	return db.ReadAll[Use](ctx, m.db, by, usesSQL, db.Args{"kind": nil, "unlimited": true, "now": m.db.Now()})
}

// Warnings returns the uses of the actor's tenant that are near their limit, by counts of at most
// MaxAge.
func (m *Meter) Warnings(ctx context.Context, by core.Actor) ([]Use, error) {
	now := m.db.Now()
	m.mu.Lock()
	warnings := m.near[by.Tenant.ID]
	m.mu.Unlock()
	if warnings.isFresh(now) {
		return warnings.value, nil
	}
	uses, err := db.ReadAll[Use](ctx, m.db, by, usesSQL, db.Args{"kind": nil, "unlimited": false, "now": now})
	if err != nil {
		return nil, err
	}
	uses = slices.DeleteFunc(uses, func(u Use) bool { return !u.NearLimit() })
	m.mu.Lock()
	defer m.mu.Unlock()
	m.near[by.Tenant.ID] = cached[[]Use]{uses, now}
	return uses, nil
}
