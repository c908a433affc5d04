package verify_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/verify"
	"example.com/loyalty/core/walkin"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business with records, in its own database.
type shop struct {
	shoptest.Shop
	points, stamps transaction.Type
	anna, bilal    customer.Customer
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{Shop: shoptest.In(t, dbtest.OwnDB(t))}
	s.points, s.stamps = s.Points(100), s.Stamps()
	s.anna, s.bilal = s.customer("Anna"), s.customer("Bilal")
	return s
}

func (s *shop) customer(name string) customer.Customer {
	s.T.Helper()
	n := shoptest.Anna(shoptest.Phone())
	n.FirstName, n.LastName, n.Email = name, name, name+"@example.com"
	return s.AddCustomer(n)
}

// trading returns a shop in which everything possible has happened: awards, sales that earn nothing, voids,
// redemptions, a balance below zero after a void, and vouchers.
func trading(t *testing.T) *shop {
	t.Helper()
	s := newShop(t)
	s.Levels(award.LevelRules{Basis: award.ByPoints, Period: award.ByYear, Drops: true},
		award.Level{Name: "Member"}, award.Level{Name: "Silver", Threshold: 10, Percent: 120}, award.Level{Name: "Gold", Threshold: 30, Percent: 150})
	s.Promote(award.Promotion{Extra: new(int64(2)), MinSpendCents: 2000})
	s.SetExpiry(ledger.Points, core.Expiry{Rule: core.ExpireAfter, Months: 12, RoundTo: core.ToMonth}, nil)
	s.expired()
	first := s.sold(s.anna, s.points, 1250)
	s.sold(s.anna, s.points, 800)
	s.sold(s.anna, s.stamps, 320)
	s.Later(time.Minute).VoidSale(s.sold(s.anna, s.stamps, 320))
	s.Later(time.Minute).VoidSale(s.sold(s.bilal, s.points, 40))
	s.sold(s.bilal, s.points, 40)
	s.sold(s.bilal, s.points, 2000)
	s.Redeem(s.anna.ID, s.Reward(15, new(int64(3))))
	s.VoidRedemption(s.Redeem(s.anna.ID, s.Reward(5, new(int64(3)))).ID)
	s.Later(time.Minute).VoidSale(first)
	points := s.coupon(coupon.Points, new(int64(5)), nil)
	s.RedeemVoucher(s.Voucher(points, s.anna.ID))
	s.RedeemVoucher(s.Voucher(points, s.bilal.ID))
	s.Voucher(points, s.anna.ID)
	s.RedeemVoucher(s.Voucher(s.coupon(coupon.Stamps, new(int64(2)), nil), s.anna.ID))
	s.RedeemVoucher(s.Voucher(s.coupon(coupon.Percent, new(int64(10)), nil), s.anna.ID))
	coffee := s.coupon(coupon.Reward, nil, new(s.Reward(30, new(int64(3)))))
	s.RedeemVoucher(s.Voucher(coffee, s.anna.ID))
	s.RedeemVoucher(s.Voucher(coffee, s.bilal.ID))
	s.Voucher(coffee, s.anna.ID)
	s.Adjust(s.anna.ID, ledger.Points, 3)
	s.walkIns(s.Walkins, s.anna)
	s.checkouts(s.Walkins, s.customer("Cleo"))
	s.merged()
	s.Exec(papers)
	return s
}

// expired lets points of a customer end, voids one of the sales that they are of, refunds parts of others, and leaves points of
// two days, with an award that isn't in a lot yet.
func (s *shop) expired() {
	s.T.Helper()
	past := *s
	past.Shop = s.At(s.DB.Now().AddDate(0, -14, 0))
	dora := past.customer("Dora")
	first, second := past.sold(dora, s.points, 4000), past.sold(dora, s.points, 3000)
	past.Redeem(dora.ID, past.Reward(20, nil))
	s.ExpireDue()
	s.VoidSale(first)
	s.Refund(second, 100)
	third := s.sold(dora, s.points, 2000)
	s.Refund(third, 500)
	s.Refund(third, 50)
	s.sold(dora, s.points, 2500)
	fourth := s.sold(dora, s.stamps, 900)
	s.Refund(fourth, 300)
	s.VoidSale(fourth)
	s.Adjust(dora.ID, ledger.Points, -3)
	next := *s
	next.Shop = s.At(s.DB.Now().AddDate(0, 2, 0))
	next.sold(dora, s.points, 600)
}

// merged merges a customer with everything into a new one, and that one into another.
func (s *shop) merged() {
	s.T.Helper()
	twin, kept, last := s.customer("Twin"), s.customer("Kept"), s.customer("Last")
	for _, c := range []customer.Customer{twin, last} {
		s.Must(s.Customers.Edit(s.T.Context(), s.By, c.ID, customer.Edit{ExternalID: core.Set("wc-" + c.FirstName)}))
	}
	s.VoidSale(s.sold(twin, s.points, 500))
	s.sold(twin, s.points, 2000)
	s.Adjust(twin.ID, ledger.Stamps, 2)
	s.Redeem(twin.ID, s.Reward(3, nil))
	s.RedeemVoucher(s.Voucher(s.coupon(coupon.Points, new(int64(5)), nil), twin.ID))
	s.Must(core.Result(s.Merging.Merge(s.T.Context(), s.By, kept.ID, twin.ID, nil, nil)))
	s.Must(core.Result(s.Merging.Merge(s.T.Context(), s.By, last.ID, kept.ID, nil, nil)))
}

// counted has all days counted, with one on which a voucher was redeemed and two customers came.
func (s *shop) counted() {
	s.T.Helper()
	past := *s
	past.Shop = s.At(s.DB.Now().Add(-72 * time.Hour))
	past.RedeemVoucher(past.Voucher(past.coupon(coupon.Points, new(int64(5)), nil), past.customer("Emil").ID))
	past.sold(past.customer("Ida"), s.points, 100)
	past.sold(past.customer("Jon"), s.points, 100)
	s.Check(s.Days.Count(s.T.Context(), daily.Counting{Tenant: s.By.Tenant.ID}))
	if days := s.Count("days_counted where first_day = '-infinity'"); days != 1 {
		s.T.Fatal("not all days were counted")
	}
}

// An invitation, and an invoice of a period with a changed plan.
const papers = `
	insert into loyalty.invitation (tenant_id, id, staff_id, hash, expires_at, created_at)
	select tenant_id, loyalty.new_ulid(now()), id, '', now(), now()
	from loyalty.staff;
	update loyalty.invoice_counter set last = 1;
	with i as (
		insert into loyalty.invoice (tenant_id, number, status, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end, created_at, issued_at, due_at)
		select id, 1, 'issued', 'EUR', '[{"amount_cents": 4900}, {"amount_cents": 100}]', 5000, 1250, 6250, '2026-05-01', '2026-05-31', now(), now(), now()
		from loyalty.tenant
		returning id, tenant_id
	), p as (
		insert into loyalty.billing_period (tenant_id, period_start, period_end, billing_cycle, plan_id, rate_cents, price_cents, currency, invoice_id, created_at)
		select tenant_id, date '2026-05-01', date '2026-05-31', 'monthly', 1, 4900, 4900, 'EUR', id, now()
		from i
		union all
		select tenant_id, '2026-06-01', '2026-06-30', 'monthly', 1, 0, 0, 'EUR', null, now()
		from i
	)
	insert into loyalty.billing_item (tenant_id, id, description, amount_cents, currency, carried, created_at, settled_at, invoice_id)
	select tenant_id, loyalty.new_ulid(now()), 'A larger plan', 100, 'EUR', false, now(), now()::timestamptz, id
	from i
	union all
	select tenant_id, loyalty.new_ulid(now()), 'A smaller plan', -300, 'EUR', false, now(), null, null
	from i;
`

// checkouts uses a reward and two vouchers with a sale, undoes it, and uses them again.
func (s *shop) checkouts(w *walkin.Service, c customer.Customer) {
	s.T.Helper()
	s.Adjust(c.ID, ledger.Points, 100)
	sale := walkin.Sale{
		CustomerID: c.ID, Sold: &transaction.Sale{TransactionTypeID: s.points.ID, SpendAmountCents: 700},
		Rewards:  []core.ID{s.Reward(20, new(int64(3)))},
		Vouchers: []core.ID{s.Voucher(s.coupon(coupon.Points, new(int64(9)), nil), c.ID), s.Voucher(s.coupon(coupon.Reward, nil, new(s.Reward(40, new(int64(3))))), c.ID)},
	}
	undone, err := core.Result(w.Complete(s.T.Context(), s.By, "till", sale, nil, nil))
	s.Check(err)
	s.Check(w.Undo(s.T.Context(), s.By, undone.ID))
	s.Must(core.Result(w.Complete(s.T.Context(), s.By, "till", sale, nil, nil)))
}

// walkIns completes a PIN of a customer's card and one of a till.
func (s *shop) walkIns(w *walkin.Service, c customer.Customer) {
	s.T.Helper()
	ctx, cents := s.T.Context(), int64(100)
	shown, err := w.ShowCard(ctx, walkin.Card{Customer: c}.Actor(s.By.Tenant, "", ""), c.ID)
	s.Check(err)
	held, err := w.TakeCard(ctx, s.By, "till", walkin.Key{Code: shown.Code})
	s.Check(err)
	s.Must(core.Result(w.Complete(ctx, s.By, "till", walkin.Sale{Sold: &transaction.Sale{TransactionTypeID: s.points.ID, SpendAmountCents: cents}, PIN: &held.PIN}, nil, nil)))
	shown, err = w.ShowSale(ctx, s.By, "till", walkin.Offer{TransactionTypeID: s.points.ID, SpendAmountCents: cents}, nil)
	s.Check(err)
	browser, by := walkin.NewBrowser(), core.Actor{Kind: core.ByCustomer, Tenant: s.By.Tenant}
	s.Check(w.TakeSale(ctx, by, browser, walkin.Key{Code: shown.Code}))
	s.Must(core.Result(w.Claim(ctx, by, browser, walkin.Details{FirstName: "Anna", LastName: "Berg", Phone: c.Phone, Agreed: true, Terms: "Yes"}, nil)))
}

func (s *shop) sold(to customer.Customer, k transaction.Type, cents int64) core.ID {
	s.T.Helper()
	reference := "R-" + core.NewID(s.DB.Now()).String()
	sale, err := core.Result(s.Sales.Record(s.T.Context(), s.By, transaction.Sale{
		CustomerID: to.ID, TransactionTypeID: k.ID, SpendAmountCents: cents, ExternalReference: &reference, Source: transaction.POS,
	}, nil, nil))
	s.Check(err)
	return sale.ID
}

// coupon adds a coupon with a limit of two per customer.
func (s *shop) coupon(gives coupon.BenefitType, value *int64, reward *core.ID) core.ID {
	s.T.Helper()
	return s.Coupon(coupon.New{
		Name: "Welcome back", BenefitType: string(gives), BenefitValue: value, BenefitRewardID: reward,
		MaxPerCustomer: new(int64(2)), MaxRedemptions: new(int64(2)), VoucherValidDays: new(int64(30)),
	}).ID
}

func (s *shop) verified() map[string]verify.Result {
	s.T.Helper()
	results, err := verify.Run(s.T.Context(), s.DB)
	s.Check(err)
	return byCheck(s.T, results)
}

func byCheck(t testing.TB, results []verify.Result) map[string]verify.Result {
	t.Helper()
	found := map[string]verify.Result{}
	for _, r := range results {
		found[r.Check] = r
	}
	if len(found) != len(results) {
		t.Errorf("two checks have one name: %v", results)
	}
	return found
}

func TestNothingIsWrongWithWhatTheProductDid(t *testing.T) {
	t.Parallel()
	s := trading(t)
	s.counted()
	s.withoutConstraints()
	s.Exec(`insert into loyalty.token (tenant_id, staff_id, name, hash, abilities, created_at)
		select tenant_id, id, 'Till', '', '{}', created_at from loyalty.staff`)
	for _, r := range s.verified() {
		if r.Counted == 0 || r.Wrong != 0 || r.Examples != nil {
			t.Errorf("%+v", r)
		}
	}
}

func TestAnEmptyDatabaseIsClean(t *testing.T) {
	t.Parallel()
	results, err := verify.Run(t.Context(), dbtest.OwnDB(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Counted != 0 || r.Wrong != 0 {
			t.Errorf("%+v", r)
		}
	}
}

const noConstraints = `
	alter table loyalty.ledger_entry drop constraint ledger_entry_seq, drop constraint ledger_entry_amount_check, drop constraint ledger_entry_of_merge;
	drop index loyalty.ledger_entry_once_a_turn;
	drop index loyalty.transaction_external_reference;
	alter table loyalty.account drop constraint account_customer;
	alter table loyalty.customer drop constraint customer_email;
	drop index loyalty.customer_phone;
	drop index loyalty.customer_external_id;
	alter table loyalty.lot drop constraint lot_account;
	alter table loyalty.refund drop constraint refund_transaction;
	alter table loyalty.redemption drop constraint redemption_customer, drop constraint redemption_reward,
		drop constraint redemption_voided, drop constraint redemption_fulfilled, drop constraint redemption_used, drop constraint redemption_transaction;
	alter table loyalty.checkout_item drop constraint checkout_item_redemption, drop constraint checkout_item_voucher;
	alter table loyalty.transaction drop constraint transaction_award, drop constraint transaction_voided, drop constraint transaction_refunded,
		drop constraint transaction_points_awarded_check, drop constraint transaction_parts;
	alter table loyalty.level_change drop constraint level_change_customer, drop constraint level_change_from, drop constraint level_change_to;
	alter table loyalty.coupon drop constraint coupon_cap;
	alter table loyalty.coupon_send drop constraint coupon_send_counts, drop constraint coupon_send_coupon, drop constraint coupon_send_redeemed,
		drop constraint coupon_send_mails;
	alter table loyalty.voucher_mail drop constraint voucher_mail_voucher;
	alter table loyalty.voucher drop constraint voucher_customer, drop constraint voucher_coupon, drop constraint voucher_send,
		drop constraint voucher_redemption, drop constraint voucher_redeemed, drop constraint voucher_used, drop constraint voucher_transaction;
	drop index loyalty.voucher_redemption_once;
	alter table loyalty.pin drop constraint pin_customer, drop constraint pin_transaction;
	alter table loyalty.invoice drop constraint invoice_total;
`

func (s *shop) withoutConstraints() {
	s.T.Helper()
	for statement := range strings.SplitSeq(noConstraints, ";") {
		s.Exec(statement)
	}
}

const anotherTenant = `
	insert into loyalty.tenant (name, slug, email, plan_id, billing_cycle, payment_method, created_at)
	values ('Other', 'other', 'other@example.com', 1, 'monthly', 'manual', now());
`

func TestEachCheckSeesItsDamage(t *testing.T) {
	t.Parallel()
	s := trading(t)
	s.counted()
	claims := s.verified()
	s.withoutConstraints() // they would refuse most damage

	// The damages name records by their IDs, which a distributed database needs.
	id := func(of, condition string, args ...any) string {
		return "uuid '" + shoptest.Query[string](s.Shop, "select "+of+"::text from loyalty."+condition+" limit 1", args...) + "'"
	}
	entry := func(kind string) string {
		return id("id", "ledger_entry where kind = $1 and unit = 'points' order by seq", kind)
	}
	copyOf := func(kind, change string) string {
		return `insert into loyalty.ledger_entry
			select (jsonb_populate_record(e, jsonb_build_object('id', loyalty.new_ulid(created_at), ` + change + `))).*
			from loyalty.ledger_entry e where id = ` + entry(kind)
	}
	used := func(benefit string) string {
		return id("v.id", `voucher v join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
			where v.status = 'redeemed' and c.benefit_type = $1 order by v.id`, benefit)
	}
	// A distributed database updates neither a row's tenant nor a time by an interval.
	replaced := func(table, condition, change string) string {
		return "create temp table replaced as select * from loyalty." + table + " where " + condition + `;
			update replaced set ` + change + `;
			delete from loyalty.` + table + " where " + condition + `;
			insert into loyalty.` + table + " select * from replaced"
	}
	var (
		anna   = id("id", "customer where first_name = 'Anna'")
		bilal  = id("id", "customer where first_name = 'Bilal'")
		dora   = id("id", "customer where first_name = 'Dora'")
		gone   = id("merged_id", "customer_merge order by id")
		unused = id("id", "voucher where status = 'pending' order by id")
		aSale  = id("id", "transaction where status = 'completed' and points_awarded > 0 order by id")
		buyer  = id("customer_id", "transaction where id = "+aSale)

		promoted = id("id", "transaction where status = 'completed' and promotion_id is not null order by id desc")

		again     = id("v.id", `voucher v join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id where v.turn = 2 and c.benefit_type = 'points'`)
		withItems = id("checkout_id", "checkout_item where outcome is null")
		bought    = id("redemption_id", "checkout_item where outcome is null and kind = 'reward'")
	)
	damages := []struct{ check, name, sql string }{
		{"Every customer has an account", "an account less", "delete from loyalty.account"},
		{"Every customer has an account", "a customer less", "delete from loyalty.customer where first_name = 'Anna'"},
		{"Every balance is the sum", "points more", "update loyalty.account set points = points + 1"},
		{"Every balance is the sum", "stamps less", "update loyalty.account set stamps = stamps - 1"},
		{"Every balance is the sum", "an entry less", "delete from loyalty.ledger_entry where id = " + entry("earn")},
		{"Every balance is the sum", "entries without an account", "delete from loyalty.account"},
		{"Every account's count", "one too many", "update loyalty.account set entries = entries + 1"},
		{"Every account's count", "entries without an account", "delete from loyalty.account"},
		{"Every customer's visits", "one too many", "update loyalty.account set visits = visits + 1"},
		{"Every customer's visits", "another spend", "update loyalty.account set spent_cents = spent_cents - 1"},
		{"Every customer's visits", "a refund that wasn't subtracted", "update loyalty.account set spent_cents = spent_cents + 100 where customer_id = " + dora},
		{"Every customer's visits", "not counted", "update loyalty.account set visits = null, spent_cents = null"},
		{"Every customer's visits", "a sale less", "delete from loyalty.transaction where id = " + aSale},
		{"Every customer's visits", "sales without an account", "delete from loyalty.account"},
		{"The entries of an account", "a gap", "update loyalty.ledger_entry set seq = seq + 100 where id = " + entry("adjustment")},
		{"The entries of an account", "one number twice", "update loyalty.ledger_entry set seq = 2 where seq = 3"},
		{"The entries of an account", "from 0", "update loyalty.ledger_entry set seq = seq - 1"},
		{"Every entry leaves", "another balance", "update loyalty.ledger_entry set balance_after = balance_after + 1 where id = " + entry("adjustment")},
		{"Every entry leaves", "a first one off", "update loyalty.ledger_entry set balance_after = 7 where seq = 1"},
		{"Every entry leaves", "another amount", "update loyalty.ledger_entry set amount = amount + 1 where id = " + entry("earn")},
		{"Nothing but a reversal", "too much spent", "update loyalty.ledger_entry set balance_after = -1 where kind = 'redemption'"},
		{"Every entry adds", "a negative award", "update loyalty.ledger_entry set amount = -amount where id = " + entry("earn")},
		{"Every entry adds", "a positive reversal", "update loyalty.ledger_entry set amount = -amount where id = " + entry("reversal")},
		{"Every entry adds", "a positive expiry", "update loyalty.ledger_entry set amount = -amount where id = " + entry("expiry")},
		{"Every entry adds", "a negative return", "update loyalty.ledger_entry set amount = -amount where id = " + entry("expiry_return")},
		{"Every entry adds", "a positive refund", "update loyalty.ledger_entry set amount = -amount where id = " + entry("refund")},
		{"Every entry adds", "an entry of nothing", "update loyalty.ledger_entry set amount = 0 where id = " + entry("adjustment")},
		{"No cause is posted twice", "two deductions", copyOf("redemption", "'seq', 99")},
		{"No cause is posted twice", "an award twice", copyOf("earn", "'seq', 99")},
		{"No cause is posted twice", "a voucher twice", copyOf("voucher", "'seq', 99")},
		{"No cause is posted twice", "a reversal twice", copyOf("reversal", "'seq', 99")},
		{"Every sale's award was posted", "an award less", "delete from loyalty.ledger_entry where id = " + entry("earn")},
		{"Every sale's award was posted", "of no sale", "update loyalty.ledger_entry set cause = id where id = " + entry("earn")},
		{"Every sale's award was posted", "another customer", "update loyalty.ledger_entry set customer_id = " + bilal + " where id = " + entry("earn")},
		{"Every sale's award was posted", "another tenant", replaced("ledger_entry", "id = "+entry("earn"), "tenant_id = tenant_id + 1")},
		{"Every sale's award was posted", "two that cancel out", copyOf("earn", "'seq', 98") + "; " + copyOf("earn", "'seq', 99, 'amount', -12")},
		{"Every sale's award was posted", "another unit", "update loyalty.ledger_entry set unit = 'stamps' where id = " + entry("earn")},
		{"Every sale's award was posted", "another amount", "update loyalty.ledger_entry set amount = amount + 1 where id = " + entry("earn")},
		{"Every sale's award was posted", "another award", "update loyalty.transaction set points_awarded = points_awarded + 1 where id = " + aSale},
		{"Every sale's award is its base", "another base", "update loyalty.transaction set base_award = base_award + 1 where id = " + promoted},
		{"Every sale's award is its base", "another promotion's award", "update loyalty.transaction set promotion_award = promotion_award + 1 where id = " + promoted},
		{"Every sale's award is its base", "more than its parts", "update loyalty.transaction set capped = true, base_award = base_award - 1 where id = " + promoted},
		{"Every sale's award is its base", "an award of no promotion", "update loyalty.transaction set promotion_id = null where id = " + promoted},
		{"Every sale's award is its base", "a promotion of the other unit", "update loyalty.promotion set unit = 'stamps'"},
		{"Every sale's award is its base", "more items than were paid", `update loyalty.transaction set items = '[{"category": "x", "amount_cents": 9000}]' where id = ` + promoted},
		{"Every account's sums", "one too many", "update loyalty.account set level_sum = level_sum + 1"},
		{"Every account's sums", "the year before", "update loyalty.account set level_sum_before = level_sum_before + 1"},
		{"Every account's sums", "not counted", "update loyalty.account set level_year = null, level_sum = null, level_sum_before = null"},
		{"Every account's sums", "a sale less", "delete from loyalty.transaction where id = " + promoted},
		{"Every account's sums", "a refund that wasn't subtracted", "update loyalty.transaction set refunded_cents = 0 where customer_id = " + dora},
		{"No customer's level is below", "a level less", "update loyalty.account set level_id = null where level_id is not null"},
		{"No customer's level is below", "a lower threshold", "update loyalty.level set threshold = 1 where name = 'Gold'"},
		{"Every customer's changes of level", "another level", "update loyalty.account set level_id = null where level_id is not null"},
		{"Every customer's changes of level", "another last day", "update loyalty.account set level_until = level_until + 1"},
		{"Every customer's changes of level", "a change less", "delete from loyalty.level_change where seq = 1"},
		{"Every customer's changes of level", "of no account", "delete from loyalty.account"},
		{"Every voided sale's award", "a reversal less", "delete from loyalty.ledger_entry where id = " + entry("reversal")},
		{"Every voided sale's award", "of no sale", "update loyalty.ledger_entry set cause = id where id = " + entry("reversal")},
		{"Every voided sale's award", "another customer", "update loyalty.ledger_entry set customer_id = " + bilal + " where id = " + entry("reversal")},
		{"Every voided sale's award", "half of it", "update loyalty.ledger_entry set amount = amount / 2 where id = " + entry("reversal")},
		{"Every voided sale's award", "a sale that stands", "update loyalty.transaction set status = 'completed'"},
		{"Every voided sale's award", "a void without one", "update loyalty.transaction set status = 'voided' where id = " + aSale},
		{"No award or reversal is older", "an old entry", replaced("ledger_entry", "id = "+entry("earn"), "created_at = created_at - interval '1 day'")},
		{"No award or reversal is older", "another last day", "update loyalty.transaction set expires_on = expires_on + 1 where id = " + aSale},
		{"Every merge took", "an entry less", "delete from loyalty.ledger_entry where id = " + entry("merge")},
		{"Every merge took", "another amount", "update loyalty.ledger_entry set amount = amount + 1 where id = " + entry("merge")},
		{"Every merge took", "another customer", "update loyalty.ledger_entry set customer_id = " + bilal + " where id = " + entry("merge")},
		{"Every merge took", "another unit", "update loyalty.ledger_entry set unit = 'stamps' where id = " + entry("merge")},
		{"Every merge took", "of another tenant", replaced("ledger_entry", "id = "+entry("merge"), "tenant_id = tenant_id + 1")},
		{"Every merge took", "of no merge", "delete from loyalty.customer_merge"},
		{"Every merge took", "another sum", "update loyalty.customer_merge set points = points + 1"},
		{"A merged customer", "a balance", "update loyalty.account set stamps = 1"},
		{"A merged customer", "a sale", "update loyalty.transaction set customer_id = " + gone},
		{"A merged customer", "a redemption", "update loyalty.redemption set customer_id = " + gone},
		{"A merged customer", "a voucher", "update loyalty.voucher set customer_id = " + gone},
		{"A merged customer", "a key", "update loyalty.customer set phone_key = id::text"},
		{"A merged customer", "active", "update loyalty.customer set status = 'active'"},
		{"A merged customer", "into one who was merged", "update loyalty.customer set merged_into = " + gone + " where id = (select kept_id from loyalty.customer_merge order by id limit 1)"},
		{"A merged customer", "without a merge", "delete from loyalty.customer_merge"},
		{"Every sale's award is of its rule's", "both", "update loyalty.transaction set stamps_awarded = 1 where id = " + aSale},
		{"Every sale's award is of its rule's", "neither", "update loyalty.transaction set points_awarded = null where id = " + aSale},
		{"Every sale's award is of its rule's", "another rule", "update loyalty.transaction set rule_type = 'stamps' where id = " + aSale},
		{"Every sale's award is of its rule's", "less than nothing", "update loyalty.transaction set points_awarded = -1 where id = " + aSale},
		{"Every voided sale, and no other", "a void at no time", "update loyalty.transaction set voided_at = null"},
		{"Every voided sale, and no other", "a time and no void", "update loyalty.transaction set voided_at = created_at where id = " + aSale},
		{"Every voided sale, and no other", "before the sale", replaced("transaction", "true", "voided_at = voided_at - interval '1 day'")},
		{"Every sale belongs", "a customer less", "delete from loyalty.customer where first_name = 'Anna'"},
		{"Every sale belongs", "a type less", "delete from loyalty.transaction_type where rule_type = 'stamps'"},
		{"Every sale belongs", "no such location", "update loyalty.transaction set location_id = 1 where id = " + aSale},
		{"The ID of every sale", "another instant", replaced("transaction", "id = "+aSale, "created_at = created_at + interval '1 ms'")},
		{"The ID of every sale", "a redemption's", replaced("redemption", "true", "created_at = created_at + interval '1 ms'")},
		{"Every redemption's cost", "a deduction less", "delete from loyalty.ledger_entry where id = " + entry("redemption")},
		{"Every redemption's cost", "of no redemption", "update loyalty.ledger_entry set cause = id where id = " + entry("redemption")},
		{"Every redemption's cost", "another customer", "update loyalty.ledger_entry set customer_id = " + bilal + " where id = " + entry("redemption")},
		{"Every redemption's cost", "another price", "update loyalty.redemption set points_spent = points_spent + 1"},
		{"Every redemption's cost", "another unit", "update loyalty.redemption set stamps_spent = points_spent, points_spent = 0"},
		{"Every voided redemption's cost", "a refund less", "delete from loyalty.ledger_entry where id = " + entry("redemption_refund")},
		{"Every voided redemption's cost", "half of it", "update loyalty.ledger_entry set amount = amount - 1 where id = " + entry("redemption_refund")},
		{"Every voided redemption's cost", "a void without one", "update loyalty.redemption set status = 'voided' where status = 'pending'"},
		{"Every voided redemption's cost", "one that stands", "update loyalty.redemption set status = 'pending'"},
		{"Every voided sale's award", "a voucher's reversal less", "delete from loyalty.ledger_entry where kind = 'reversal' and cause = " + again},
		{"Every voided sale's award", "of a voucher in another turn", "update loyalty.ledger_entry set turn = 2 where kind = 'reversal' and cause = " + again},
		{"Every voided sale's award", "of a voucher that was used once", "update loyalty.voucher set turn = 1 where id = " + again},
		{"Every reward and voucher of a checkout", "a redemption less", "delete from loyalty.redemption where id = " + bought},
		{"Every reward and voucher of a checkout", "a voucher less", "delete from loyalty.voucher where id = " + again},
		{"Every reward and voucher of a checkout", "another customer's redemption", "update loyalty.redemption set customer_id = " + anna + " where id = " + bought},
		{"Every reward and voucher of a checkout", "another customer's sale", "update loyalty.transaction set customer_id = " + anna + " where id = " + withItems},
		{"Every reward and voucher of a checkout", "pending", "update loyalty.redemption set status = 'pending' where id = " + bought},
		{"Every reward and voucher of a checkout", "valid again without an undo", "update loyalty.voucher set status = 'pending' where id = " + again},
		{"Every reward and voucher of a checkout", "with another sale", "update loyalty.voucher set transaction_id = " + aSale + " where id = " + again},
		{"Every reward and voucher of a checkout", "a redemption with none", "update loyalty.redemption set transaction_id = null where id = " + bought},
		{"Every reward and voucher of a checkout", "undone with a sale that stands", "update loyalty.checkout_item set outcome = 'returned' where checkout_id = " + withItems},
		{"Every reward and voucher of a checkout", "undone and not voided", "update loyalty.redemption set status = 'fulfilled' where status = 'voided' and transaction_id is not null"},
		{"Every sale was refunded", "a refund less", "delete from loyalty.refund where amount_cents = 100"},
		{"Every refund's award", "a refund less", "delete from loyalty.refund where amount_cents = 100"},
		{"Every refund's award", "without its entry", "delete from loyalty.ledger_entry where id = " + entry("refund")},
		{"Every refund's award", "of no refund", "update loyalty.ledger_entry set cause = id where id = " + entry("refund")},
		{"Every refund's award", "another amount", "update loyalty.ledger_entry set amount = amount - 1 where id = " + entry("refund")},
		{"Every refund's award", "another customer", "update loyalty.ledger_entry set customer_id = " + anna + " where id = " + entry("refund")},
		{"Every sale was refunded", "another sum", "update loyalty.transaction set refunded_cents = refunded_cents + 1 where refunded_cents = 100"},
		{"Every sale was refunded", "another award", "update loyalty.transaction set refunded_award = refunded_award - 1 where refunded_award = 1"},
		{"Every sale was refunded", "above its spend", "update loyalty.refund set amount_cents = 4000 where amount_cents = 100; update loyalty.transaction set refunded_cents = 4000 where refunded_cents = 100"},
		{"Every lot is what", "one less", "delete from loyalty.lot where customer_id = " + dora},
		{"Every lot is what", "one too large", "update loyalty.lot set remaining = remaining + 1 where customer_id = " + dora},
		{"Every lot is what", "of another day", "update loyalty.lot set expires_on = expires_on + 1 where customer_id = " + dora},
		{"Every lot is what", "of the other unit", "update loyalty.lot set unit = 'stamps' where customer_id = " + dora},
		{"Every lot is what", "another opening", "update loyalty.account set points_lots_from = points_lots_from + 1 where customer_id = " + dora},
		{"Every lot is what", "an award twice", "update loyalty.account set points_lots_seq = entries where customer_id = " + dora},
		{"Every lot is what", "a spend that left them", "update loyalty.ledger_entry set lot_dates = '{}', lot_amounts = '{}' where id = " + entry("redemption")},
		{"Every lot is what", "an award of another day", "update loyalty.ledger_entry set expires_on = expires_on + 1 where customer_id = " + dora + " and kind = 'earn'"},
		{"Every lot is what", "without an account", "delete from loyalty.account"},
		{"An account's lots", "one less", "delete from loyalty.lot where customer_id = " + dora},
		{"An account's lots", "one too large", "update loyalty.lot set remaining = remaining + 1 where customer_id = " + dora},
		{"An account's lots", "a balance that rose alone", "update loyalty.account set points = points + 1 where customer_id = " + dora},
		{"An account's lots", "an award twice", "update loyalty.account set points_lots_seq = points_lots_seq - 5 where customer_id = " + dora},
		{"An account's lots", "lots without an account", "delete from loyalty.account"},
		{"No account's next expiry", "a day too late", "update loyalty.account set points_expire_on = points_expire_on + 1 where customer_id = " + dora},
		{"No account's next expiry", "none", "update loyalty.account set points_expire_on = null where customer_id = " + dora},
		{"No account's next expiry", "of an award to come", "delete from loyalty.lot; update loyalty.account set points_expire_on = points_expire_on + 90 where customer_id = " + dora},
		{"No point is left", "a lot of the last day", "update loyalty.lot set expires_on = (select expired_through from loyalty.programme) where customer_id = " + dora},
		{"No point is left", "an account not looked at", "update loyalty.account set points_expire_on = (select expired_through from loyalty.programme) where customer_id = " + dora},
		{"No more was returned", "than expired", "update loyalty.ledger_entry set amount = amount + 40 where id = " + entry("expiry")},
		{"No more was returned", "of another day", "update loyalty.ledger_entry set expires_on = expires_on + 1 where id = " + entry("expiry_return")},
		{"Every business's points", "another rule", "update loyalty.tenant set programme = replace(programme::text, 'after', 'never')::json"},
		{"Every business's points", "none", "update loyalty.tenant set programme = null"},
		{"What had expired", "without a reversal", "delete from loyalty.ledger_entry where kind = 'reversal' and customer_id = " + dora},
		{"What had expired", "of no cause", "update loyalty.ledger_entry set cause = id where id = " + entry("expiry_return")},
		{"What had expired", "more than was taken back", "update loyalty.ledger_entry set amount = amount + 1 where id = " + entry("expiry_return")},
		{"What had expired", "after it", "update loyalty.ledger_entry set seq = seq + 100 where id = " + entry("expiry_return")},
		{"Every redeemed voucher's points", "the benefit of a turn less", "delete from loyalty.ledger_entry where kind = 'voucher' and turn = 1 and cause = " + again},
		{"Every redeemed voucher's points", "one turn too many", "update loyalty.voucher set turn = 3 where id = " + again},
		{"Every redeemed voucher's points", "a benefit less", "delete from loyalty.ledger_entry where id = " + entry("voucher")},
		{"Every redeemed voucher's points", "of no voucher", "update loyalty.ledger_entry set cause = id where id = " + entry("voucher")},
		{"Every redeemed voucher's points", "another customer", "update loyalty.ledger_entry set customer_id = case customer_id when " + anna + " then " + bilal + " else " + anna + " end where id = " + entry("voucher")},
		{"Every redeemed voucher's points", "another tenant", replaced("ledger_entry", "id = "+entry("voucher"), "tenant_id = tenant_id + 1")},
		{"Every redeemed voucher's points", "another unit", "update loyalty.ledger_entry set unit = 'stamps' where id = " + entry("voucher")},
		{"Every redeemed voucher's points", "another amount", "update loyalty.coupon set benefit_value = benefit_value + 1 where benefit_type = 'stamps'"},
		{"Every redeemed voucher's points", "of one that is pending", "update loyalty.voucher set status = 'pending' where id = " + used("points")},
		{"Every redeemed voucher's points", "of no coupon", "delete from loyalty.coupon where benefit_type = 'points'"},
		{"Every redeemed voucher's points", "for the cashier to apply", "update loyalty.coupon set benefit_type = 'percent' where benefit_type = 'stamps'"},
		{"Every redeemed voucher for a reward", "valid again, and its reward not voided", "update loyalty.redemption set status = 'fulfilled' where points_spent = 0 and status = 'voided'"},
		{"Every redeemed voucher for a reward", "a redemption less", "delete from loyalty.redemption where points_spent = 0"},
		{"Every redeemed voucher for a reward", "none named", "update loyalty.voucher set redemption_id = null where id = " + used("reward")},
		{"Every redeemed voucher for a reward", "one for two", `
			update loyalty.voucher v set redemption_id = u.redemption_id, customer_id = u.customer_id
			from loyalty.voucher u where u.tenant_id = v.tenant_id and u.id = ` + used("reward") + ` and v.redemption_id is not null;
			delete from loyalty.redemption where points_spent = 0 and id not in (select redemption_id from loyalty.voucher where redemption_id is not null)`},
		{"Every redeemed voucher for a reward", "of one that is pending", "update loyalty.voucher set status = 'pending' where id = " + used("reward")},
		{"Every redeemed voucher for a reward", "of one for points", "update loyalty.voucher set redemption_id = " + id("redemption_id", "voucher where id = "+used("reward")) + " where id = " + used("points")},
		{"Every redeemed voucher for a reward", "another customer", "update loyalty.redemption set customer_id = " + anna + " where points_spent = 0"},
		{"Every redeemed voucher for a reward", "another reward", "update loyalty.redemption set reward_id = (select reward_id from loyalty.redemption where points_spent > 0 limit 1) where points_spent = 0"},
		{"Every redeemed voucher for a reward", "another tenant", replaced("redemption", "points_spent = 0", "tenant_id = tenant_id + 1")},
		{"Every redeemed voucher for a reward", "not for nothing", "update loyalty.redemption set stamps_spent = 1 where points_spent = 0"},
		{"Every redeemed voucher for a reward", "for nothing, without a voucher", "update loyalty.redemption set points_spent = 0"},
		{"Every redeemed voucher, and no other", "at no time", "update loyalty.voucher set redeemed_at = null where id = " + used("points")},
		{"Every redeemed voucher, and no other", "a time and not redeemed", "update loyalty.voucher set redeemed_at = now() where id = " + unused},
		{"Every redeemed voucher, and no other", "before it was made", replaced("voucher", "id = "+used("points"), "redeemed_at = redeemed_at - interval '1 day'")},
		{"Every redeemed voucher, and no other", "when it had expired", "update loyalty.voucher set expires_at = redeemed_at where id = " + used("points")},
		{"Every coupon's count", "one too many", "update loyalty.coupon set redemptions_count = redemptions_count + 1"},
		{"Every coupon's count", "a voucher less", "delete from loyalty.voucher where id = " + used("percent")},
		{"Every coupon's count", "more than may be", "update loyalty.coupon set max_redemptions = 1"},
		{"No customer has more", "less is allowed", "update loyalty.coupon set max_per_customer = 1"},
		{"No customer has more", "all are Anna's", "update loyalty.voucher set customer_id = " + anna},
		{"Every send made", "a voucher less", "delete from loyalty.voucher where id = " + unused},
		{"Every send made", "vouchers of no send that counts", "update loyalty.coupon_send set sent = 0, matched = 0"},
		{"Every send made", "a member of no kind", "update loyalty.coupon_send set matched = matched + 1"},
		{"Every send's count of redeemed", "one too many", "update loyalty.coupon_send set redeemed = redeemed + 1"},
		{"Every send's count of redeemed", "one that was redeemed without it", "update loyalty.voucher set status = 'redeemed', redeemed_at = created_at where id = " + unused},
		{"Every send's count of redeemed", "another end", "update loyalty.coupon_send set expires_at = now()"},
		{"Every send's count of redeemed", "a voucher without end", "update loyalty.voucher set expires_at = now() where id = " + unused},
		{"Every send's counts of mails", "one delivered too many", "update loyalty.coupon_send set delivered = delivered + 1"},
		{"Every send's counts of mails", "a mail less", "delete from loyalty.voucher_mail"},
		{"Every send's counts of mails", "delivered and not counted", "update loyalty.voucher_mail set status = 'delivered'"},
		{"Every send's counts of mails", "one without e-mail too many", "update loyalty.coupon_send set no_email = no_email + 1"},
		{"Every send's counts of mails", "done too early", "update loyalty.coupon_send set status = 'done'"},
		{"Every PIN that was completed", "without its sale", "update loyalty.pin set transaction_id = null where direction = 'till'"},
		{"Every PIN that was completed", "another customer's sale", "update loyalty.pin set customer_id = " + bilal},
		{"Every PIN that was completed", "one sale twice", "update loyalty.pin set transaction_id = " + aSale + ", customer_id = " + buyer},
		{"Every voucher belongs", "a customer less", "delete from loyalty.customer where first_name = 'Anna'"},
		{"Every voucher belongs", "a coupon less", "delete from loyalty.coupon where benefit_type = 'percent'"},
		{"Every voucher belongs", "a send less", "delete from loyalty.coupon_send where id = (select send_id from loyalty.voucher limit 1)"},
		{"Every voucher belongs", "a send of another coupon", "update loyalty.voucher set send_id = " + id("send_id", "voucher where id = "+used("percent")) + " where id = " + unused},
		{"Every voucher belongs", "another tenant", replaced("voucher", "id = "+unused, "tenant_id = tenant_id + 1")},
		{"No external reference", "a receipt twice", "update loyalty.transaction set external_reference = 'R-1'"},
		{"No phone number", "one phone", "update loyalty.customer set phone_key = '+46701740605'"},
		{"No external ID", "one external ID", "update loyalty.customer set external_id = 'wc-1'"},
		{"No e-mail address", "one address", "update loyalty.customer set email_key = 'anna@example.com'"},
		{"No further phone number", "own ones", `
			insert into loyalty.customer_key (tenant_id, kind, key, customer_id, text, created_at)
			select tenant_id, 'phone', phone_key, id, phone, now() from loyalty.customer where phone_key is not null`},
		{"No further phone number", "a merged customer's", "update loyalty.customer_key set customer_id = " + gone},
		{"Every API token", "another tenant's", anotherTenant + `
			insert into loyalty.token (tenant_id, staff_id, name, hash, abilities, created_at)
			select (select id from loyalty.tenant where slug = 'other'), id, 'Till', '', '{}', now() from loyalty.staff`},
		{"Every API token", "the platform's", `
			insert into loyalty.token (tenant_id, staff_id, name, hash, abilities, created_at)
			select null, id, 'Till', '', '{}', now() from loyalty.staff`},
		{"Every invitation", "another tenant's", anotherTenant + "update loyalty.invitation set tenant_id = lastval()"},
		{"Every tenant", "without people", anotherTenant},
		{"Every tenant", "a manager alone", "update loyalty.staff set role = 'manager'"},
		{"Every invoice", "another total", "update loyalty.invoice set total_cents = total_cents + 1"},
		{"Every invoice", "no tax", "update loyalty.invoice set tax_cents = 0"},
		{"Every invoice", "another amount", "update loyalty.invoice set amount_cents = 4900, tax_cents = 1350"},
		{"Every invoice", "a line less", "update loyalty.invoice set lines = lines - 0"},
		{"Every invoice", "no lines", "update loyalty.invoice set lines = '[]'"},
		{"Every invoice", "a line of nothing", "update loyalty.invoice set lines = lines || '{}'"},
		{"Every day that was counted has the sales of its locations", "a sale too many", "update loyalty.day_sales set transactions = transactions + 1"},
		{"Every day that was counted has the sales of its locations", "a void at another hour", "update loyalty.day_sales_hour set voided = voided + 1"},
		{"Every day that was counted has the sales of its locations", "a day that got lost", "delete from loyalty.day_sales"},
		{"Every day that was counted has the sales of its locations", "a day that had no sale", `insert into loyalty.day_sales
			select tenant_id, day - 1, location_id, transactions, spend, points, stamps, voided, reversed, refunds, refunded, points_refunded
			from loyalty.day_sales`},
		{"Every day that was counted has the sales of its hours", "a cent too few", "update loyalty.day_hour set spend = spend - 1"},
		{"Every day that was counted has the customers", "a new customer who isn't new", "update loyalty.day_visit set prior = day - 1 where prior = '-infinity'"},
		{"Every day that was counted has the customers", "one too few of all", "update loyalty.day_visit set customers = customers - 1 where prior = 'infinity'"},
		{"Every day that was counted has the customers", "a millisecond too late", "update loyalty.day_visit set came_at[1] = came_at[1] + 1 where prior < 'infinity'"},
		{"Every day that was counted has the customers", "times that aren't in order", "update loyalty.day_visit set came_at = array(select unnest(came_at) order by 1 desc)"},
		{"Every day that was counted has the customers", "a first visit as a second one", "update loyalty.day_visit set second_at = came_at"},
		{"Every day that was counted has the customers", "another month", "update loyalty.day_cohort set first_month = first_month - 31"},
		{"Every day that was counted has what each person", "another person's", "update loyalty.day_staff set actor_id = 'x'"},
		{"Every day that was counted has what its sales earned", "a point too many", "update loyalty.day_rule set base = base + 1"},
		{"Every day that was counted has its redemptions", "a redemption too many", "update loyalty.day_reward set redemptions = redemptions + 1"},
		{"Every day that was counted has its redemptions", "a voucher too few", "update loyalty.day_coupon set sent = 0 where sent > 0"},
		{"Every day that was counted has its redemptions", "a cent off too many", "update loyalty.day_coupon set discount = discount + 1"},
		{"Every day that was counted has its redemptions", "a sale before one too many", "update loyalty.day_coupon set before_spend_once = before_spend_once + 1"},
		{"Every day that was counted has what changed balances", "a point too few", "update loyalty.day_flow set amount = amount - 1"},
		{"Every day that was counted has what changed balances", "a point too many in its month", "update loyalty.month_flow set amount = amount + 1"},
		{"Every day that was counted has what changed balances", "a change of level too many", "update loyalty.day_level set changes = changes + 1"},
		{"Every day that was counted has what changed balances", "a customer too many", "update loyalty.day_joined set customers = customers + 1"},
		{"Every customer's year", "a customer who didn't come", "insert into loyalty.customer_year (tenant_id, customer_id, last_day, visits, spend) select tenant_id, id, '2026-01-01', 1, 1 from loyalty.customer on conflict do nothing"},
		{"Every customer's year", "a visit too many", "update loyalty.customer_year set visits = visits + 1"},
		{"Every customer's year", "a customer too many in a group", "update loyalty.year_group set customers = customers + 1"},
		{"Every customer's year", "a group that got lost", "delete from loyalty.year_group"},
		{"Every customer's year", "a cent above the average", "update loyalty.year_counted set high = high + 1"},
		{"Invoices are numbered", "a gap", "update loyalty.invoice set number = 2; update loyalty.invoice_counter set last = 2"},
		{"Invoices are numbered", "more than were issued", "update loyalty.invoice_counter set last = 0"},
		{"No day of a tenant", "days twice", "update loyalty.billing_period set period_start = '2026-05-31' where period_start = '2026-06-01'"},
		{"Everything that a tenant was billed", "a dearer period", "update loyalty.billing_period set price_cents = price_cents + 1 where price_cents > 0"},
		{"Everything that a tenant was billed", "an item that got lost", "delete from loyalty.billing_item where settled_at is not null"},
		{"Everything that a tenant was billed", "an item that is invoiced and waits", "update loyalty.billing_item set settled_at = null, invoice_id = null"},
		{"Everything that a tenant was billed", "an invoice of its period twice", `insert into loyalty.invoice (tenant_id, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end, created_at)
			select tenant_id, 'EUR', '[{"amount_cents": 4900}]', 4900, 0, 4900, period_start, period_end, now() from loyalty.invoice;
			update loyalty.billing_period set invoice_id = (select max(id) from loyalty.invoice) where price_cents = 0`},
	}

	undamaged := map[string]bool{}
	for claim := range claims {
		undamaged[claim] = true
	}
	for _, d := range damages {
		var claim string
		for c := range claims {
			if strings.HasPrefix(c, d.check) {
				if claim != "" {
					t.Fatalf("%q begins two checks", d.check)
				}
				claim = c
			}
		}
		if claim == "" {
			t.Fatalf("no check begins %q", d.check)
		}
		delete(undamaged, claim)
		t.Run(d.check+"/"+d.name, func(t *testing.T) {
			r := damaged(t, s.DB, d.sql)[claim]
			if r.Wrong == 0 || r.Wrong > r.Counted {
				t.Fatalf("%q: %d wrong of %d", claim, r.Wrong, r.Counted)
			}
			if len(r.Examples) != int(min(r.Wrong, 5)) || !strings.Contains(r.Examples[0], ": ") {
				t.Errorf("%d wrong, examples: %q", r.Wrong, r.Examples)
			}
		})
	}
	for claim := range undamaged {
		t.Errorf("nothing tries %q", claim)
	}
}

// damaged returns what the checks find after the damage, which is undone.
func damaged(t *testing.T, d *db.DB, sql string) map[string]verify.Result {
	t.Helper()
	tx, err := dbtest.Owner(d).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // the database goes with the test
	for statement := range strings.SplitSeq(sql, ";") {
		if _, err := tx.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	results, err := verify.RunIn(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	return byCheck(t, results)
}

func TestExamplesNameTenantAndRecord(t *testing.T) {
	t.Parallel()
	s := trading(t)
	s.Exec("update loyalty.account set points = points + 1 where customer_id = '" + hex.EncodeToString(s.bilal.ID[:]) + "'")
	got := s.verified()["Every balance is the sum of its entries."]
	want := fmt.Sprintf("tenant %d: %s", s.By.Tenant.ID, s.bilal.ID)
	if got.Counted != 7 || got.Wrong != 1 || len(got.Examples) != 1 || got.Examples[0] != want {
		t.Errorf("got %+v, want %s", got, want)
	}
}

// A login that sees no rows must not report that they are clean.
func TestOnlyTheOwnerVerifies(t *testing.T) {
	t.Parallel()
	d := withOption(t, dbtest.OwnURL(t), "role="+db.Role)
	if results, err := verify.Run(t.Context(), d); err == nil || !strings.Contains(err.Error(), "LOYALTY_DATABASE_OWNER_URL") {
		t.Errorf("verify as %s = %v, %v", db.Role, results, err)
	}
}

// withOption opens a database whose owner's connections begin with an option.
func withOption(t *testing.T, owner, option string) *db.DB {
	t.Helper()
	login, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	query := login.Query()
	query.Set("options", "-c "+option)
	login.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	d, err := db.Open(t.Context(), dbtest.Serving(owner), db.Options{OwnerURL: login.String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}
