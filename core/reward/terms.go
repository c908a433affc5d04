package reward

import (
	"context"
	"fmt"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
)

// Terms say who can redeem a reward, when and how often (decisions §15). The zero Terms let every customer. They don't bind a
// voucher for the reward, which was promised to its customer.
type Terms struct {
	MinLevelID     *int64     // the lowest level that can; nil: all
	MaxPerCustomer *int64     // redemptions that weren't voided; nil: no limit
	StartsOn       *time.Time // the first local day; nil: none
	EndsOn         *time.Time // the last local day; nil: none
}

const maxPerCustomer = 1_000_000

// read returns the terms, and adds violations. Whether the level exists is checked with the database (checkLevel).
func (t Terms) read(check *core.Check) Terms {
	if t.MaxPerCustomer != nil {
		check.Integer("max_per_customer", t.MaxPerCustomer, 1, maxPerCustomer)
	}
	if t.StartsOn != nil && t.EndsOn != nil && t.EndsOn.Before(*t.StartsOn) {
		check.Add("ends_on", core.AfterOrEqual("starts_on"))
	}
	return t
}

const levelSQL = `
	select exists (
		select
		from loyalty.level
		where tenant_id = @tenant_id
			and id = @level
			and retired_at is null
	)`

// checkLevel refuses a level that the business doesn't have, or that can't be reached any more. One that the reward asks for
// already stays.
func (t Terms) checkLevel(ctx context.Context, tx *db.Tx, old Terms) error {
	if t.MinLevelID == nil || old.MinLevelID != nil && *old.MinLevelID == *t.MinLevelID {
		return nil
	}
	exists, err := db.One[bool](ctx, tx, levelSQL, db.Args{"level": *t.MinLevelID})
	if err == nil && !exists {
		err = core.Invalid(core.Fields{"min_level_id": {core.InvalidChoice}})
	}
	return err
}

// facts adds the terms to what the audit log says about a reward.
func (t Terms) facts(facts map[string]any) map[string]any {
	for name, day := range map[string]*time.Time{"starts_on": t.StartsOn, "ends_on": t.EndsOn} {
		if day != nil {
			facts[name] = day.Format(time.DateOnly)
		}
	}
	if t.MinLevelID != nil {
		facts["min_level_id"] = t.MinLevelID
	}
	if t.MaxPerCustomer != nil {
		facts["max_per_customer"] = t.MaxPerCustomer
	}
	return facts
}

// Refusals of a reward that a customer can't have.
const (
	notAvailable = "reward-not-available"
	limitReached = "reward-limit-reached"
)

// refuse makes a refusal whose sentence names a day, a level or a number.
func refuse(code, message string) error {
	return &core.Error{Kind: core.KindRule, Code: code, Message: message}
}

// RefusalOn returns the refusal of a reward outside of its days, or nil.
func (t Terms) RefusalOn(today time.Time) error {
	const long = "2 January 2006"
	switch {
	case t.StartsOn != nil && today.Before(*t.StartsOn):
		return refuse(notAvailable, "This reward is available from "+t.StartsOn.Format(long)+".")
	case t.EndsOn != nil && today.After(*t.EndsOn):
		return refuse(notAvailable, "This reward was available until "+t.EndsOn.Format(long)+".")
	}
	return nil
}

// Voided redemptions give their use back, and those that a voucher paid for are none.
const usedSQL = `
	select count(*)
	from loyalty.redemption
	where tenant_id = @tenant_id
		and customer_id = @customer
		and reward_id = @reward
		and status <> 'voided'
		and points_spent + stamps_spent > 0`

// admit refuses a customer whose level is too low, or who has redeemed the reward as often as they can. It locks their account first, so
// that of two tills the second one counts what the first has redeemed.
func (t Terms) admit(ctx context.Context, tx *db.Tx, by core.Actor, customer, reward core.ID) error {
	if t.MinLevelID == nil && t.MaxPerCustomer == nil {
		return nil
	}
	var standing ledger.Standing
	var rules transaction.RulesReading
	var used int64
	err := db.Together(ctx, tx, ledger.LockStanding(&standing, customer), rules.Reading(),
		db.OneInto(&used, usedSQL, db.Args{"customer": customer, "reward": reward}))
	if err != nil {
		return err
	}
	levels := rules.Rules().Levels
	if least := levels.Find(t.MinLevelID); least != nil {
		if has := levels.Progress(standing, core.DateOf(tx.Now, by.Tenant.TimeZone)); has.Level.Rank < least.Rank {
			return refuse(notAvailable, "This reward is for "+least.Name+" and above.")
		}
	}
	if t.MaxPerCustomer != nil && used >= *t.MaxPerCustomer {
		return refuse(limitReached, fmt.Sprintf("This customer has already redeemed this reward %s.", times(used)))
	}
	return nil
}

// times is how often something happened, in words.
func times(n int64) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
