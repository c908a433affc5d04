// Package usage knows how much of its plan a tenant uses, and refuses what would exceed it
// (decisions §6). It reads the tables of others and writes none.
//
// Its surprising rule: limits are soft. A count is kept for a minute, so a few requests of one
// minute may go past a limit. A refusal is always based on a fresh count, so room that was
// made is there at once.
package usage

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Kind is what a plan limits.
type Kind string

// What plans limit.
const (
	Customers Kind = "customers" // active ones
	Staff     Kind = "staff"     // active people, invited ones included
	Sends     Kind = "sends"     // that were confirmed in this calendar month of the tenant's zone, cancelled and failed ones left out
)

// MaxAge is how old a count may be.
const MaxAge = time.Minute

// ErrLimit refuses what would exceed the tenant's plan. The sentence of a refusal names the
// number.
var ErrLimit = core.Refuse("plan-limit-reached", "The limit of the plan has been reached.")

// Use is how much of a limit is used.
type Use struct {
	Kind  Kind
	Used  int64
	Limit *int64 // nil: none
}

// NearLimit reports whether four fifths of the limit are used.
func (u Use) NearLimit() bool { return u.Limit != nil && u.Used*5 >= *u.Limit*4 }

// LimitReached reports whether nothing is left.
func (u Use) LimitReached() bool { return u.Limit != nil && u.Used >= *u.Limit }

func (u Use) refuses(more int64) bool { return u.Limit != nil && u.Used+more > *u.Limit }

// refusal says what the plan allows, and what to do.
func (u Use) refusal() *core.Error {
	limit := strconv.FormatInt(*u.Limit, 10)
	sentence := map[Kind]string{
		Customers: "The plan allows " + limit + " active customers, and no more can be added. Deactivate customers who don't come any more, or move to a larger plan.",
		Staff:     "The plan allows " + limit + " people. Deactivate someone, or move to a larger plan.",
		Sends:     "The plan allows " + limit + " coupon sends a month. Send again next month, or move to a larger plan.",
	}[u.Kind]
	return &core.Error{Kind: ErrLimit.Kind, Code: ErrLimit.Code, Message: sentence, Cause: ErrLimit}
}

// Meter counts what tenants use, each count for up to MaxAge.
type Meter struct {
	db *db.DB

	mu   sync.Mutex
	kept map[countKey]reading
	near map[core.TenantID]warning
}

type countKey struct {
	tenant core.TenantID
	kind   Kind
}

// warning is what a tenant was warned of.
type warning struct {
	uses []Use
	at   time.Time
}

type reading struct {
	Use
	at time.Time
}

// NewMeter makes a meter.
func NewMeter(d *db.DB) *Meter {
	return &Meter{db: d, kept: map[countKey]reading{}, near: map[core.TenantID]warning{}}
}

// Check refuses with ErrLimit if so many more would exceed the limit of the transaction's
// tenant, by a count of this moment. One round trip.
func Check(ctx context.Context, tx *db.Tx, kind Kind, more int64) error {
	_, err := check(ctx, tx, kind, more)
	return err
}

func check(ctx context.Context, tx *db.Tx, kind Kind, more int64) (Use, error) {
	u, err := db.One[Use](ctx, tx, countSQL, db.Args{"kind": kind, "now": tx.Now})
	if err == nil && u.refuses(more) {
		err = u.refusal()
	}
	return u, err
}

// Admit is Check for what happens often: no round trip where the last count is at most a
// minute old and leaves room.
func (m *Meter) Admit(ctx context.Context, tx *db.Tx, kind Kind, more int64) error {
	key := countKey{tx.Tenant, kind}
	if m.fitsLastCount(key, more, tx.Now) {
		return nil
	}
	u, err := check(ctx, tx, kind, more)
	if err != nil {
		return err
	}
	u.Used += more
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[key] = reading{u, tx.Now}
	return nil
}

// fitsLastCount reports whether a recent count leaves room for more, and adds them to it.
func (m *Meter) fitsLastCount(key countKey, more int64, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, known := m.kept[key]
	if age := now.Sub(r.at); !known || age < 0 || age >= MaxAge || r.refuses(more) {
		delete(m.kept, key)
		return false
	}
	r.Used += more
	m.kept[key] = r
	return true
}

// Uses tells what the actor's tenant uses of its plan: customers, staff, sends. One round trip.
// Customers are counted up to twice the limit, or to 100,000 where there is none.
func (m *Meter) Uses(ctx context.Context, by core.Actor) ([]Use, error) {
	return db.ReadAll[Use](ctx, m.db, by, allSQL, db.Args{"now": m.db.Now()})
}

// Warnings are the limits of the actor's tenant of which at least four fifths are used, by counts
// that are at most MaxAge old. One round trip, and none where they were counted since. What has
// no limit is not counted.
func (m *Meter) Warnings(ctx context.Context, by core.Actor) ([]Use, error) {
	now := m.db.Now()
	m.mu.Lock()
	w, known := m.near[by.Tenant.ID]
	m.mu.Unlock()
	if age := now.Sub(w.at); known && age >= 0 && age < MaxAge {
		return w.uses, nil
	}
	uses, err := db.ReadAll[Use](ctx, m.db, by, limitedSQL, db.Args{"now": now})
	if err != nil {
		return nil, err
	}
	uses = slices.DeleteFunc(uses, func(u Use) bool { return !u.NearLimit() })
	m.mu.Lock()
	defer m.mu.Unlock()
	m.near[by.Tenant.ID] = warning{uses, now}
	return uses, nil
}
