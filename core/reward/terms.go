package reward

import (
	"context"
	"fmt"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
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

// checkLevel refuses a level that the reward can't ask for.
func (t Terms) checkLevel(ctx context.Context, tx *db.Tx, old Terms) error {
	can, err := level.CanAsk(ctx, tx, t.MinLevelID, old.MinLevelID)
	if err == nil && !can {
		err = core.Invalid(core.Fields{"min_level_id": {core.InvalidChoice}})
	}
	return err
}

// termFacts adds the terms to what the audit log says about a reward.
func (r Reward) termFacts(facts map[string]any) map[string]any {
	for name, day := range map[string]*time.Time{"starts_on": r.StartsOn, "ends_on": r.EndsOn} {
		if day != nil {
			facts[name] = day.Format(time.DateOnly)
		}
	}
	if r.LevelName != nil {
		facts["level"] = r.LevelName
	}
	if r.MaxPerCustomer != nil {
		facts["max_per_customer"] = r.MaxPerCustomer
	}
	return facts
}

// Refusals of a reward that a customer can't have. Each has one of its sentences here: they name a day, a level or a number.
var (
	ErrNotAvailable = core.Refuse("reward-not-available", "This reward is for Gold and above.")
	ErrLimitReached = core.Refuse("reward-limit-reached", "This customer has already redeemed this reward twice.")
)

// Barrier is why a customer can't have a reward, whatever their balance and its stock. One of the first three fields is set, or
// Limit.
type Barrier struct {
	From  *time.Time   // the day on which it begins
	Until *time.Time   // the day on which it ended
	Level *award.Level // the customer has neither this level nor a higher one
	Used  int64        // as often as they can have it, or more often
	Limit int64
}

// Barrier returns why a customer can't have a reward on a day, or nil. lacking is the level that they lack
// (award.Progress.Lacking), and used how often they have redeemed the reward.
func (t Terms) Barrier(today time.Time, lacking *award.Level, used int64) *Barrier {
	switch {
	case t.StartsOn != nil && today.Before(*t.StartsOn):
		return &Barrier{From: t.StartsOn}
	case t.EndsOn != nil && today.After(*t.EndsOn):
		return &Barrier{Until: t.EndsOn}
	case lacking != nil:
		return &Barrier{Level: lacking}
	case t.MaxPerCustomer != nil && used >= *t.MaxPerCustomer:
		return &Barrier{Used: used, Limit: *t.MaxPerCustomer}
	}
	return nil
}

// Sentence returns what Redeem says about a barrier.
func (b *Barrier) Sentence() string { return b.refusal().Message }

// refusal returns the refusal by a barrier.
func (b *Barrier) refusal() *core.Error {
	const long = "2 January 2006"
	switch {
	case b.From != nil:
		return ErrNotAvailable.Saying("This reward is available from " + b.From.Format(long) + ".")
	case b.Until != nil:
		return ErrNotAvailable.Saying("This reward was available until " + b.Until.Format(long) + ".")
	case b.Level != nil:
		return ErrNotAvailable.Saying("This reward is for " + b.Level.Name + " and above.")
	}
	return ErrLimitReached.Saying("This customer has already redeemed this reward " + times(b.Used) + ".")
}

// AtFirst reports whether customers who have just joined can have the reward on a day.
func (t Terms) AtFirst(today time.Time) bool {
	return t.MinLevelID == nil && t.Barrier(today, nil, 0) == nil
}

// Voided redemptions give their use back, and those that a voucher paid for are none.
const uses = `
		from loyalty.redemption u
		where u.tenant_id = @tenant_id
			and u.customer_id = @customer
			and u.status <> 'voided'
			and u.points_spent + u.stamps_spent > 0`

const (
	usedSQL = `
	select count(*)` + uses + `
			and u.reward_id = @reward`

	usesSQL = `
	select u.reward_id, count(*) as used` + uses + `
			and u.reward_id = any (@rewards::uuid[])
		group by u.reward_id`
)

// TermColumns select the Terms of a reward r, and how often @customer has redeemed it if that is limited.
const TermColumns = `r.min_level_id, r.max_per_customer, r.starts_on, r.ends_on,
		case when r.max_per_customer is null then 0 else (
			select count(*)` + uses + `
				and u.reward_id = r.id
		) end as used`

// admit refuses a customer whose level is too low, or who has redeemed the reward as often as they can. It locks their account first, so
// that of two tills the second one counts what the first has redeemed.
func (t Terms) admit(ctx context.Context, tx *db.Tx, by core.Actor, customer, reward core.ID) error {
	if !t.askAbout() {
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
	levels, today := rules.Rules().Levels, core.DateOf(tx.Now, by.Tenant.TimeZone)
	if b := t.Barrier(today, levels.Progress(standing, today).Lacking(levels.Find(t.MinLevelID)), used); b != nil {
		return b.refusal()
	}
	return nil
}

// askAbout reports whether the terms ask for a customer's level or earlier redemptions.
func (t Terms) askAbout() bool { return t.MinLevelID != nil || t.MaxPerCustomer != nil }

// Barriers returns why a customer can't have rewards, by the IDs of those that they can't have. It asks the database only about
// rewards with a level or a limit.
func (s *Service) Barriers(ctx context.Context, by core.Actor, customer core.ID, rewards []Reward) (map[core.ID]*Barrier, error) {
	var asked []core.ID
	for _, r := range rewards {
		if r.askAbout() {
			asked = append(asked, r.ID)
		}
	}
	var held level.Reading
	var counted []struct {
		RewardID core.ID
		Used     int64
	}
	if len(asked) > 0 {
		readings := append(held.Readings(customer), db.AllInto(&counted, usesSQL, db.Args{"customer": customer, "rewards": asked}))
		if err := db.Together(ctx, s.db.Tenant(by), readings...); err != nil {
			return nil, err
		}
	}
	used := map[core.ID]int64{}
	for _, c := range counted {
		used[c.RewardID] = c.Used
	}
	today := core.DateOf(s.db.Now(), by.Tenant.TimeZone)
	who, barriers := held.OfCustomer(today), map[core.ID]*Barrier{}
	for _, r := range rewards {
		if b := r.Barrier(today, who.Lacking(r.MinLevelID), used[r.ID]); b != nil {
			barriers[r.ID] = b
		}
	}
	return barriers, nil
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
