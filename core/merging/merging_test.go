package merging_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/merging"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business with a customer who exists twice.
type shop struct {
	shoptest.Shop
	merging *merging.Service
	kind    transaction.Type
	kept    customer.Customer
	twin    customer.Customer
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{Shop: shoptest.In(t, dbtest.OwnDB(t))}
	s.merging, s.kind = s.Merging, s.Points(100)
	s.kept, s.twin = s.add("Anna", nil), s.add("Annie", new("annie@example.com"))
	return s
}

func (s *shop) add(name string, email *string) customer.Customer {
	s.T.Helper()
	n := shoptest.Anna(shoptest.Phone())
	n.FirstName, n.Email = name, core.OrZero(email)
	return s.AddCustomer(n)
}

func (s *shop) merge(kept, merged customer.Customer) error {
	_, err := core.Result(s.merging.Merge(s.T.Context(), s.By, kept.ID, merged.ID, nil, nil))
	return err
}

func (s *shop) wantAccount(of customer.Customer, want ledger.Account) {
	s.T.Helper()
	if got := s.Account(of.ID); got != want {
		s.T.Errorf("%s has %+v, want %+v", of.FirstName, got, want)
	}
}

func (s *shop) ledger(of core.ID) (told []string) {
	return shoptest.QueryAll[string](s.Shop, `
		select concat_ws(' ', seq, kind, amount, unit, 'to', balance_after)
		from loyalty.ledger_entry
		where customer_id = $1
		order by seq`, of)
}

// "Both ledgers kept and the balances added by entries that name the merge; vouchers, redemptions and sales move."
func TestAMergeMovesEverything(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	s.Sale(s.kept.ID, s.kind, 1000)
	sale := s.Sale(s.twin.ID, s.kind, 2500)
	s.Sale(s.twin.ID, s.kind, 50) // earns nothing
	redemption := s.Redeem(s.twin.ID, s.Reward(5, new(int64(3))))
	c := s.Coupon(coupon.New{Name: "Welcome back", BenefitType: "points", BenefitValue: new(int64(7))})
	s.Voucher(c.ID, s.kept.ID)
	voucher := s.Voucher(c.ID, s.twin.ID)
	s.Adjust(s.twin.ID, ledger.Stamps, 3)
	s.Check(s.Customers.SetNote(ctx, s.By, s.twin.ID, "Allergic to nuts"))
	for tag, of := range map[string]core.ID{"Regular": s.twin.ID, "Decaf": s.kept.ID} {
		s.Check(s.Customers.AddTag(ctx, s.By, of, tag))
	}
	s.Must(s.Customers.Unsubscribe(ctx, s.By, s.twin.ID))

	before, err := s.merging.Preview(ctx, s.By, s.kept.ID, s.twin.ID, nil)
	if s.Check(err); before.Points != 30 || before.Stamps != 3 || before.Merged.Sales != 2 || before.Merged.Redemptions != 1 || before.Merged.Vouchers != 1 {
		t.Errorf("preview: %+v", before)
	}
	kept, err := core.Result(s.merging.Merge(ctx, s.By, s.kept.ID, s.twin.ID, nil, nil))
	s.Check(err)
	if kept.ID != s.kept.ID || kept.FirstName != "Anna" || kept.Email == nil || *kept.Email != "annie@example.com" || kept.UnsubscribedAt == nil {
		t.Errorf("kept: %+v", kept)
	}
	s.wantAccount(s.kept, ledger.Account{Points: 30, Stamps: 3})
	s.Verify()

	for who, want := range map[core.ID][]string{
		s.kept.ID: {"1 earn 10 points to 10", "2 merge 20 points to 30", "3 merge 3 stamps to 3"},
		s.twin.ID: {"1 earn 25 points to 25", "2 redemption -5 points to 20", "3 adjustment 3 stamps to 3", "4 merge -20 points to 0", "5 merge -3 stamps to 0"},
	} {
		if diff := cmp.Diff(want, s.ledger(who)); diff != "" {
			t.Errorf("ledger (-want +got):\n%s", diff)
		}
	}
	p, err := s.Customers.Profile(ctx, s.By, s.kept.ID)
	s.Check(err)
	if p.Visits != 3 || p.SpentCents != 3550 || p.Sales != 3 || p.Redemptions != 1 || p.Vouchers != 2 || p.Note == nil || !slices.Equal(p.Tags, []string{"Decaf", "Regular"}) {
		t.Errorf("profile: %+v", p)
	}

	// A void afterwards is the kept customer's, and so are the redemption and the voucher.
	s.VoidSale(sale.ID)
	s.VoidRedemption(redemption.ID)
	if v := s.RedeemVoucher(voucher); v.CustomerID != s.kept.ID {
		t.Errorf("the voucher is %s's", v.CustomerID)
	}
	s.wantAccount(s.kept, ledger.Account{Points: 17, Stamps: 3})
	s.Verify()
}

// The duplicate is gone: not found, listed, counted, sold to or adjusted; its phone number is free again.
func TestADuplicateIsGone(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	offer := s.Reward(1, nil)
	s.Check(s.merge(s.kept, s.twin))
	if _, err := s.Customers.Find(ctx, s.By, s.twin.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("find: %v", err)
	}
	for name, err := range map[string]error{
		"profile": second(s.Customers.Profile(ctx, s.By, s.twin.ID)),
		"edit":    second(s.Customers.Edit(ctx, s.By, s.twin.ID, customer.Edit{Status: core.Set("active")})),
		"adjust":  second(core.Result(s.Customers.Adjust(ctx, s.By, s.twin.ID, customer.Adjustment{Unit: "points", Amount: 5, Reason: "x"}, nil))),
		"sales":   second(s.Sales.ListByCustomer(ctx, s.By, s.twin.ID, core.Page{Size: 2})),
		"note":    s.Customers.SetNote(ctx, s.By, s.twin.ID, "x"),
		"erase":   second(s.Privacy.Erase(ctx, s.By, s.twin.ID)),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	_, err := core.Result(s.Sales.Record(ctx, s.By, transaction.Sale{CustomerID: s.twin.ID, TransactionTypeID: s.kind.ID, SpendAmountCents: 500, Source: transaction.API}, nil, nil))
	shoptest.WantFields(t, err, core.Fields{"customer_ulid": {core.InvalidChoice}})
	_, err = core.Result(s.Rewards.Redeem(ctx, s.By, reward.RedeemRequest{CustomerID: s.twin.ID, RewardID: offer}, nil, nil))
	shoptest.WantFields(t, err, core.Fields{"customer_ulid": {core.InvalidChoice}})
	for _, search := range []*string{nil, new("annie"), new(s.twin.Phone)} {
		got, err := s.Customers.List(ctx, s.By, customer.Filter{Search: search}, core.Page{Size: 5})
		s.Check(err)
		if slices.ContainsFunc(got.Items, func(c customer.Customer) bool { return c.ID == s.twin.ID }) {
			t.Errorf("a search finds the duplicate: %+v", got.Items)
		}
	}
	if m, err := s.Customers.FindMerged(ctx, s.By, s.twin.ID); err != nil || m.MergedInto != s.kept.ID || m.FirstName != "Annie" {
		t.Errorf("merged: %+v, %v", m, err)
	}
	s.Verify()
}

func second[T any](_ T, err error) error { return err }

// What can't be merged is refused, and nothing changes.
func TestRefusedMerges(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	other := shoptest.In(t, s.DB)
	cashier := s.As(core.Cashier).By
	invalid := core.Fields{"customer_ulid": {core.InvalidChoice}}
	for _, id := range []core.ID{s.kept.ID, core.NewID(s.DB.Now()), other.Customer().ID} {
		shoptest.WantFields(t, second(core.Result(s.merging.Merge(ctx, s.By, s.kept.ID, id, nil, nil))), invalid)
		shoptest.WantFields(t, second(s.merging.Preview(ctx, s.By, s.kept.ID, id, nil)), invalid)
	}
	missing := core.Fields{"customer_ulid": {core.Required}}
	shoptest.WantFields(t, second(core.Result(s.merging.Merge(ctx, s.By, s.kept.ID, core.ID{}, missing, nil))), missing)
	if err := second(core.Result(s.merging.Merge(ctx, other.By, s.kept.ID, s.twin.ID, nil, nil))); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("another tenant's: %v", err)
	}
	if err := second(core.Result(s.merging.Merge(ctx, cashier, s.kept.ID, s.twin.ID, nil, nil))); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier's: %v", err)
	}
	s.Adjust(s.twin.ID, ledger.Points, 1)
	s.Exec("update loyalty.account set points = $1 where customer_id = $2", int64(math.MaxInt64), s.kept.ID)
	if err := s.merge(s.kept, s.twin); !errors.Is(err, merging.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := s.merging.Preview(ctx, s.By, s.kept.ID, s.twin.ID, nil); !errors.Is(err, merging.ErrTooLarge) {
		t.Errorf("preview of too large: %v", err)
	}
	s.Exec("update loyalty.account set points = 0 where customer_id = $1", s.kept.ID)
	s.Must(s.Privacy.Erase(ctx, s.By, s.twin.ID))
	shoptest.WantFields(t, s.merge(s.kept, s.twin), invalid)
	if err := s.merge(s.twin, s.kept); !errors.Is(err, customer.ErrErased) {
		t.Errorf("into an erased one: %v", err)
	}
	s.Verify()
}

// A balance below zero moves too, and an inactive duplicate can be merged.
func TestBalancesBelowZeroAndInactiveDuplicates(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sale := s.Sale(s.twin.ID, s.kind, 1000)
	s.Redeem(s.twin.ID, s.Reward(8, nil))
	s.VoidSale(sale.ID)
	s.Sale(s.kept.ID, s.kind, 300)
	s.Must(s.Customers.Edit(t.Context(), s.By, s.twin.ID, customer.Edit{Status: core.Set("inactive")}))
	s.Check(s.merge(s.kept, s.twin))
	s.wantAccount(s.kept, ledger.Account{Points: -5})
	s.Verify()
}

// A chain of merges ends at the last customer; two that merge each other leave one.
func TestChainsAndCircles(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	third := s.add("Third", nil)
	for i, c := range []customer.Customer{s.kept, s.twin, third} {
		s.Adjust(c.ID, ledger.Points, int64(i+1))
	}
	s.Check(s.merge(s.twin, s.kept))
	s.Check(s.merge(third, s.twin))
	s.wantAccount(third, ledger.Account{Points: 6})
	for _, c := range []customer.Customer{s.kept, s.twin} {
		if m, err := s.Customers.FindMerged(t.Context(), s.By, c.ID); err != nil || m.MergedInto != third.ID {
			t.Errorf("%s leads to %+v, %v", c.FirstName, m, err)
		}
	}
	for range 5 {
		a, b := s.add("A", nil), s.add("B", nil)
		s.Adjust(a.ID, ledger.Points, 10)
		s.Adjust(b.ID, ledger.Points, 5)
		var errs [2]error
		var both sync.WaitGroup
		both.Go(func() { errs[0] = s.merge(a, b) })
		both.Go(func() { errs[1] = s.merge(b, a) })
		both.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("both ways at once: %v", errs)
		}
		kept := a
		if errs[0] != nil {
			kept = b
		}
		s.wantAccount(kept, ledger.Account{Points: 15})
	}
	s.Verify()
}

// What happens to the duplicate at the same time ends in the kept customer's balance, or is refused.
func TestAMergeBesideEverythingElse(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx, offer := t.Context(), s.Reward(1, nil)
	for range 6 {
		kept, twin := s.add("Kept", nil), s.add("Twin", nil)
		s.Adjust(twin.ID, ledger.Points, 100)
		var sales, redemptions []core.ID
		for range 3 {
			sales = append(sales, s.Sale(twin.ID, s.kind, 700).ID)
			redemptions = append(redemptions, s.Redeem(twin.ID, offer).ID)
		}
		vouchers := []core.ID{}
		for range 3 {
			c := s.Coupon(coupon.New{Name: "Seven", BenefitType: "points", BenefitValue: new(int64(7))})
			vouchers = append(vouchers, s.Voucher(c.ID, twin.ID))
		}
		free := s.Coupon(coupon.New{Name: "Free", BenefitType: "reward", BenefitRewardID: new(offer)})
		vouchers = append(vouchers, s.Voucher(free.ID, twin.ID))

		var all sync.WaitGroup
		fails := func(what string, err error, allowed ...error) {
			if err != nil && !slices.ContainsFunc(allowed, func(a error) bool { return errors.Is(err, a) }) {
				var refused *core.Error
				if !errors.As(err, &refused) || len(refused.Fields["customer_ulid"]) == 0 {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
		for i := range 8 {
			all.Go(func() {
				_, err := core.Result(s.Sales.Record(ctx, s.By, transaction.Sale{CustomerID: twin.ID, TransactionTypeID: s.kind.ID, SpendAmountCents: 50 + 100*int64(i), Source: transaction.POS}, nil, nil))
				fails("sale", err)
			})
			all.Go(func() {
				_, err := core.Result(s.Rewards.Redeem(ctx, s.By, reward.RedeemRequest{CustomerID: twin.ID, RewardID: offer}, nil, nil))
				fails("redemption", err)
			})
			all.Go(func() {
				_, err := core.Result(s.Customers.Adjust(ctx, s.By, twin.ID, customer.Adjustment{Unit: "points", Amount: 1, Reason: "x"}, nil))
				fails("adjustment", err, core.ErrNotFound)
			})
		}
		for i := range sales {
			all.Go(func() { fails("void", second(core.Result(s.Sales.Void(ctx, s.By, sales[i], nil, nil)))) })
			all.Go(func() { fails("void", second(s.Rewards.Void(ctx, s.By, redemptions[i], "Wrong"))) })
		}
		for _, v := range vouchers {
			all.Go(func() { fails("voucher", second(core.Result(s.Coupons.Redeem(ctx, s.By, v, nil)))) })
		}
		all.Go(func() { fails("merge", s.merge(kept, twin)) })
		all.Wait()
		if n := s.Count(fmt.Sprintf("account where customer_id = '%x' and (points <> 0 or stamps <> 0)", twin.ID[:])); n != 0 {
			t.Error("a balance is left on the duplicate")
		}
		for _, table := range []string{"transaction", "redemption", "voucher"} {
			if n := s.Count(fmt.Sprintf("%s where customer_id = '%x'", table, twin.ID[:])); n != 0 {
				t.Errorf("%d of table %s are left on the duplicate", n, table)
			}
		}
	}
	s.Verify()
}

// While a customer is merged, tills record sales to both, several in one statement. Every answered sale is the kept
// customer's afterwards. The others were refused because of the customer.
func TestAMergeBesideSalesTogether(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	stamps := s.Stamps()
	for range 20 {
		kept, twin := s.add("Kept", nil), s.add("Twin", nil)
		s.Sale(kept.ID, s.kind, 100)
		s.Sale(twin.ID, stamps, 100) // both types are known from now on
		var mu sync.Mutex
		want, answered, refused := ledger.Account{Points: 1, Stamps: 1}, []core.ID{}, 0
		var all, begun sync.WaitGroup
		begun.Add(20)
		for till := range 20 {
			all.Go(func() {
				for i := range 6 {
					n := transaction.Sale{CustomerID: kept.ID, TransactionTypeID: s.kind.ID, SpendAmountCents: 300, Source: transaction.API}
					if till%2 == 0 {
						n.CustomerID = twin.ID
					}
					if i%3 == 0 {
						n.TransactionTypeID = stamps.ID
					}
					made, err := core.Result(s.Sales.Record(t.Context(), s.By, n, nil, nil))
					if i == 0 {
						begun.Done()
					}
					mu.Lock()
					var refusal *core.Error
					switch {
					case err == nil:
						answered = append(answered, made.ID)
						if made.PointsAwarded != nil {
							want.Points += *made.PointsAwarded
						} else {
							want.Stamps += *made.StampsAwarded
						}
					case till%2 == 0 && errors.As(err, &refusal) && len(refusal.Fields) == 1 && len(refusal.Fields["customer_ulid"]) == 1:
						refused++
					default:
						t.Errorf("a sale to %s: %v", n.CustomerID, err)
					}
					mu.Unlock()
				}
			})
		}
		begun.Wait()
		s.Check(s.merge(kept, twin))
		all.Wait()
		if len(answered)+refused != 120 {
			t.Errorf("%d sales were answered and %d refused, want 120 in all", len(answered), refused)
		}
		if n := shoptest.Query[int](s.Shop, "select count(*) from loyalty.transaction where customer_id = $1 and id = any ($2)", kept.ID, answered); n != len(answered) {
			t.Errorf("the kept customer has %d of %d answered sales", n, len(answered))
		}
		if n := shoptest.Query[int](s.Shop, "select count(*) from loyalty.transaction where customer_id in ($1, $2)", kept.ID, twin.ID); n != 2+len(answered) {
			t.Errorf("%d sales, want those answered and the first two, which are %d", n, 2+len(answered))
		}
		s.wantAccount(kept, want)
		t.Logf("%d answered, %d refused", len(answered), refused)
	}
	s.Verify()
	s.WantSalesTogether()
}

// A sale that waits for its account keeps its customer from being merged until it is recorded, and then moves. A sale
// that waits while its customer is merged is refused, and those that travel with it are recorded.
func TestAMergeBesideSalesThatWait(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	other := s.add("Other", nil)
	s.Sale(s.kept.ID, s.kind, 100) // the type is known from now on
	owner := dbtest.Owner(s.DB)
	hold := func(id core.ID) (pid uint32, release func()) {
		tx, err := owner.Begin(t.Context())
		s.Check(err)
		t.Cleanup(func() { tx.Rollback(context.Background()) }) //nolint:errcheck // if the test fails
		s.Must(tx.Exec(t.Context(), "select from loyalty.account where tenant_id = $1 and customer_id = $2 for update", s.By.Tenant.ID, id))
		return tx.Conn().PgConn().PID(), func() { s.Check(tx.Commit(t.Context())) }
	}
	isBlocking := dbtest.IsBlocking(t)
	sell := func(to ...core.ID) (results []chan error) {
		for _, id := range to {
			result := make(chan error, 1)
			results = append(results, result)
			go func() {
				_, err := core.Result(s.Sales.Record(t.Context(), s.By, transaction.Sale{
					CustomerID: id, TransactionTypeID: s.kind.ID, SpendAmountCents: 300, Source: transaction.API,
				}, nil, nil))
				result <- err
			}()
		}
		return results
	}
	merged := make(chan error, 1)
	merge := func() { merged <- s.merge(s.kept, s.twin) }

	// While the first sale waits, the next two arrive, and travel together.
	first, releaseFirst := hold(s.kept.ID)
	ahead := sell(s.kept.ID)
	s.Wait("a sale waits", isBlocking, first)
	account, releaseAccount := hold(s.twin.ID)
	together := sell(s.twin.ID, other.ID)
	releaseFirst()
	s.Wait("the sales wait", isBlocking, account)
	go merge()
	s.Wait("the merge waits for them", `
		select exists (
			select
			from `+dbtest.Waits(t)+` sale
			join `+dbtest.Waits(t)+` merge on merge.blocking = sale.waiting
			where sale.blocking = $1
		)`, account)
	releaseAccount()
	for _, result := range append(ahead, append(together, merged)...) {
		s.Check(<-result)
	}
	s.wantAccount(s.kept, ledger.Account{Points: 1 + 3 + 3})
	s.wantAccount(other, ledger.Account{Points: 3})

	// The merge holds its customers and waits for the account of the one who is kept.
	s.twin = s.add("Twin", nil)
	account, releaseAccount = hold(s.kept.ID)
	go merge()
	s.Wait("the merge waits", isBlocking, account)
	refused := sell(s.twin.ID, other.ID)
	s.Wait("a sale waits for the merge", `
		select exists (
			select
			from `+dbtest.Waits(t)+` merge
			join `+dbtest.Waits(t)+` sale on sale.blocking = merge.waiting
			where merge.blocking = $1
		)`, account)
	releaseAccount()
	s.Check(<-merged)
	var refusal *core.Error
	if err := <-refused[0]; !errors.As(err, &refusal) || len(refusal.Fields["customer_ulid"]) != 1 {
		t.Errorf("a sale to a customer who was merged: %v", err)
	}
	s.Check(<-refused[1])
	s.wantAccount(s.kept, ledger.Account{Points: 1 + 3 + 3})
	s.wantAccount(other, ledger.Account{Points: 3 + 3})
	s.Verify()
}

// Refunds move with their sale, whose rest is taken from the customer who is kept.
func TestASaleThatWasRefundedMoves(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, double := s.add("Anna", nil), s.add("Ann", nil)
	sale := s.Sale(double.ID, s.Points(100), 1000)
	s.Refund(sale.ID, 250)
	s.Check(s.merge(anna, double))
	s.Refund(sale.ID, 250)
	s.wantAccount(anna, ledger.Account{Points: 5})
	d, err := s.Sales.Detail(t.Context(), s.By, sale.ID)
	if err != nil || len(d.Refunds) != 2 || len(d.Entries) != 3 || d.Entries[0].Kind != ledger.Earn {
		t.Errorf("the sale is %+v, %v", d, err)
	}
	s.VoidSale(sale.ID)
	s.wantAccount(anna, ledger.Account{})
	s.Verify()
}

// A send beside merges creates no voucher for a duplicate; a scheduled one reaches the customer who was kept.
func TestAMergeBesideASend(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(coupon.New{Name: "Seven", BenefitType: "points", BenefitValue: new(int64(7))})
	var all sync.WaitGroup
	for i := range 10 {
		kept, twin := s.add("Kept", nil), s.add("Twin", nil)
		all.Go(func() {
			for errors.Is(s.merge(kept, twin), coupon.ErrSending) {
			}
		})
		if i == 5 {
			all.Go(func() { s.Send(c.ID, coupon.Send{Segment: coupon.All}) })
		}
	}
	all.Wait()
	if n := s.Count("voucher where customer_id in (select id from loyalty.customer where merged_into is not null)"); n != 0 {
		t.Errorf("%d vouchers of duplicates", n)
	}
	s.Check(s.merge(s.kept, s.twin))
	s.Verify()
}

// "However much moves."
func TestRoundTripsOfAMerge(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := &shop{Shop: shoptest.In(t, d)}
	s.merging, s.kind = s.Merging, s.Points(100)
	s.Check(s.merge(s.add("Anna", nil), s.add("Annie", nil))) // prepares the statements
	for _, sales := range []int{0, 20} {
		kept, twin := s.add("Anna", nil), s.add("Annie", nil)
		for range sales {
			s.Sale(twin.ID, s.kind, 1000)
		}
		before := count()
		s.Check(s.merge(kept, twin))
		if got := count() - before; got != 9 {
			t.Errorf("a merge with %d sales makes %d round trips, want 9", sales, got)
		}
	}
}

// Links that were mailed for the duplicate stay valid, and revoking the kept customer's revokes them.
func TestLinksOfADuplicate(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	c := s.Coupon(coupon.New{Name: "Seven", BenefitType: "points", BenefitValue: new(int64(7))})
	voucher := s.Voucher(c.ID, s.twin.ID)
	s.Exec("update loyalty.customer set link_version = 4 where id = $1", s.twin.ID)
	s.Exec("update loyalty.customer set link_version = 9 where id = $1", s.kept.ID)
	shown, err := s.Coupons.FindVoucher(ctx, s.By, voucher)
	s.Check(err)
	token, err := s.Coupons.VoucherToken(s.By.Tenant.ID, shown)
	s.Check(err)
	s.Check(s.merge(s.kept, s.twin))
	if v, err := s.Coupons.OpenVoucher(ctx, s.By.Tenant, token); err != nil || v.CustomerID != s.kept.ID {
		t.Errorf("after the merge: %+v, %v", v, err)
	}
	s.Must(s.Privacy.Erase(ctx, s.By, s.kept.ID))
	if _, err := s.Coupons.OpenVoucher(ctx, s.By.Tenant, token); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("after erasing: %v", err)
	}
}

// The duplicate's data is in the kept customer's download, and is erased with them.
func TestPrivacyOfADuplicate(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx, service := t.Context(), s.Privacy
	s.Sale(s.twin.ID, s.kind, 2500)
	s.Check(s.merge(s.kept, s.twin))
	var file strings.Builder
	s.Check(service.WriteData(ctx, s.By, s.kept.ID, &file))
	for _, part := range []string{`"Annie"`, `"points_moved":25`, `"kind":"earn"`, `"kind":"merge"`, s.twin.Phone} {
		if !strings.Contains(strings.ReplaceAll(file.String(), ": ", ":"), part) {
			t.Errorf("the download lacks %s: %s", part, file.String())
		}
	}
	s.Must(service.Erase(ctx, s.By, s.kept.ID))
	if n := s.Count("audit_entry where concat(old, new, customer_name, subject_name) ~ 'Annie|" + strings.ReplaceAll(s.twin.Phone, " ", ".") + "|annie@example.com'"); n != 0 {
		t.Errorf("%d entries of the log still name the duplicate", n)
	}
	if n := s.Count("customer_merge where first_name = 'Annie'"); n != 0 {
		t.Error("the merge still names the duplicate")
	}
	s.Verify()
}

func (s *shop) upsert(phone string, email *string) customer.Upserted {
	s.T.Helper()
	n := shoptest.Anna(phone)
	n.Email = core.OrZero(email)
	got, err := core.Result(s.Customers.Upsert(s.T.Context(), s.By, n, nil))
	s.Check(err)
	return got
}

// alsoFoundBy returns the texts of a customer's further keys.
func (s *shop) alsoFoundBy(id core.ID) (texts []string) {
	s.T.Helper()
	p, err := s.Customers.Profile(s.T.Context(), s.By, id)
	s.Check(err)
	for _, f := range p.Further {
		texts = append(texts, f.Text)
	}
	return texts
}

// A merged duplicate doesn't come back: its phone number and e-mail address lead to the kept customer everywhere.
func TestADuplicatesKeysLeadToTheKeptCustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	s.Must(s.Customers.Edit(ctx, s.By, s.kept.ID, customer.Edit{Email: core.Set("anna@example.com")}))
	s.Check(s.merge(s.kept, s.twin))
	phone, email := s.twin.Phone, *s.twin.Email
	if diff := cmp.Diff([]string{phone, email}, s.alsoFoundBy(s.kept.ID)); diff != "" {
		t.Errorf("also found by (-want +got):\n%s", diff)
	}

	for what, got := range map[string]customer.Upserted{
		"phone":  s.upsert(phone, nil),
		"e-mail": s.upsert(shoptest.Phone(), new("ANNIE@example.com")),
		"both":   s.upsert(phone, &email),
	} {
		if got.Created || got.ID != s.kept.ID || got.Phone != s.kept.Phone {
			t.Errorf("upsert by %s: %+v", what, got)
		}
	}
	last := phone[len(phone)-4:]
	for _, typed := range []string{phone, last} {
		found, _, err := s.Customers.FindAtTill(ctx, s.By, typed)
		if s.Check(err); !slices.ContainsFunc(found, func(c customer.Customer) bool { return c.ID == s.kept.ID }) {
			t.Errorf("the till doesn't find them by %s", typed)
		}
	}
	for what, f := range map[string]customer.Filter{
		"phone": {Phone: &phone}, "email": {Email: &email}, "search": {Search: &email}, "search by number": {Search: &phone},
		"search with the phone": {Search: new("Anna"), Phone: &phone}, "search with the e-mail": {Search: new("Anna"), Email: &email},
	} {
		found, err := s.Customers.List(ctx, s.By, f, core.Page{Size: 5})
		if s.Check(err); len(found.Items) != 1 || found.Items[0].ID != s.kept.ID {
			t.Errorf("%s finds %+v", what, found.Items)
		}
	}
	imported, err := db.In(ctx, s.DB.Tenant(s.By), func(tx *db.Tx) (int, error) {
		details, err := shoptest.Anna(phone).Validate("SE", false, s.DB.Now())
		if err != nil {
			return 0, err
		}
		all := []customer.Imported{{ID: core.NewID(tx.Now), Details: details}}
		taken, err := customer.TakenKeys(ctx, tx, all)
		if who, field, found := taken.Find(details); err == nil && (!found || who != s.kept.ID || field != "phone") {
			t.Error("an import's check calls them new")
		}
		made, err := customer.InsertAll(ctx, tx, all)
		return len(made), err
	})
	if s.Check(err); imported != 0 {
		t.Errorf("an import makes %d", imported)
	}
	for _, contact := range []string{phone, email} {
		who, err := customer.ReadContact(contact, "SE")
		s.Check(err)
		found, err := db.In(ctx, s.DB.Tenant(s.By), func(tx *db.Tx) (customer.Customer, error) { return customer.FindByContact(ctx, tx, who) })
		if err != nil || found.ID != s.kept.ID {
			t.Errorf("their own card by %s: %+v, %v", contact, found, err)
		}
	}
	s.Verify()
}

// Another customer can't take a further key by an edit. The customer themselves can, and then it is their own.
func TestFurtherKeysAreTaken(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	s.Must(s.Customers.Edit(ctx, s.By, s.kept.ID, customer.Edit{Email: core.Set("anna@example.com")}))
	other := s.add("Bo", nil)
	s.Check(s.merge(s.kept, s.twin))
	by := core.Violation{Rule: "taken_by", Other: "Anna Lindqvist", Records: [2]core.ID{s.kept.ID}}
	_, err := s.Customers.Edit(ctx, s.By, other.ID, customer.Edit{Phone: core.Set(s.twin.Phone), Email: core.Set("annie@example.com")})
	shoptest.WantFields(t, err, core.Fields{"phone": {by}, "email": {by}})
	_, err = s.Customers.Edit(ctx, s.By, other.ID, customer.Edit{FirstName: core.Set("Bosse")})
	s.Check(err)

	_, err = s.Customers.Edit(ctx, s.By, s.kept.ID, customer.Edit{Phone: core.Set(s.twin.Phone)})
	s.Check(err)
	if diff := cmp.Diff([]string{"annie@example.com"}, s.alsoFoundBy(s.kept.ID)); diff != "" {
		t.Errorf("also found by (-want +got):\n%s", diff)
	}
	// Their number before is free, like after every edit.
	if made := s.upsert(s.kept.Phone, nil); !made.Created {
		t.Error("the number that was replaced isn't free")
	}
	s.Verify()
}

// A manager removes a further key. It is free then, and no search finds the customer by it.
func TestRemoveAFurtherKey(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	s.Check(s.merge(s.kept, s.twin))
	p, err := s.Customers.Profile(ctx, s.By, s.kept.ID)
	if s.Check(err); len(p.Further) != 1 {
		t.Fatalf("further keys: %+v", p.Further)
	}
	key := p.Further[0].Key
	if _, err := s.Customers.RemoveKey(ctx, s.As(core.Cashier).By, s.kept.ID, customer.PhoneKey, key); !core.IsKind(err, core.KindForbidden) {
		t.Errorf("as a cashier = %v", err)
	}
	other := s.add("Bo", nil)
	s.Must(s.Customers.RemoveKey(ctx, s.By, other.ID, customer.PhoneKey, key)) // not theirs
	if len(s.alsoFoundBy(s.kept.ID)) != 1 {
		t.Error("another's key was removed")
	}
	for range 2 {
		s.Must(s.Customers.RemoveKey(ctx, s.By, s.kept.ID, customer.PhoneKey, key))
	}
	found, err := s.Customers.List(ctx, s.By, customer.Filter{Search: &s.twin.Phone}, core.Page{Size: 5})
	if s.Check(err); len(found.Items) != 0 || len(s.alsoFoundBy(s.kept.ID)) != 0 {
		t.Errorf("still found: %+v", found.Items)
	}
	if made := s.upsert(s.twin.Phone, nil); !made.Created {
		t.Error("the number isn't free")
	}
	if n := shoptest.Query[int](s.Shop, "select count(*) from loyalty.audit_entry where action = 'customer.remove_key' and subject_id = $1", s.kept.ID.String()); n != 1 {
		t.Errorf("%d audit entries", n)
	}
	s.Verify()
}

// Further keys go along with the next merge, are read again when the country changes, and are in the download.
func TestFurtherKeysMoveWithTheNextMerge(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	final := s.add("Anneli", new("anneli@example.com"))
	s.Check(s.merge(s.kept, s.twin)) // takes over annie@example.com
	s.Check(s.merge(final, s.kept))
	if diff := cmp.Diff(map[string]bool{s.twin.Phone: true, s.kept.Phone: true, "annie@example.com": true}, set(s.alsoFoundBy(final.ID))); diff != "" {
		t.Errorf("also found by (-want +got):\n%s", diff)
	}
	if got := s.upsert(s.twin.Phone, nil); got.ID != final.ID {
		t.Errorf("the first duplicate's number leads to %s", got.FirstName)
	}
	var file bytes.Buffer
	s.Check(s.Privacy.WriteData(ctx, s.By, final.ID, &file))
	for _, text := range []string{s.twin.Phone, s.kept.Phone, "annie@example.com"} {
		if !strings.Contains(file.String(), text) {
			t.Errorf("the download lacks %s", text)
		}
	}
	_, err := db.In(ctx, s.DB.Platform(), func(tx *db.Tx) (int, error) {
		if err := tx.Enter(s.By.Tenant.ID); err != nil {
			return 0, err
		}
		return 0, customer.Rekey(ctx, tx, "DE")
	})
	s.Check(err)
	keys := shoptest.QueryAll[string](s.Shop, "select key from loyalty.customer_key where tenant_id = $1 and kind = 'phone'", s.By.Tenant.ID)
	for _, key := range keys {
		if !strings.HasPrefix(key, "+49") {
			t.Errorf("after the change of the country: %s", key)
		}
	}
	if len(keys) != 2 {
		t.Errorf("keys: %v", keys)
	}

	s.Must(s.Privacy.Erase(ctx, s.By, final.ID))
	if n := s.Count("customer_key"); n != 0 {
		t.Errorf("%d keys are left after erasing", n)
	}
	if left := shoptest.Query[int](s.Shop, `
		select count(*) from loyalty.customer where tenant_id = $1 and (folded like '%' || $2 || '%' or search_key like '%' || $2 || '%')`,
		s.By.Tenant.ID, "annie@example.com"); left != 0 {
		t.Error("a search text has the erased address")
	}
	s.Verify()
}

func set(texts []string) map[string]bool {
	found := map[string]bool{}
	for _, text := range texts {
		found[text] = true
	}
	return found
}

// While duplicates are merged, their numbers are upserted and others try to take them: no duplicate comes back as
// a new customer, and a number has one holder.
func TestUpsertsDuringMerges(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	other := s.add("Bo", nil)
	for range 15 {
		twin := s.add("Annie", nil)
		var all sync.WaitGroup
		start := make(chan struct{})
		for range 4 {
			all.Go(func() {
				<-start
				for range 3 {
					if got, err := core.Result(s.Customers.Upsert(ctx, s.By, shoptest.Anna(twin.Phone), nil)); err != nil || got.Created {
						t.Errorf("upsert = %+v, %v", got, err)
					}
				}
			})
		}
		all.Go(func() {
			<-start
			_, err := s.Customers.Edit(ctx, s.By, other.ID, customer.Edit{Phone: core.Set(twin.Phone)})
			if taken := shoptest.Fields(t, err)["phone"]; len(taken) != 1 {
				t.Errorf("another takes the number: %v", err)
			}
		})
		all.Go(func() {
			<-start
			s.Check(s.merge(s.kept, twin))
		})
		close(start)
		all.Wait()
	}
	if n := shoptest.Query[int](s.Shop, "select count(*) from loyalty.customer where tenant_id = $1 and merged_into is null", s.By.Tenant.ID); n != 3 {
		t.Errorf("%d customers, want the kept one, Bo and the unmerged duplicate", n)
	}
	s.Verify()
}

// A merged customer's external ID leads to the kept one, as their own or as a further one, and metadata are joined: where
// both have a key, the kept customer's value stays.
func TestAMergeHandsOnAProgramsFields(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	edit := func(c customer.Customer, id string, metadata map[string]*string) {
		t.Helper()
		s.Must(s.Customers.Edit(ctx, s.By, c.ID, customer.Edit{ExternalID: core.Set(id), Metadata: core.Set(metadata)}))
	}
	leadsTo := func(id string, want customer.Customer) {
		t.Helper()
		got, err := core.Result(s.Customers.Upsert(ctx, s.By, customer.New{FirstName: "A", LastName: "B", Phone: shoptest.Phone(), ExternalID: id}, nil))
		if s.Check(err); got.ID != want.ID || got.Created {
			t.Errorf("%s leads to %+v", id, got)
		}
	}
	edit(s.twin, "twin", map[string]*string{"a": new("twin"), "b": new("twin")})
	s.Check(s.merge(s.kept, s.twin))
	leadsTo("twin", s.kept)

	third := s.add("Ann", nil)
	edit(third, "third", map[string]*string{"b": new("third"), "c": new("third")})
	s.Check(s.merge(s.kept, third))
	leadsTo("third", s.kept)
	kept, err := s.Customers.Find(ctx, s.By, s.kept.ID)
	s.Check(err)
	if want := (core.Metadata{"a": "twin", "b": "twin", "c": "third"}); core.OrZero(kept.ExternalID) != "twin" || !cmp.Equal(kept.Metadata, want) {
		t.Errorf("kept: %v, %v", core.OrZero(kept.ExternalID), kept.Metadata)
	}
	for _, id := range []string{"twin", "third"} {
		l, err := s.Customers.List(ctx, s.By, customer.Filter{ExternalID: &id}, core.Page{Size: 3})
		if s.Check(err); len(l.Items) != 1 || l.Items[0].ID != s.kept.ID {
			t.Errorf("the filter %q finds %+v", id, l.Items)
		}
	}

	// Another customer can't have it, and the kept one may take it back as their own, or lose it.
	_, err = s.Customers.Edit(ctx, s.By, s.add("Bo", nil).ID, customer.Edit{ExternalID: core.Set("third")})
	if fields := shoptest.Fields(t, err); len(fields["external_id"]) != 1 || fields["external_id"][0].Rule != "taken_by" {
		t.Errorf("another customer took it: %v", err)
	}
	s.Must(s.Customers.Edit(ctx, s.By, s.kept.ID, customer.Edit{ExternalID: core.Optional[string]{Set: true}}))
	leadsTo("third", s.kept) // a further ID stays one
	if kept, err = s.Customers.Find(ctx, s.By, s.kept.ID); err != nil || kept.ExternalID != nil {
		t.Errorf("after finding them by a further ID: %v, %v", kept.ExternalID, err)
	}
	s.Must(s.Customers.Edit(ctx, s.By, s.kept.ID, customer.Edit{ExternalID: core.Set("third")}))
	s.Verify()
}

// Without a phone number, the kept customer takes over the duplicate's; a duplicate without one hands on none.
func TestAMergeWithoutPhoneNumbers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	s.Exec("update loyalty.tenant set phone_optional = true where id = $1", s.By.Tenant.ID)
	s.By.Tenant.PhoneOptional = true
	guest := s.AddCustomer(customer.New{FirstName: "Greta", LastName: "Nyman", Email: "greta@example.com"})
	other := s.AddCustomer(customer.New{FirstName: "Grete", LastName: "Nyman", Email: "grete@example.com"})
	s.Exec("update loyalty.customer set unchecked_since = now() where tenant_id = $1 and id = $2", s.By.Tenant.ID, s.kept.ID)

	s.Check(s.merge(guest, other))
	s.Check(s.merge(guest, s.kept))
	got, err := s.Customers.Find(ctx, s.By, guest.ID)
	if s.Check(err); got.Phone != s.kept.Phone || got.Erased || got.UncheckedSince == nil {
		t.Errorf("kept: %+v", got)
	}
	s.Check(s.merge(guest, s.twin))
	for _, n := range []customer.New{shoptest.Anna(s.kept.Phone), shoptest.Anna(s.twin.Phone), {FirstName: "G", LastName: "N", Email: "grete@example.com"}} {
		found, err := core.Result(s.Customers.Upsert(ctx, s.By, n, nil))
		if s.Check(err); found.ID != guest.ID {
			t.Errorf("%+v finds %+v", n, found)
		}
	}
	// A further number is still found when their own is removed.
	s.Must(s.Customers.Edit(ctx, s.By, guest.ID, customer.Edit{Phone: core.Optional[string]{Set: true}}))
	if found, _, err := s.Customers.FindAtTill(ctx, s.By, s.twin.Phone); err != nil || len(found) != 1 || found[0].ID != guest.ID {
		t.Errorf("by a further number: %+v, %v", found, err)
	}
	s.Verify()
}

// "Merge: sums add up year by year, the better level stays", with its last day, and both chains of changes end in what is stored.
func TestAMergeAddsUpLevels(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kept, twin int64 // points of a sale
		want       []string
	}{
		"together they reach a level": {150, 160, []string{"reached Silver", "merge Gold"}},
		"the duplicate's is higher":   {50, 320, []string{"merge Gold"}},
		"the kept one's is higher":    {320, 150, []string{"reached Gold"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.Levels(award.LevelRules{Basis: award.ByPoints, Period: award.ByYear, Drops: true},
				award.Level{Name: "Member"}, award.Level{Name: "Silver", Threshold: 100}, award.Level{Name: "Gold", Threshold: 300})
			s.Sale(s.kept.ID, s.kind, c.kept*100)
			s.Sale(s.twin.ID, s.kind, c.twin*100)
			s.Check(s.merge(s.kept, s.twin))
			got := shoptest.QueryAll[string](s.Shop, `
				select c.reason || ' ' || l.name
				from loyalty.level_change c
				join loyalty.level l on l.tenant_id = c.tenant_id and l.id = c.to_level
				where c.customer_id = $1
				order by c.seq`, s.kept.ID)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if sum := shoptest.Query[int64](s.Shop, "select level_sum from loyalty.account where customer_id = $1", s.kept.ID); sum != c.kept+c.twin {
				t.Errorf("the sum is %d", sum)
			}
			s.Sale(s.kept.ID, s.kind, 100)
			s.Verify()
		})
	}
}
