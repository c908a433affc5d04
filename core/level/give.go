package level

import (
	"context"
	"errors"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// MaxReason is the length of the reason of a change by hand.
const MaxReason = 255

// ErrOff refuses a change by hand where levels are off.
var ErrOff = &core.Error{Kind: core.KindRule, Message: "Levels are off."}

// Given describes a change of a customer's level by hand.
type Given struct {
	LevelID int64
	Until   *time.Time // its last day; nil: the end of the next year, or never where levels aren't lost
	Reason  string

	Malformed core.Fields // what the front end could not read
}

// Give changes a customer's level by hand, up or down, for a reason that their timeline shows. Until its last day, only a sale
// that reaches a further level changes it. Erased customers are refused.
func (s *Service) Give(ctx context.Context, by core.Actor, id core.ID, g Given, once *core.Once[award.Progress]) (core.Reply[award.Progress], error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), db.Once(ctx, by, once, func(tx *db.Tx) (award.Progress, error) {
		who, err := customer.FindIn(ctx, tx, id)
		if err != nil {
			return award.Progress{}, err
		}
		var read stored
		var standing ledger.Standing
		if err := db.Together(ctx, tx, append(read.readings(), ledger.LockStanding(&standing, id))...); err != nil {
			return award.Progress{}, err
		}
		levels, today := read.setup().inForce(), core.DateOf(tx.Now, by.Tenant.TimeZone)
		if !levels.Exist() {
			return award.Progress{}, ErrOff
		}
		check := core.NewCheck(g.Malformed)
		to := levels.Find(&g.LevelID)
		if check.OK("level") && (to == nil || to.Retired) {
			check.Add("level", core.InvalidChoice)
		}
		reason := check.Text("reason", &g.Reason, MaxReason)
		until := g.Until
		if until == nil {
			until = levels.UntilNextYear(today)
		} else if until.Before(today) {
			check.Add("until", core.MustBeFuture)
		}
		if err := check.Err(); err != nil {
			return award.Progress{}, err
		}
		if who.Erased {
			return award.Progress{}, customer.ErrErased
		}
		standing, settled := levels.Settle(standing, today)
		had := levels.Progress(standing, today)
		standing, given := levels.Give(standing, to, award.ByHand, until)
		given.Note = &reason
		if err := Queue(tx, by, id, nil, append(settled, given)); err != nil {
			return award.Progress{}, err
		}
		if err := ledger.KeepStanding(tx, id, standing); err != nil {
			return award.Progress{}, err
		}
		facts := map[string]any{"level": to.Name, "reason": reason}
		if until != nil {
			facts["until"] = until.Format(time.DateOnly)
		}
		return *levels.Progress(standing, today), audit.Write(tx, by, audit.Entry{
			Action: "customer.level", Subject: "customer", ID: id.String(), Old: map[string]any{"level": had.Level.Name}, New: facts,
		})
	}))
}

// Start is the level of a customer who comes from elsewhere.
type Start struct {
	Customer core.ID
	Level    *award.Level
}

// StartAll queues that new customers, whom the transaction has added, have levels until the end of the next year.
func StartAll(tx *db.Tx, by core.Actor, levels award.Levels, starts []Start, today time.Time) error {
	var customers []core.ID
	var standings []ledger.Standing
	var moves []Move
	until := levels.UntilNextYear(today)
	for _, s := range starts {
		standing, given := levels.Give(ledger.Standing{}, s.Level, award.Imported, until)
		customers, standings = append(customers, s.Customer), append(standings, standing)
		moves = append(moves, Move{s.Customer, given})
	}
	return errors.Join(ledger.KeepStandings(tx, customers, standings), QueueAll(tx, by, moves))
}

const standingSQL = `
	select ` + ledger.StandingColumns + `
	from loyalty.account a
	where a.tenant_id = @tenant_id
		and a.customer_id = @customer`

const toldSQL = toldColumns + `
	limit 100`

const toldColumns = `
	select id, from_level, to_level, reason, cause, note, until, actor_kind, actor_name, created_at
	from loyalty.level_change
	where tenant_id = @tenant_id
		and customer_id = @customer
	order by seq desc`

// OfCustomer is a customer's level with how they got it.
type OfCustomer struct {
	award.Levels
	Progress *award.Progress // nil: there are no levels
	Stored   ledger.Standing
	Changes  []Told // the newest ones, the newest first
}

// Told is a change of a customer's level as it is shown.
type Told struct {
	ID        core.ID
	FromLevel *int64
	ToLevel   *int64
	Reason    award.Reason
	Cause     *core.ID // a sale, except of a merge or an import
	Note      *string  // why, by hand
	Until     *time.Time
	ActorKind core.ActorKind
	ActorName string
	CreatedAt time.Time
}

// newestSQL is how a customer got the level that they have.
const newestSQL = toldColumns + `
	limit 1`

// Reading reads a customer's level, whatever levels the business has, together with what else a page needs.
type Reading struct {
	stored
	standing ledger.Standing
	newest   []Told
}

// Readings returns the readings.
func (r *Reading) Readings(customer core.ID) []db.Reading {
	who := db.Args{"customer": customer}
	return append(r.readings(), db.OneInto(&r.standing, standingSQL, who), db.AllInto(&r.newest, newestSQL, who))
}

// OfCustomer returns what was read as of a day; nil: there are no levels.
func (r *Reading) OfCustomer(today time.Time) *OfCustomer {
	levels := r.setup().inForce()
	if !levels.Exist() {
		return nil
	}
	return &OfCustomer{Levels: levels, Progress: levels.Progress(r.standing, today), Stored: r.standing, Changes: r.newest}
}

// ReachedBy returns the level that a sale has just raised the customer to, or nil.
func (c *OfCustomer) ReachedBy(sale core.ID) *award.Level {
	if c == nil || len(c.Changes) == 0 {
		return nil
	}
	if newest := c.Changes[0]; newest.Reason == award.Rose && newest.Cause != nil && *newest.Cause == sale {
		return c.Find(newest.ToLevel)
	}
	return nil
}

// Lacking returns a level that something asks for (nil: none) if the customer has neither it nor a higher one, or else nil.
func (c *OfCustomer) Lacking(least *int64) *award.Level {
	if c == nil {
		return nil
	}
	return c.Progress.Lacking(c.Find(least))
}

const canAskSQL = `
	select exists (
		select
		from loyalty.level
		where tenant_id = @tenant_id
			and id = @level
			and rank > 0
			and retired_at is null
	)`

// CanAsk reports whether something can ask for a level (nil: for none): one that customers can rise to, or the one that it asked for
// before, whatever has become of it.
func CanAsk(ctx context.Context, tx *db.Tx, least, before *int64) (bool, error) {
	if least == nil || before != nil && *before == *least {
		return true, nil
	}
	return db.One[bool](ctx, tx, canAskSQL, db.Args{"level": *least})
}

// Find returns a customer's level by the levels of transaction.RulesNow: without levels, nothing and in no round trip. core.ErrNotFound:
// there is no such customer.
func (s *Service) Find(ctx context.Context, by core.Actor, levels award.Levels, id core.ID) (OfCustomer, error) {
	v := OfCustomer{Levels: levels}
	if err := by.Require(core.Cashier); err != nil || !levels.Exist() {
		return v, err
	}
	err := db.Together(ctx, s.db.Tenant(by),
		db.OneInto(&v.Stored, standingSQL, db.Args{"customer": id}), db.AllInto(&v.Changes, toldSQL, db.Args{"customer": id}))
	if err != nil {
		return OfCustomer{}, err
	}
	v.Progress = levels.Progress(v.Stored, core.DateOf(s.db.Now(), by.Tenant.TimeZone))
	return v, nil
}

// subject returns a level's ID as the audit log has it.
func subject(id int64) string { return strconv.FormatInt(id, 10) }
