package change_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/change"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

type shop struct{ shoptest.Shop }

func newShop(t *testing.T) shop {
	t.Parallel()
	return shop{shoptest.New(t)}
}

// reader follows the changes of a business, as a program does that keeps a copy.
type reader struct {
	shop
	kinds []change.Kind
	size  int
	at    *core.Cursor
	seen  []string
}

// read reads what there is, and returns it as texts: "customer … created".
func (r *reader) read() (found []string) {
	r.T.Helper()
	for {
		l, err := r.Changes.List(r.T.Context(), r.By, r.kinds, nil, core.Page{Size: r.size, Cursor: r.at})
		r.Check(err)
		for _, c := range l.Items {
			text := fmt.Sprintf("%s %s %s", c.Kind, c.ID, c.What)
			if c.KeptID != nil {
				text += fmt.Sprintf(" %s", *c.KeptID)
			}
			found = append(found, text)
		}
		r.at = l.Resume
		if l.Next == nil {
			r.seen = append(r.seen, found...)
			return found
		}
	}
}

// readUntil reads until a change appears, as nothing before it may appear later.
func (r *reader) readUntil(kind change.Kind, id core.ID, what change.What) (found []string) {
	r.T.Helper()
	wanted := fmt.Sprintf("%s %s %s", kind, id, what)
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		found = append(found, r.read()...)
		if slices.Contains(found, wanted) {
			return found
		}
		if time.Now().After(end) {
			r.T.Fatalf("%q has not appeared within a minute", wanted)
		}
	}
}

func TestEachChangeIsListed(t *testing.T) {
	s := newShop(t)
	kind := s.Points(100)
	anna, bo := s.Customer(), s.Customer()
	sale, other := s.Sale(anna.ID, kind, 5_000), s.Sale(anna.ID, kind, 2_000)
	s.Must(s.Customers.Edit(t.Context(), s.By, anna.ID, customer.Edit{FirstName: core.Set("Annika")}))
	s.VoidSale(sale.ID)
	s.Refund(other.ID, 1_000)
	s.Adjust(bo.ID, ledger.Points, 40)
	reward := s.Reward(5, nil)
	redemption, undone := s.Redeem(bo.ID, reward), s.Redeem(bo.ID, reward)
	s.Must(core.Result(s.Rewards.Fulfil(t.Context(), s.By, redemption.ID, nil)))
	s.VoidRedemption(undone.ID)
	voucher := s.Voucher(s.Coupon(coupon.New{Name: "Hello", BenefitType: "points", BenefitValue: new(int64(3))}).ID, bo.ID)
	s.RedeemVoucher(voucher)
	restored := s.Voucher(s.Coupon(coupon.New{Name: "Back", BenefitType: "points", BenefitValue: new(int64(3))}).ID, bo.ID)
	s.RedeemVoucher(restored)
	s.Must(core.Result(s.Coupons.RestoreTyped(t.Context(), s.By, restored.String(), nil)))
	carl := s.Customer()
	s.Must(s.Privacy.Erase(t.Context(), s.By, carl.ID))
	s.Must(core.Result(s.Merging.Merge(t.Context(), s.By, anna.ID, bo.ID, nil, nil)))
	last := s.Customer()

	for _, size := range []int{1, 3, 100} {
		r := reader{shop: s, kinds: change.Kinds, size: size}
		found := r.readUntil(change.Customers, last.ID, change.Created)
		for _, want := range []string{
			fmt.Sprintf("customer %s created", anna.ID),
			fmt.Sprintf("transaction %s created", sale.ID),
			fmt.Sprintf("customer %s changed", anna.ID),
			fmt.Sprintf("transaction %s voided", sale.ID),
			fmt.Sprintf("transaction %s changed", other.ID),
			fmt.Sprintf("customer %s changed", bo.ID),
			fmt.Sprintf("redemption %s created", redemption.ID),
			fmt.Sprintf("redemption %s changed", redemption.ID),
			fmt.Sprintf("redemption %s voided", undone.ID),
			fmt.Sprintf("voucher %s created", voucher),
			fmt.Sprintf("voucher %s changed", voucher),
			fmt.Sprintf("voucher %s changed", restored),
			fmt.Sprintf("customer %s erased", carl.ID),
			fmt.Sprintf("customer %s merged %s", bo.ID, anna.ID),
		} {
			if !slices.Contains(found, want) {
				t.Errorf("in pages of %d, %q is missing", size, want)
			}
		}
		if more := r.read(); len(more) > 0 {
			t.Errorf("in pages of %d, the changes came again: %v", size, more)
		}
		if size == 100 {
			once := slices.Compact(slices.Sorted(slices.Values(found)))
			if len(once) != len(found) {
				t.Errorf("a page says something twice: %v", found)
			}
		}
	}
	sales := reader{shop: s, kinds: []change.Kind{change.Transactions}, size: 100}
	want := []string{
		fmt.Sprintf("transaction %s created", sale.ID), fmt.Sprintf("transaction %s created", other.ID),
		fmt.Sprintf("transaction %s voided", sale.ID), fmt.Sprintf("transaction %s changed", other.ID),
	}
	if diff := cmp.Diff(want, sales.read()); diff != "" {
		t.Errorf("of sales (-want +got):\n%s", diff)
	}
}

// unlisted are actions on records of these kinds that change nothing of what the API shows, or whose record or ledger entry is read.
var unlisted = []string{
	"customer.adjust", "customer.consent", "customer.create", "customer.download", "customer.export", "customer.level", "customer.note", "customer.same_key",
	"redemption.export", "transaction.export",
}

// A new action on a customer, a sale, a redemption or a voucher is a change, or it is among the unlisted.
func TestEveryActionIsListedOrNot(t *testing.T) {
	t.Parallel()
	for _, action := range audit.Actions(core.System(core.Tenant{}, "test")) {
		noun, _, _ := strings.Cut(action, ".")
		if !slices.Contains(change.Kinds, change.Kind(noun)) {
			continue
		}
		if change.Lists(action) == slices.Contains(unlisted, action) {
			t.Errorf("%s must be in audited (sql.go) or in unlisted, and not in both", action)
		}
	}
}

// 32 writers at once, alone and together, quick ones and some that take seconds to commit: a reader who follows them meanwhile sees each record.
func TestNothingIsSkipped(t *testing.T) {
	s := newShop(t)
	kind, buyers := s.Points(100), s.AddCustomers(16)
	var (
		writers sync.WaitGroup
		mu      sync.Mutex
		written = map[string]bool{}
	)
	wrote := func(k change.Kind, id core.ID, what change.What) {
		mu.Lock()
		defer mu.Unlock()
		written[fmt.Sprintf("%s %s %s", k, id, what)] = true
	}
	sell := func(n int, slowly time.Duration) (core.ID, error) {
		sale := transaction.Sale{CustomerID: buyers[n%len(buyers)], TransactionTypeID: kind.ID, SpendAmountCents: 1_000, Source: transaction.API}
		if slowly == 0 {
			made, err := core.Result(s.Sales.Record(t.Context(), s.By, sale, nil, nil))
			return made.ID, err
		}
		made, err := db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (transaction.Transaction, error) {
			made, err := s.Sales.RecordIn(t.Context(), tx, s.By, core.NewID(tx.Now), sale, core.NewCheck(nil))
			if err != nil {
				return made, err
			}
			_, err = db.One[bool](t.Context(), tx, `select pg_sleep(@seconds) is not null`, db.Args{"seconds": slowly.Seconds()})
			return made, err
		})
		return made.ID, err
	}
	const each = 12
	for w := range 32 {
		writers.Go(func() {
			for i := range each {
				switch {
				case w%8 == 0 && i%4 == 0:
					id, err := sell(w, time.Duration(w*100)*time.Millisecond)
					if err != nil {
						t.Error(err)
						return
					}
					wrote(change.Transactions, id, change.Created)
				case w%8 == 1:
					wrote(change.Customers, s.Customer().ID, change.Created)
				default:
					id, err := sell(w, 0)
					if err != nil {
						t.Error(err)
						return
					}
					wrote(change.Transactions, id, change.Created)
					if i%5 == 0 {
						s.VoidSale(id)
						wrote(change.Transactions, id, change.Voided)
					}
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		writers.Wait()
		close(done)
	}()
	r := reader{shop: s, kinds: change.Kinds, size: 7}
	for writing := true; writing; {
		select {
		case <-done:
			writing = false
		default:
		}
		r.read()
	}
	r.readUntil(change.Customers, s.Customer().ID, change.Created)
	for want := range written {
		if !slices.Contains(r.seen, want) {
			t.Errorf("%q was skipped", want)
		}
	}
	if len(written) < 32*each {
		t.Fatalf("only %d changes were written", len(written))
	}
}

// A sale that takes long to commit holds back those after it, but not those of other businesses if it is known to take long.
func TestALateCommit(t *testing.T) {
	s := newShop(t)
	kind, anna := s.Points(100), s.Customer()
	r := reader{shop: s, kinds: change.Kinds, size: 100}
	r.readUntil(change.Customers, anna.ID, change.Created)
	var late transaction.Transaction
	var after core.ID
	s.Check(db.Run(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (err error) {
		if err := db.TakeTime(tx); err != nil {
			return err
		}
		late, err = s.Sales.RecordIn(t.Context(), tx, s.By, core.NewID(tx.Now), transaction.Sale{
			CustomerID: anna.ID, TransactionTypeID: kind.ID, SpendAmountCents: 1_000, Source: transaction.API,
		}, core.NewCheck(nil))
		if err != nil {
			return err
		}
		if _, err := db.One[bool](t.Context(), tx, `select true as sent`, nil); err != nil {
			return err
		}
		other := shop{shoptest.New(t)}
		elsewhere := reader{shop: other, kinds: change.Kinds, size: 100}
		elsewhere.readUntil(change.Customers, other.Customer().ID, change.Created) // after two seconds
		after = s.Customer().ID
		time.Sleep(2500 * time.Millisecond)
		if seen := r.read(); len(seen) > 0 {
			t.Errorf("%v were listed before what was written earlier", seen)
		}
		return nil
	}))
	found := r.readUntil(change.Customers, after, change.Created)
	first, second := slices.Index(found, fmt.Sprintf("transaction %s created", late.ID)), slices.Index(found, fmt.Sprintf("customer %s created", after))
	if first < 0 || first > second {
		t.Errorf("the late sale is %d. and the later customer %d. in %v", first, second, found)
	}
}

func TestSalesThatChangedAsTheyAre(t *testing.T) {
	s := newShop(t)
	kind, anna, bo := s.Points(100), s.Customer(), s.Customer()
	voided, kept := s.Sale(anna.ID, kind, 1_000), s.Sale(bo.ID, kind, 2_000)
	r := reader{shop: s, kinds: change.Kinds, size: 100}
	r.readUntil(change.Transactions, kept.ID, change.Created)
	since := s.DB.Now()
	s.VoidSale(voided.ID)
	r.readUntil(change.Transactions, voided.ID, change.Voided)

	list := func(f transaction.Filter, since time.Time) (ids []core.ID) {
		l, err := s.Changes.Transactions(t.Context(), s.By, f, &since, core.Page{Size: 10})
		s.Check(err)
		for _, sale := range l.Items {
			ids = append(ids, sale.ID)
			if (sale.Status == transaction.Voided) != (sale.ID == voided.ID) {
				t.Errorf("sale %s is %s", sale.ID, sale.Status)
			}
		}
		return ids
	}
	for name, c := range map[string]struct{ got, want []core.ID }{
		"since":             {list(transaction.Filter{}, since), []core.ID{voided.ID}},
		"from the first":    {list(transaction.Filter{}, time.Time{}), []core.ID{kept.ID, voided.ID}},
		"of one customer":   {list(transaction.Filter{CustomerID: new(bo.ID.String())}, time.Time{}), []core.ID{kept.ID}},
		"completed":         {list(transaction.Filter{Status: new("completed")}, time.Time{}), []core.ID{kept.ID}},
		"of a time to come": {list(transaction.Filter{}, s.DB.Now().Add(time.Hour)), nil},
	} {
		slices.SortFunc(c.want, func(a, b core.ID) int { return slices.Compare(a[:], b[:]) })
		slices.SortFunc(c.got, func(a, b core.ID) int { return slices.Compare(a[:], b[:]) })
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	moved, err := s.Changes.Customers(t.Context(), s.By, customer.Filter{}, &since, core.Page{Size: 10})
	s.Check(err)
	if len(moved.Items) != 1 || moved.Items[0].ID != anna.ID || !moved.Items[0].UpdatedAt.Before(since) || moved.Items[0].BalanceChangedAt.Before(since) {
		t.Errorf("after a void %+v changed, want Anna's balance alone", moved.Items)
	}
}

// A reader whose clock is ahead begins now, and misses nothing from then on.
func TestAMomentToCome(t *testing.T) {
	s := newShop(t)
	buyer, kind := s.Customer(), s.Points(100)
	l, err := s.Changes.List(t.Context(), s.By, change.Kinds, new(s.DB.Now().Add(time.Hour)), core.Page{Size: 10})
	s.Check(err)
	sale := s.Sale(buyer.ID, kind, 1_000)
	r := reader{shop: s, kinds: change.Kinds, size: 10, at: l.Resume}
	r.readUntil(change.Transactions, sale.ID, change.Created)
}

func TestPositions(t *testing.T) {
	s := newShop(t)
	list := func(c core.Cursor) error {
		_, err := s.Changes.List(t.Context(), s.By, change.Kinds, nil, core.Page{Size: 10, Cursor: &c})
		return err
	}
	if err := list(core.Cursor{At: s.DB.Now().Add(-59 * 24 * time.Hour)}); err != nil {
		t.Errorf("a cursor of 59 days: %v", err)
	}
	if err := list(core.Cursor{At: s.DB.Now().Add(-61 * 24 * time.Hour)}); !errors.Is(err, change.ErrCursorExpired) {
		t.Errorf("a cursor of 61 days: %v", err)
	}
	shoptest.WantFields(t, list(core.Cursor{At: s.DB.Now(), Back: true}), core.Fields{"cursor": {core.InvalidChoice}})
}

func TestAnotherBusinesssChanges(t *testing.T) {
	s := newShop(t)
	other := shop{shoptest.New(t)}
	anna := other.Customer()
	theirs := reader{shop: other, kinds: change.Kinds, size: 10}
	theirs.readUntil(change.Customers, anna.ID, change.Created)
	ours := reader{shop: s, kinds: change.Kinds, size: 10}
	if found := ours.read(); len(found) > 0 {
		t.Errorf("a business reads another's changes: %v", found)
	}
}

func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shop{shoptest.In(t, d)}
	r := reader{shop: s, kinds: change.Kinds, size: 10}
	r.read()
	before := count()
	r.read()
	if n := count() - before; n != 1 {
		t.Errorf("a page of changes takes %d round trips, want 1", n)
	}
}
