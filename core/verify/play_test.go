package verify_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/verify"
)

// Random calls of core, in any order, return what the model returns, and verify finds nothing wrong. `make
// model` plays for longer.
func TestModel(t *testing.T) {
	t.Parallel()
	next := trading(t)
	theirs := strangersOf(t, next)
	var done counter
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlay(t, next.DB, theirs, &done)
		p.open(rt)
		rt.Repeat(p.moves())
		p.compare(rt)
	})
	done.log(t)
}

// play is a business and its model.
type play struct {
	shoptest.Shop // today
	model         model

	theirs strangers
	done   *counter
}

// strangers has IDs of another tenant's records, which don't exist here.
type strangers struct {
	Customer, Sale, Reward, Redemption, Coupon, Send, Voucher core.ID
	Kind                                                      int64
}

// unknown is an ID of no record.
var unknown = core.ID{0: 1}

func strangersOf(t *testing.T, s *shop) strangers {
	t.Helper()
	rows, err := dbtest.Owner(s.DB).Query(t.Context(), `
		select c.id as customer, t.id as sale, k.id as kind, w.id as reward, r.id as redemption, o.id as coupon, s.id as send, v.id as voucher
		from loyalty.customer c
		join loyalty.transaction t using (tenant_id)
		join loyalty.transaction_type k using (tenant_id)
		join loyalty.reward w using (tenant_id)
		join loyalty.redemption r using (tenant_id)
		join loyalty.coupon o using (tenant_id)
		join loyalty.coupon_send s using (tenant_id)
		join loyalty.voucher v using (tenant_id)
		limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[strangers])
	if err != nil {
		t.Fatal(err)
	}
	return theirs
}

func newPlay(t *testing.T, d *db.DB, theirs strangers, done *counter) *play {
	t.Helper()
	p := &play{Shop: shoptest.In(t, d), theirs: theirs, done: done}
	p.model.zone, p.model.types = p.By.Tenant.TimeZone, map[int64]*transaction.Type{}
	p.model.now, p.model.rules, p.model.spent = func() time.Time { return p.DB.Now() }, map[ledger.Unit]core.Expiry{}, map[core.ID]lots{}
	return p
}

// pass lets days pass.
func (p *play) pass(t *rapid.T) {
	days := one(t, "days", 1, 29, 91, 7)
	p.Shop = p.At(p.DB.Now().Add(time.Duration(days) * 24 * time.Hour))
}

// expiryRules are the ways in which a unit ends in a play. The first is that of a business that never chose one.
var expiryRules = []core.Expiry{
	{},
	{Rule: core.ExpireAfter, Months: 2, RoundTo: core.ToMonth, GraceDays: 30},
	{Rule: core.ExpireAfter, Months: 1, RoundTo: core.ToDay, GraceDays: 10},
	{Rule: core.ExpireYearly, Month: time.May, Day: 30, GraceDays: 30},
	{Rule: core.ExpireInactive, Months: 1, RoundTo: core.ToDay, GraceDays: 30},
}

// open adds what a shop has on its first day.
func (p *play) open(t *rapid.T) {
	p.Shop = p.At(time.Date(2026, time.February, 1, 11, 0, 0, 0, time.UTC))
	for _, unit := range units {
		p.model.rules[unit] = one(t, "expiry", expiryRules...)
		if rule := p.model.rules[unit]; rule.Rule != "" {
			p.SetExpiry(unit, rule, nil)
		}
	}
	for _, n := range []transaction.NewType{
		{Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 3, UnitCents: 250}},
		{Name: "Lunch", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: 100, MinSpendCents: 500, MaxAward: new(int64(20))}},
		{Name: "Coffee", RuleType: ledger.Stamps, Rule: transaction.Rule{StampsPerTransaction: 2, UnitCents: 100, MinSpendCents: 100}},
	} {
		made, err := core.Result(p.Sales.AddType(t.Context(), p.By, n, nil))
		if err != nil {
			t.Fatal(err)
		}
		p.model.types[made.ID] = &made
	}
	for _, phone := range phones[:3] {
		p.join(t, customer.New{FirstName: "Anna", LastName: "Lindqvist", Phone: phone})
	}
	for _, who := range p.model.customers.ids {
		p.credit(t, who, ledger.Points, 200)
		p.credit(t, who, ledger.Stamps, 10)
	}
	for _, move := range []func(*rapid.T){p.addReward, p.redeem, p.record, p.addCoupon, p.send, p.evaluate} {
		move(t)
	}
}

// moves lists the calls, frequent ones repeatedly.
func (p *play) moves() map[string]func(*rapid.T) {
	var moves []func(*rapid.T)
	for _, m := range []struct {
		weight int
		move   func(*rapid.T)
	}{
		{4, p.upsert},
		{3, p.edit},
		{4, p.adjust},
		{1, p.merge},
		{7, p.record},
		{4, p.void},
		{4, p.refund},
		{1, p.switchType},
		{1, p.editType},
		{1, p.addReward},
		{1, p.switchReward},
		{2, p.correctStock},
		{7, p.redeem},
		{3, p.fulfil},
		{4, p.takeBack},
		{2, p.addCoupon},
		{1, p.switchCoupon},
		{2, p.editCoupon},
		{5, p.send},
		{5, p.evaluate},
		{10, p.redeemVoucher},
		{3, p.pass},
		{2, p.expire},
	} {
		moves = append(moves, slices.Repeat([]func(*rapid.T){m.move}, m.weight)...)
	}
	return map[string]func(*rapid.T){
		"move": func(t *rapid.T) { moves[dice.Draw(t, "move")%len(moves)](t) },
		"":     p.compareBalances,
	}
}

func one[T any](t *rapid.T, label string, of ...T) T { return rapid.SampledFrom(of).Draw(t, label) }

// dice has 64 equal sides, because rapid prefers small numbers.
var dice = rapid.Custom(func(t *rapid.T) (n int) {
	for range 6 {
		n *= 2
		if rapid.Bool().Draw(t, "") {
			n++
		}
	}
	return n
})

// mostly returns a valid value, and sometimes an invalid one.
func mostly[T any](t *rapid.T, label string, right []T, wrong ...T) T {
	if len(right) == 0 || len(wrong) > 0 && dice.Draw(t, label+"?") >= 60 {
		right = wrong
	}
	return one(t, label, right...)
}

// pick returns the ID of a record, or of one that doesn't exist here.
func pick[T any](t *rapid.T, label string, ours shelf[T], theirs core.ID) core.ID {
	return mostly(t, label, ours.ids, theirs, unknown)
}

// notModelled leaves out the days of an account, which compareEndings compares with the model's by day, and when a balance changed.
var notModelled = cmpopts.IgnoreFields(customer.Customer{}, "PointsExpireOn", "StampsExpireOn", "PointsIdleOn", "StampsIdleOn", "BalanceChangedAt", "Standing")

// agree compares a result of core with the model's.
func agree[T any](t *rapid.T, p *play, move string, got T, err error, want T, refusal error) {
	t.Helper()
	var invalid, refused *core.Error
	if errors.As(refusal, &invalid) && invalid.Kind == core.KindInvalid {
		if !errors.As(err, &refused) || !cmp.Equal(refused.Fields, invalid.Fields) {
			t.Fatalf("%s: core says %v, the model %v", move, err, refusal)
		}
	} else if !errors.Is(err, refusal) {
		t.Fatalf("%s: core says %v, the model %v", move, err, refusal)
	}
	p.done.count(move, refusal)
	if err != nil {
		return
	}
	if diff := cmp.Diff(want, got, notModelled); diff != "" {
		t.Fatalf("%s (-model +core):\n%s", move, diff)
	}
}

var (
	phones = []string{"070 000 00 01", "0700000002", "070-000 00 03", "+46 70 000 00 01", "070 000 00 04", "070 000 00 05"}
	emails = []string{"anna@example.com", "Anna@Example.com", "bilal@example.com", "carla@example.com", ""}
)

// optional returns nil for "".
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (p *play) upsert(t *rapid.T) {
	p.join(t, customer.New{
		FirstName: mostly(t, "first name", []string{"Anna", "Bilal"}, " "), LastName: "Lindqvist",
		Phone: mostly(t, "phone", phones, "x", " "), Email: core.OrZero(optional(mostly(t, "email", emails, "not-an-address"))),
	})
}

func (p *play) join(t *rapid.T, n customer.New) {
	t.Helper()
	got, err := core.Result(p.Customers.Upsert(t.Context(), p.By, n, nil))
	want, refusal := p.model.upsert(n, got.ID, got.CreatedAt)
	agree(t, p, "upsert a customer", got, err, want, refusal)
}

func (p *play) edit(t *rapid.T) {
	id := pick(t, "customer", p.model.customers, p.theirs.Customer)
	var e customer.Edit
	switch one(t, "field", "status", "phone", "email", "both") {
	case "status":
		e.Status = core.Set(mostly(t, "status", []string{"active", "inactive"}, "gone"))
	case "phone":
		e.Phone = core.Set(mostly(t, "phone", phones, "x", " "))
	case "email":
		e.Email = core.Optional[string]{Set: true, Value: optional(mostly(t, "email", emails, "not-an-address"))}
	case "both":
		e.Phone, e.Email = core.Set(mostly(t, "phone", phones, "x", " ")), core.Set(one(t, "email", emails[:4]...))
	}
	got, err := p.Customers.Edit(t.Context(), p.By, id, e)
	want, refusal := p.model.edit(id, e, got.UpdatedAt)
	agree(t, p, "edit a customer", got, err, want, refusal)
}

func (p *play) merge(t *rapid.T) {
	kept := pick(t, "customer", p.model.customers, p.theirs.Customer)
	duplicate := pick(t, "duplicate", p.model.customers, p.theirs.Customer)
	got, err := core.Result(p.Merging.Merge(t.Context(), p.By, kept, duplicate, nil, nil))
	want, refusal := p.model.merge(kept, duplicate, got.UpdatedAt)
	agree(t, p, "merge a customer", got, err, want, refusal)
}

func (p *play) adjust(t *rapid.T) {
	who, unit := one(t, "customer", p.model.customers.ids...), one(t, "unit", ledger.Points, ledger.Stamps)
	p.credit(t, who, unit, mostly(t, "amount", []int64{300, -25, -1, 10}, ledger.MaxAward+1, -ledger.MaxAward-1))
}

func (p *play) credit(t *rapid.T, who core.ID, unit ledger.Unit, amount int64) {
	t.Helper()
	_, err := db.In(t.Context(), p.DB.Tenant(p.By), func(tx *db.Tx) (ledger.Account, error) {
		return ledger.Post(t.Context(), tx, p.By, ledger.Entry{Customer: who, Unit: unit, Amount: amount, Kind: ledger.Adjustment})
	})
	agree(t, p, "adjust a balance", 0, err, 0, p.model.adjust(who, unit, amount))
}

func (p *play) record(t *rapid.T) {
	who := pick(t, "customer", p.model.customers, p.theirs.Customer)
	kinds := slices.Sorted(maps.Keys(p.model.types))
	n := transaction.Sale{
		CustomerID: who, TransactionTypeID: mostly(t, "type", kinds, p.theirs.Kind, 0),
		SpendAmountCents:  mostly(t, "spend", []int64{12_345, 499, 500, 100, 99, 0}, -1),
		ExternalReference: optional(mostly(t, "receipt", []string{""}, "R-1", "R-2")), Source: transaction.API,
	}
	if days := mostly(t, "days ago", []int{0}, 1, 2); days > 0 {
		n.OccurredAt = new(p.model.now().AddDate(0, 0, -days).Truncate(time.Millisecond))
	}
	got, err := core.Result(p.Sales.Record(t.Context(), p.By, n, nil, nil))
	want, refusal := p.model.record(n, who, got.ID, got.CreatedAt)
	agree(t, p, "record a sale", got, err, want, refusal)
}

func (p *play) void(t *rapid.T) {
	id := pick(t, "sale", p.model.sales, p.theirs.Sale)
	got, err := core.Result(p.Sales.Void(t.Context(), p.By, id, nil, nil))
	want, refusal := p.model.void(id, got.VoidedAt)
	agree(t, p, "void a sale", got, err, want, refusal)
}

func (p *play) refund(t *rapid.T) {
	id := pick(t, "sale", p.model.sales, p.theirs.Sale)
	amounts := []int64{40}
	if sale := p.model.sales.byID[id]; sale != nil {
		left := sale.SpendAmountCents - sale.RefundedCents
		amounts = append(amounts, left, left/3, left-1)
	}
	amount := mostly(t, "amount", amounts, 0, 12_346, 12_345)
	got, err := core.Result(p.Sales.Refund(t.Context(), p.By, id, transaction.RefundRequest{AmountCents: amount}, nil, nil))
	want, refusal := p.model.refund(id, amount, got.ID, got.CreatedAt)
	want.ActorKind, want.ActorName = p.By.Kind, p.By.Name
	agree(t, p, "refund a part of a sale", got, err, want, refusal)
}

func (p *play) switchType(t *rapid.T) {
	id, active := mostly(t, "type", slices.Sorted(maps.Keys(p.model.types)), p.theirs.Kind), one(t, "active", true, false, true)
	got, err := p.Sales.SetTypeActive(t.Context(), p.By, id, active)
	if p.model.types[id] == nil {
		agree(t, p, "switch a type", got, err, got, core.ErrNotFound)
		return
	}
	p.model.types[id].Active = active
	agree(t, p, "switch a type", got, err, *p.model.types[id], nil)
}

func (p *play) editType(t *rapid.T) {
	id := mostly(t, "type", slices.Sorted(maps.Keys(p.model.types)), p.theirs.Kind)
	e := transaction.EditType{PointsPerUnit: core.Set(one[int64](t, "points", 1, 3, 0)), MaxAward: core.Optional[int64]{Set: true}}
	if most := one[int64](t, "most", 0, 20); most > 0 {
		e.MaxAward.Value = &most
	}
	if unit := one(t, "unit", "", "stamps", "points"); unit != "" {
		e.RuleType = core.Set(unit)
	}
	got, err := p.Sales.EditType(t.Context(), p.By, id, e)
	want, refusal := p.model.editType(id, e)
	agree(t, p, "edit a type", got, err, want, refusal)
}

func (p *play) correctStock(t *rapid.T) {
	id := pick(t, "reward", p.model.rewards, p.theirs.Reward)
	if one(t, "how", "change", "count") == "change" {
		change := one[int64](t, "change", 2, -1, -4)
		got, err := core.Result(p.Rewards.ChangeStock(t.Context(), p.By, id, reward.StockChange{Change: change}, nil))
		want, refusal := p.model.changeStock(id, change)
		agree(t, p, "change a stock", got, err, want, refusal)
		return
	}
	stock := func(label string, of ...int64) *int64 {
		if n := one(t, label, of...); n >= 0 {
			return &n
		}
		return nil
	}
	c := reward.StockCount{Stock: stock("stock", 3, 0, -1), Seen: stock("seen", 1, -1)}
	if r := p.model.rewards.byID[id]; r != nil && one(t, "look", true, true, false) {
		c.Seen = r.Stock
	}
	got, err := core.Result(p.Rewards.SetStock(t.Context(), p.By, id, c, nil))
	want, refusal := p.model.setStock(id, c.Seen, c.Stock)
	agree(t, p, "set a stock", got, err, want, refusal)
}

func (p *play) addReward(t *rapid.T) {
	n := reward.New{Name: "Espresso", PointsCost: new(one[int64](t, "points", 5, 148, 30))}
	if one(t, "unit", ledger.Points, ledger.Stamps) == ledger.Stamps {
		n.PointsCost, n.StampsCost = nil, new(one[int64](t, "stamps", 1, 4))
	}
	if stock := one[int64](t, "stock", 5, 1, 0, 2, -1); stock >= 0 {
		n.Stock = &stock
	}
	got, err := core.Result(p.Rewards.Add(t.Context(), p.By, n, nil))
	want := reward.Reward{
		ID: got.ID, Name: n.Name, PointsCost: n.PointsCost, StampsCost: n.StampsCost, Active: true, CreatedAt: got.CreatedAt,
	}
	restock(&want, n.Stock)
	p.model.rewards.put(got.ID, want)
	agree(t, p, "add a reward", got, err, want, nil)
}

func (p *play) switchReward(t *rapid.T) {
	id, active := pick(t, "reward", p.model.rewards, p.theirs.Reward), one(t, "active", true, false, true)
	got, err := p.Rewards.SetActive(t.Context(), p.By, id, active)
	if p.model.rewards.byID[id] == nil {
		agree(t, p, "switch a reward", got, err, got, core.ErrNotFound)
		return
	}
	p.model.rewards.byID[id].Active = active
	agree(t, p, "switch a reward", got, err, *p.model.rewards.byID[id], nil)
}

func (p *play) redeem(t *rapid.T) {
	who, what := pick(t, "customer", p.model.customers, p.theirs.Customer), pick(t, "reward", p.model.rewards, p.theirs.Reward)
	got, err := core.Result(p.Rewards.Redeem(t.Context(), p.By, reward.RedeemRequest{CustomerID: who, RewardID: what}, nil, nil))
	want, refusal := p.model.redeem(who, what, got.ID, got.CreatedAt)
	agree(t, p, "redeem a reward", got, err, want, refusal)
}

func (p *play) fulfil(t *rapid.T) {
	id := pick(t, "redemption", p.model.redemptions, p.theirs.Redemption)
	got, err := core.Result(p.Rewards.Fulfil(t.Context(), p.By, id, nil))
	want, refusal := p.model.fulfil(id, got.FulfilledAt)
	agree(t, p, "fulfil a redemption", got, err, want, refusal)
}

func (p *play) takeBack(t *rapid.T) {
	id := pick(t, "redemption", p.model.redemptions, p.theirs.Redemption)
	got, err := p.Rewards.Void(t.Context(), p.By, id, "Wrong reward")
	want, refusal := p.model.takeBack(id, p.DB.Now(), got.VoidedAt)
	agree(t, p, "void a redemption", got, err, want, refusal)
}

func (p *play) addCoupon(t *rapid.T) {
	kind := one(t, "benefit", coupon.Points, coupon.Reward, coupon.Stamps, coupon.Percent, coupon.Amount)
	n := coupon.New{
		Name: "Welcome back", BenefitType: string(kind), BenefitValue: new(one[int64](t, "value", 7, 40)),
		MaxPerCustomer: new(one[int64](t, "per customer", 1, 2)),
	}
	var what *core.ID
	if kind == coupon.Reward {
		what = new(pick(t, "reward", p.model.rewards, p.theirs.Reward))
		n.BenefitValue, n.BenefitRewardID = nil, what
	}
	if most := one[int64](t, "cap", 0, 1, 2, 0); most > 0 {
		n.MaxRedemptions = &most
	}
	hours := func(label string, of ...time.Duration) *time.Time {
		if hours := one(t, label, of...); hours > 0 {
			return new(p.DB.Now().Add(hours * time.Hour))
		}
		return nil
	}
	n.StartsAt, n.ExpiresAt = hours("starts", 0, 100, 0), hours("expires", 0, 200, 1000, 0)
	if days := one[int64](t, "valid days", 30, 1, 0); days > 0 {
		n.VoucherValidDays = &days
	}
	got, err := core.Result(p.Coupons.Add(t.Context(), p.By, n, nil))
	want, refusal := p.model.addCoupon(n, what, got.ID, got.CreatedAt)
	agree(t, p, "add a coupon", got, err, want, refusal)
}

func (p *play) switchCoupon(t *rapid.T) {
	id, active := pick(t, "coupon", p.model.coupons, p.theirs.Coupon), one(t, "active", true, false, true)
	got, err := p.Coupons.SetActive(t.Context(), p.By, id, active)
	if p.model.coupons.byID[id] == nil {
		agree(t, p, "switch a coupon", got, err, got, core.ErrNotFound)
		return
	}
	p.model.coupons.byID[id].Active = active
	agree(t, p, "switch a coupon", got, err, *p.model.coupons.byID[id], nil)
}

func (p *play) editCoupon(t *rapid.T) {
	id := pick(t, "coupon", p.model.coupons, p.theirs.Coupon)
	var e coupon.Edit
	switch c := p.model.coupons.byID[id]; one(t, "field", "per customer", "cap", "end", "benefit") {
	case "per customer":
		e.MaxPerCustomer = core.Set(one[int64](t, "per customer", 2, 1, 3))
	case "cap":
		e.MaxRedemptions.Set = true
		if most := one[int64](t, "cap", 2, 0, 1); most > 0 {
			e.MaxRedemptions.Value = &most
		}
	case "end":
		e.ExpiresAt.Set = true
		if hours := one[time.Duration](t, "expires", 300, 0, 50); hours > 0 {
			e.ExpiresAt.Value = new(p.DB.Now().Add(hours * time.Hour))
		}
	case "benefit":
		if c != nil && c.BenefitType != coupon.Reward {
			e.BenefitType, e.BenefitValue = core.Set(one(t, "benefit", "points", "stamps", "percent")), core.Set(one[int64](t, "value", 7, 40))
		}
	}
	got, err := p.Coupons.Edit(t.Context(), p.By, id, e)
	want, refusal := p.model.editCoupon(id, e)
	agree(t, p, "edit a coupon", got, err, want, refusal)
}

func (p *play) send(t *rapid.T) {
	id := pick(t, "coupon", p.model.coupons, p.theirs.Coupon)
	s := coupon.Send{
		Segment: one(t, "segment", coupon.All, coupon.Manual, coupon.RecentPurchase, coupon.LongStanding),
		FormKey: fmt.Sprint("form ", one(t, "form", len(p.model.sends.ids), 0)),
	}
	var members []core.ID
	if s.Segment == coupon.Manual {
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			members = append(members, pick(t, "member", p.model.customers, p.theirs.Customer))
			s.Customers = append(s.Customers, members[len(members)-1].String())
		}
	}
	at := p.DB.Now()
	got, err := p.Coupons.Send(t.Context(), p.By, id, s)
	if err == nil && p.model.sends.byID[got.ID] == nil {
		at = got.CreatedAt
	}
	want, refusal := p.model.send(id, s, members, got.ID, at)
	agree(t, p, "send a coupon", got, err, want, refusal)
}

func (p *play) evaluate(t *rapid.T) {
	id := pick(t, "send", p.model.sends, p.theirs.Send)
	got, err := p.Coupons.Evaluate(t.Context(), p.By, id)
	want, recipients, refusal := p.model.evaluate(id, got.EvaluatedAt, got.EndedAt)
	agree(t, p, "evaluate a send", got, err, want, refusal)
	if len(recipients) > 0 {
		p.receive(t, id, recipients)
	}
}

// receive compares the vouchers of a send with the model's.
func (p *play) receive(t *rapid.T, send core.ID, recipients []core.ID) {
	t.Helper()
	rows, err := dbtest.Owner(p.DB).Query(t.Context(), `
		select v.id, v.coupon_id, v.customer_id, v.status, c.benefit_type, c.benefit_value, c.benefit_reward_id,
			v.redemption_id, v.transaction_id, v.expires_at, v.redeemed_at, v.restored_at, v.created_at
		from loyalty.voucher v
		join loyalty.coupon c using (tenant_id)
		where tenant_id = $1 and send_id = $2 and c.id = v.coupon_id
		order by v.customer_id`, p.By.Tenant.ID, send)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowToStructByName[coupon.Voucher])
	if err != nil || len(got) != len(recipients) {
		t.Fatalf("made %d vouchers, %v, the model %d", len(got), err, len(recipients))
	}
	for i, who := range unique(recipients) {
		agree(t, p, "receive a voucher", got[i], nil, p.model.issue(send, who, got[i].ID, got[i].CreatedAt), nil)
	}
}

func (p *play) redeemVoucher(t *rapid.T) {
	id := pick(t, "voucher", p.model.vouchers, p.theirs.Voucher)
	now := p.DB.Now()
	got, err := core.Result(p.Coupons.Redeem(t.Context(), p.By, id, nil))
	if got.RedeemedAt != nil {
		now = *got.RedeemedAt
	}
	want, refusal := p.model.redeemVoucher(id, got.RedemptionID, now)
	agree(t, p, "redeem a voucher", got, err, want, refusal)
}

// expire runs the job that updates stored statuses, which changes no result, and the one that posts what has ended.
func (p *play) expire(*rapid.T) {
	p.Exec("select loyalty.expire_vouchers($1, 10000) from loyalty.enter(0)", p.DB.Now())
	p.ExpireDue()
	for _, who := range p.model.customers.ids {
		p.model.settle(who)
	}
}

// listed returns a whole list, page by page.
func listed[T any](t *rapid.T, size int, list func(core.Page) (core.List[T], error)) (items []T) {
	t.Helper()
	for page := (core.Page{Size: size}); ; {
		l, err := list(page)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, l.Items...)
		if page.Cursor = l.Next; page.Cursor == nil {
			return items
		}
	}
}

func all[T any](*T) bool { return true }

func (p *play) compareBalances(t *rapid.T) {
	got := listed(t, 100, func(page core.Page) (core.List[customer.Customer], error) {
		return p.Customers.List(t.Context(), p.By, customer.Filter{}, page)
	})
	want := p.model.customers.newestFirst(func(c *customer.Customer) time.Time { return c.CreatedAt }, all)
	if diff := cmp.Diff(want, got, notModelled); diff != "" {
		t.Fatalf("customers (-model +core):\n%s", diff)
	}
}

// compareEndings compares what customers have of each last day with the model's.
func (p *play) compareEndings(t *rapid.T) {
	endings := make([][]ledger.Ending, len(p.model.customers.ids))
	readings := make([]db.Reading, len(endings))
	for i, who := range p.model.customers.ids {
		readings[i] = ledger.ReadEndings(&endings[i], who)
	}
	if err := db.Together(t.Context(), p.DB.Tenant(p.By), readings...); err != nil {
		t.Fatal(err)
	}
	for i, who := range p.model.customers.ids {
		agree(t, p, "list endings", endings[i], nil, p.model.endings(who), nil)
	}
}

// compare compares everything that core lists and finds with the model.
func (p *play) compare(t *rapid.T) {
	ctx := t.Context()
	p.compareEndings(t)
	for who := range p.model.customers.each {
		got := listed(t, 3, func(page core.Page) (core.List[transaction.Transaction], error) {
			return p.Sales.ListByCustomer(ctx, p.By, who, page)
		})
		want := p.model.sales.newestFirst(func(t *transaction.Transaction) time.Time { return t.CreatedAt },
			func(t *transaction.Transaction) bool { return t.CustomerID == who })
		agree(t, p, "list sales", got, nil, want, nil)
	}
	for id, want := range p.model.redemptions.each {
		got, err := p.Rewards.FindRedemption(ctx, p.By, id)
		agree(t, p, "find a redemption", got, err, *want, nil)
	}
	agree(t, p, "list rewards",
		listed(t, 2, func(page core.Page) (core.List[reward.Reward], error) { return p.Rewards.ListActive(ctx, p.By, page) }), nil,
		p.model.rewards.newestFirst(func(r *reward.Reward) time.Time { return r.CreatedAt }, func(r *reward.Reward) bool { return r.Active }), nil)
	agree(t, p, "list coupons",
		listed(t, 2, func(page core.Page) (core.List[coupon.Coupon], error) { return p.Coupons.List(ctx, p.By, page) }), nil,
		p.model.coupons.newestFirst(func(c *coupon.Coupon) time.Time { return c.CreatedAt }, all), nil)
	for id := range p.model.coupons.each {
		var got []coupon.Voucher
		for _, v := range listed(t, 1, func(page core.Page) (core.List[coupon.RedeemedVoucher], error) {
			return p.Coupons.ListRedeemed(ctx, p.By, id, page)
		}) {
			got = append(got, v.Voucher)
		}
		want := p.model.vouchers.newestFirst(func(v *coupon.Voucher) time.Time {
			if v.RedeemedAt == nil {
				return time.Time{}
			}
			return *v.RedeemedAt
		}, func(v *coupon.Voucher) bool { return v.CouponID == id && v.Status == coupon.VoucherRedeemed })
		agree(t, p, "list redeemed vouchers", got, nil, want, nil)
	}
	p.compareCounts(t)
	results, err := verify.Run(ctx, p.DB)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Wrong > 0 {
			t.Errorf("%s: %d wrong: %v", r.Check, r.Wrong, r.Examples)
		}
	}
}

// compareCounts compares the panel's lists and counts with the model.
func (p *play) compareCounts(t *rapid.T) {
	ctx, now := t.Context(), p.DB.Now()
	for _, c := range listed(t, 2, func(page core.Page) (core.List[coupon.WithCounts], error) {
		return p.Coupons.ListWithCounts(ctx, p.By, coupon.Filter{}, page)
	}) {
		sent, pending, redeemed, expired := p.model.counted(c.ID, now)
		agree(t, p, "count vouchers", []int64{c.Sent, c.Pending, c.Redeemed, c.Expired}, nil, []int64{sent, pending, redeemed, expired}, nil)
	}
	for _, r := range listed(t, 2, func(page core.Page) (core.List[reward.WithCounts], error) {
		return p.Rewards.List(ctx, p.By, reward.Filter{}, page)
	}) {
		pending, redeemed := p.model.redeemed(r.ID)
		agree(t, p, "count redemptions", r, nil, reward.WithCounts{Reward: *p.model.rewards.byID[r.ID], Pending: pending, Redeemed: redeemed}, nil)
	}
	var queue []reward.Redemption
	for _, r := range listed(t, 2, func(page core.Page) (core.List[reward.NamedRedemption], error) {
		return p.Rewards.ListRedemptions(ctx, p.By, reward.RedemptionFilter{Status: new("pending")}, core.Oldest, page)
	}) {
		queue = append(queue, r.Redemption)
	}
	waiting := p.model.redemptions.newestFirst(func(r *reward.Redemption) time.Time { return r.CreatedAt },
		func(r *reward.Redemption) bool { return r.Status == reward.Pending })
	slices.Reverse(waiting)
	agree(t, p, "list the queue", queue, nil, waiting, nil)
	for who := range p.model.customers.each {
		var got []coupon.Voucher
		for _, v := range listed(t, 2, func(page core.Page) (core.List[coupon.NamedVoucher], error) {
			return p.Coupons.ListByCustomer(ctx, p.By, who, page)
		}) {
			got = append(got, v.Voucher)
		}
		want := p.model.vouchers.newestFirst(func(v *coupon.Voucher) time.Time { return v.CreatedAt },
			func(v *coupon.Voucher) bool { return v.CustomerID == who })
		for i := range want {
			want[i].Status = status(&want[i], now)
		}
		agree(t, p, "list vouchers", got, nil, want, nil)
	}
}
