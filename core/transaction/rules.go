package transaction

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// rulesSQL reads in one statement, and so as of one instant, what sales of a business earn by, besides types.
const rulesSQL = `
	select n.earning_version, n.points_day_cap, n.stamps_day_cap,
		coalesce((
			select json_agg(p order by p.id)
			from (
				select ` + award.PromotionColumns + `
				from loyalty.promotion
				where tenant_id = @tenant_id
					and active
			) p
		), '[]') as promotions,
		coalesce((
			select json_object_agg(code, category_id)
			from loyalty.category_code
			where tenant_id = @tenant_id
		), '{}') as categories,
		(
			select json_build_object('basis', basis, 'period', period, 'month', year_month, 'day', year_day, 'drops', drops,
				'starts_on', starts_on::timestamp at time zone 'UTC', 'frozen', frozen)
			from loyalty.level_programme
			where tenant_id = @tenant_id
				and active
		) as level_rules,
		coalesce((
			select json_agg(l order by l.rank, l.id)
			from (
				select ` + award.LevelColumns + `
				from loyalty.level
				where tenant_id = @tenant_id
			) l
		), '[]') as levels
	from loyalty.tenant n
	where n.id = @tenant_id`

// storedRules are rules as rulesSQL reads them.
type storedRules struct {
	EarningVersion             int64
	PointsDayCap, StampsDayCap *int64
	Promotions                 []award.Promotion
	Categories                 map[string]int64
	LevelRules                 *award.LevelRules
	Levels                     []award.Level
}

func (r storedRules) rules() *award.Rules {
	for i := range r.Promotions {
		r.Promotions[i] = r.Promotions[i].InUTC()
	}
	rules := &award.Rules{
		Version: r.EarningVersion, Promotions: r.Promotions, Categories: r.Categories,
		PointsDayCap: r.PointsDayCap, StampsDayCap: r.StampsDayCap,
	}
	if r.LevelRules != nil {
		r.LevelRules.StartsOn = r.LevelRules.StartsOn.UTC()
		rules.Levels = award.Levels{LevelRules: *r.LevelRules, All: r.Levels}
	}
	return rules
}

// RulesReading reads what sales of a business earn by, besides their types.
type RulesReading struct{ stored storedRules }

// Reading returns the reading.
func (r *RulesReading) Reading() db.Reading { return db.OneInto(&r.stored, rulesSQL, nil) }

// Rules returns what was read.
func (r *RulesReading) Rules() *award.Rules { return r.stored.rules() }

// RulesNow returns what sales of the actor's business earn by: what is remembered of the version that was read with the actor, or of a
// newer one, or else in a round trip the newest rules.
func (s *Service) RulesNow(ctx context.Context, by core.Actor) (*award.Rules, error) {
	if known := s.books.find(by.Tenant.ID); known != nil && known.Version >= by.Tenant.EarningVersion {
		return known.Rules, nil
	}
	var r RulesReading
	if err := db.Together(ctx, s.db.Tenant(by), r.Reading()); err != nil {
		return nil, err
	}
	rules := r.Rules()
	s.books.remember(by.Tenant.ID, rules, Type{})
	return rules, nil
}

// ProgressNow returns how far customers of the actor's business have risen: by RulesNow, as of now.
func (s *Service) ProgressNow(ctx context.Context, by core.Actor) (func(ledger.Standing) *award.Progress, error) {
	rules, err := s.RulesNow(ctx, by)
	if err != nil {
		return nil, err
	}
	today := core.DateOf(s.db.Now(), by.Tenant.TimeZone)
	return func(of ledger.Standing) *award.Progress { return rules.Levels.Progress(of, today) }, nil
}

// Expect returns what a sale of a type earns now, by rules of RulesNow, for a customer about whom nothing is known.
func Expect(rules *award.Rules, kind Type, sale Sale, by core.Actor, now time.Time) award.Award {
	return rules.Compute(sale.input(by, kind, now), nil)
}

// books remember what sales of recent businesses earn by, so that an award can be computed before the database is asked. A book
// may be out of date: the statement compares its version.
type books struct {
	mu    sync.RWMutex
	known map[core.TenantID]*book
}

// book is the rules of a business and, of the same version, those of its types that had sales.
type book struct {
	*award.Rules
	mu    sync.RWMutex
	types map[int64]Type
}

// maxBooks limits what is remembered, and maxTypes what is of each.
const (
	maxBooks = 10_000
	maxTypes = 1_000
)

// find returns the rules of a business, or nil.
func (b *books) find(tenant core.TenantID) *book {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.known[tenant]
}

// rules returns those of a book, or nil without one.
func (b *book) rules() *award.Rules {
	if b == nil {
		return nil
	}
	return b.Rules
}

// findType returns the rules of a business with one of its types, if both are known.
func (b *books) findType(tenant core.TenantID, id int64) (*book, Type, bool) {
	known := b.find(tenant)
	if known == nil {
		return nil, Type{}, false
	}
	known.mu.RLock()
	defer known.mu.RUnlock()
	kind, has := known.types[id]
	return known, kind, has
}

// remember keeps rules, and a type that was read together with them.
func (b *books) remember(tenant core.TenantID, rules *award.Rules, kind Type) {
	known := b.find(tenant)
	switch {
	case known != nil && known.Version > rules.Version:
		return
	case known == nil || known.Rules != rules && known.Version < rules.Version:
		known = &book{Rules: rules, types: map[int64]Type{}}
		b.mu.Lock()
		if b.known == nil || len(b.known) >= maxBooks {
			b.known = map[core.TenantID]*book{}
		}
		b.known[tenant] = known
		b.mu.Unlock()
	}
	if kind.ID == 0 || !kind.Active {
		return
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if len(known.types) >= maxTypes {
		clear(known.types)
	}
	known.types[kind.ID] = kind
}

// account is a customer as awards know them.
type account struct {
	ledger.Standing
	BirthMonth, BirthDay *int
	Points, Stamps       int64
}

// buyer settles the account's level as of now, and returns what an award knows about its customer, and whether it knows what they
// have earned on the sale's day.
func (a *account) buyer(rules *award.Rules, sale award.Sale, now time.Time) (b *award.Buyer, changes []award.Change, knowsDay bool) {
	a.Standing, changes = rules.Levels.Settle(a.Standing, core.DateOf(now, sale.At.Location()))
	b = &award.Buyer{FirstVisit: a.Visits == 0, Level: rules.Levels.Find(a.LevelID)}
	if a.BirthMonth != nil {
		b.Birthday = award.Birthday{Month: time.Month(*a.BirthMonth), Day: *a.BirthDay}
	}
	b.Earned, knowsDay = award.Earned(a.Standing, sale.Unit, dateOf(sale.At))
	return b, changes, knowsDay || rules.DayCap(sale.Unit) == nil
}

const (
	accountSQL = `
	select ` + ledger.StandingColumns + `, c.birth_month, c.birth_day, a.points, a.stamps
	from loyalty.account a
	join loyalty.customer c on c.tenant_id = @tenant_id and c.id = a.customer_id
	where a.tenant_id = @tenant_id
		and a.customer_id = @customer`

	lockAccountSQL = accountSQL + `
	for no key update of a`
)

// refer looks up what a sale refers to, the rules by which it earns, and the account of its customer where awards depend on
// it: in one round trip, or two or three after the rules were changed. The account is locked after the customer, as in a batch.
func (s *Service) refer(ctx context.Context, tx *db.Tx, sale Sale) (found found, err error) {
	return s.read(ctx, tx, tx.Tenant, referencesSQL, lockAccountSQL, sale)
}

// found is what a sale refers to.
type found struct {
	referred
	rules   *award.Rules
	account account
}

// read is refer with its statements.
func (s *Service) read(ctx context.Context, at db.Place, tenant core.TenantID, references, accounts string, sale Sale) (f found, err error) {
	f.rules = s.books.find(tenant).rules()
	for range 5 {
		var stored storedRules
		var who []account
		readings := []db.Reading{db.OneInto(&f.referred, references, sale.references())}
		if f.rules == nil {
			readings = append(readings, db.OneInto(&stored, rulesSQL, nil))
		}
		looks := f.rules != nil && f.rules.NeedBuyer() || accounts == accountSQL
		if looks {
			readings = append(readings, db.AllInto(&who, accounts, db.Args{"customer": sale.CustomerID}))
		}
		if err := db.Together(ctx, at, readings...); err != nil {
			return found{}, err
		}
		if f.rules == nil {
			f.rules = stored.rules()
		}
		switch {
		case f.EarningVersion != f.rules.Version:
			f.rules = nil
		case looks || !f.rules.NeedBuyer():
			if len(who) > 0 {
				f.account = who[0]
			}
			s.books.remember(tenant, f.rules, f.kind())
			return f, nil
		}
	}
	return found{}, errRulesMove
}

// references returns the arguments of what a sale refers to.
func (sale Sale) references() db.Args {
	return db.Args{"type": sale.TransactionTypeID, "customer": sale.CustomerID, "location": sale.LocationID}
}

// What a customer has earned on a local day that isn't their last one, and how often they have used promotions, on a local day and ever.
const (
	earnedOnSQL = `
	select coalesce(sum(coalesce(points_awarded, stamps_awarded)), 0)::bigint as earned
	from loyalty.transaction
	where tenant_id = @tenant_id
		and customer_id = @customer
		and id >= @from_id
		and id < @before_id
		and rule_type = @unit
		and status = 'completed'
		and coalesce(occurred_at, created_at) >= @from
		and coalesce(occurred_at, created_at) < @before`

	usesSQL = `
	select promotion_id, count(*) as ever,
		count(*) filter (where coalesce(occurred_at, created_at) >= @from and coalesce(occurred_at, created_at) < @before) as day
	from loyalty.transaction
	where tenant_id = @tenant_id
		and promotion_id = any (@promotions::bigint[])
		and customer_id = @customer
		and status = 'completed'
	group by promotion_id`
)

// uses is how often a customer has used a promotion.
type uses struct{ PromotionID, Ever, Day int64 }

// look adds to what is known about a buyer what the statement that locked the account can't tell, in a further round trip if
// there is anything.
func look(ctx context.Context, at db.Place, rules *award.Rules, sale award.Sale, customer core.ID, b *award.Buyer, knowsDay bool) error {
	limited := rules.Limited(sale)
	if len(limited) == 0 && knowsDay {
		return nil
	}
	day := dateOf(sale.At)
	from, before := core.StartOfDate(day, sale.At.Location()), core.StartOfDate(day.AddDate(0, 0, 1), sale.At.Location())
	var readings []db.Reading
	var counted []uses
	if len(limited) > 0 {
		readings = append(readings, db.AllInto(&counted, usesSQL, db.Args{
			"customer": customer, "from": from, "before": before,
			"promotions": db.Column(limited, func(p award.Promotion) int64 { return p.ID }),
		}))
	}
	if !knowsDay {
		// A sale is recorded after it happened, within three days.
		readings = append(readings, db.OneInto(&b.Earned, earnedOnSQL, db.Args{
			"customer": customer, "unit": sale.Unit, "from": from, "before": before,
			"from_id": core.FirstID(from), "before_id": core.FirstID(before.Add(RecordedWithin + clockDifference)),
		}))
	}
	err := db.Together(ctx, at, readings...)
	b.Uses = map[int64]int64{}
	for _, u := range counted {
		b.Uses[u.PromotionID] = u.Ever
		for _, p := range limited {
			if p.ID == u.PromotionID && *p.LimitPer == award.PerDay {
				b.Uses[u.PromotionID] = u.Day
			}
		}
	}
	return err
}

// sold is what a sale earns, and what becomes of its customer's standing.
type sold struct {
	earned   award.Award
	standing *ledger.Standing // nil: nothing is remembered
	changes  []award.Change   // of the level
	buyer    *award.Buyer     // as the award knew its customer; nil: not at all
}

// sell computes what a sale earns. The account is locked, or only looked at for a preview, and read where awards depend on it.
func sell(ctx context.Context, at db.Place, check *core.Check, rules *award.Rules, sale award.Sale, id core.ID, who account, now time.Time) (made sold, err error) {
	if !rules.NeedBuyer() {
		made.earned = compute(check, rules, sale, nil)
		return made, nil
	}
	buyer, changes, knowsDay := who.buyer(rules, sale, now)
	if err := look(ctx, at, rules, sale, id, buyer, knowsDay); err != nil {
		return sold{}, err
	}
	made = who.sell(check, rules, sale, buyer, changes, now)
	made.buyer = buyer
	return made, nil
}

// sell computes what a sale of a buyer earns.
func (a account) sell(check *core.Check, rules *award.Rules, sale award.Sale, b *award.Buyer, changes []award.Change, now time.Time) sold {
	made := sold{earned: compute(check, rules, sale, b), changes: changes}
	day, today := dateOf(sale.At), core.DateOf(now, sale.At.Location())
	standing := rules.Earn(a.Standing, sale.Unit, day, made.earned.Total)
	standing, risen := rules.Levels.Sell(standing, day, today, rules.Levels.Of(award.Counted{
		Unit: sale.Unit, Base: made.earned.Base, EligibleCents: made.earned.EligibleCents, SpendCents: sale.SpendCents,
	}))
	made.standing, made.changes = &standing, append(made.changes, risen...)
	return made
}

// compute returns an award, and adds a violation if it exceeds ledger.MaxAward.
func compute(check *core.Check, rules *award.Rules, sale award.Sale, b *award.Buyer) award.Award {
	earned := rules.Compute(sale, b)
	if earned.TooLarge {
		check.Integer("spend_amount_cents", &sale.SpendCents, 0, rules.Largest(sale, b))
		return award.Award{Unit: sale.Unit, TooLarge: true}
	}
	return earned
}

// sale returns what the award of a sale of this type depends on, apart from its time.
func (t Type) sale(s Sale) award.Sale {
	return award.Sale{
		TypeID: t.ID, Unit: t.RuleType, Rule: t.Rule, LocationID: s.LocationID, SpendCents: s.SpendAmountCents, Items: s.Items,
	}
}

// input returns what the award of a sale depends on.
func (sale Sale) input(by core.Actor, kind Type, now time.Time) award.Sale {
	in := kind.sale(sale)
	in.At = sale.at(now).In(by.Tenant.TimeZone)
	return in
}

// dateOf returns the local day of a time in a business's zone.
func dateOf(at time.Time) time.Time { return core.DateOf(at, at.Location()) }

var errRulesMove = errors.New("transaction: the rules keep changing")
