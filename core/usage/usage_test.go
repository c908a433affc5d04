package usage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/core/walkin"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business on a separate plan.
type shop struct{ shoptest.Shop }

func newShop(t *testing.T, limits string) shop {
	t.Helper()
	s := shopIn(t, dbtest.DB(t))
	s.allow(limits)
	return s
}

func shopIn(t *testing.T, d *db.DB) shop { return shop{shoptest.In(t, d)} }

// at returns the shop at another time.
func (s shop) at(instant time.Time) shop { return shop{s.At(instant)} }

// allow sets the plan's limits of customers, people and sends.
func (s shop) allow(limits string) {
	s.T.Helper()
	s.Exec(fmt.Sprintf(`
		with p as (
			insert into loyalty.plan (name, monthly_cents, yearly_cents, currency, customers_limit, staff_limit, sends_limit)
			values ($1, 0, 0, 'EUR', %s)
			returning id
		)
		update loyalty.tenant set plan_id = p.id from p where loyalty.tenant.id = $2`, limits), "Plan "+core.NewID(time.Now()).String(), s.By.Tenant.ID)
}

func (s shop) add(n int) (customer.Upserted, error) {
	s.T.Helper()
	return core.Result(s.Customers.Upsert(s.T.Context(), s.By, shoptest.Anna(fmt.Sprintf("070 174 %04d", n)), nil))
}

func refused(t *testing.T, what string, err error, sentence string) {
	t.Helper()
	var rule *core.Error
	if !errors.Is(err, usage.ErrLimit) || !errors.As(err, &rule) || rule.Kind != core.KindRule || rule.Code != "plan-limit-reached" || !strings.HasPrefix(rule.Message, sentence) {
		t.Errorf("%s: %v, want plan-limit-reached: %s…", what, err, sentence)
	}
}

// Customers beyond the plan's limit are refused; a count is at most a minute old.
func TestCustomers(t *testing.T) {
	t.Parallel()
	s := newShop(t, "3, null, null")
	var first customer.Upserted
	for n := range 3 {
		c, err := s.add(n)
		s.Check(err)
		if n == 0 {
			first = c
		}
	}
	_, err := s.add(3)
	refused(t, "the fourth", err, "The plan allows 3 active customers, and no more can be added.")
	if found, err := s.add(0); err != nil || found.Created || found.ID != first.ID {
		t.Errorf("one who exists: %+v, %v", found, err)
	}
	// Freed space can be used at once.
	s.Must(s.Customers.Edit(t.Context(), s.By, first.ID, customer.Edit{Status: core.Set("inactive")}))
	if _, err := s.add(3); err != nil {
		t.Errorf("after one was deactivated: %v", err)
	}
	_, err = s.Customers.Edit(t.Context(), s.By, first.ID, customer.Edit{Status: core.Set("active")})
	refused(t, "activating one more", err, "The plan allows 3 active customers")
	if _, err := s.Customers.Edit(t.Context(), s.By, first.ID, customer.Edit{FirstName: core.Set("Elsie")}); err != nil {
		t.Errorf("any other edit: %v", err)
	}
	// A larger plan applies at once.
	s.allow("4, null, null")
	if _, err := s.Customers.Edit(t.Context(), s.By, first.ID, customer.Edit{Status: core.Set("active")}); err != nil {
		t.Errorf("on a larger plan: %v", err)
	}
}

// "New limits apply at once": counted a moment ago, also without a limit, the next addition is refused in every
// place, and pages warn. A higher limit lets it in at once.
func TestANewLimitAppliesAtOnce(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"100, 100, 100", "null, null, null"} {
		s := newShop(t, before)
		owner := s.As(core.Owner).By
		c := s.Coupon(coupon.New{Name: "A bun", BenefitType: "points", BenefitValue: new(int64(5)), MaxPerCustomer: new(int64(9))})
		n := 0
		places := map[string]func() error{
			"a customer": func() error { _, err := s.add(n); return err },
			"joining": func() error {
				_, err := core.Result(s.Walkins.Join(t.Context(), s.By, walkin.Details{
					FirstName: "Elsa", LastName: "Berg", Phone: shoptest.Phone(), Agreed: true, Terms: "I agree",
				}, nil))
				return err
			},
			"a person": func() error {
				_, err := core.Result(s.Staff.Invite(t.Context(), owner, staff.New{Role: core.Cashier, Name: "Bo", Email: fmt.Sprintf("bo%d@example.com", n)}, nil))
				return err
			},
			"a send": func() error {
				_, err := s.Coupons.Send(t.Context(), s.By, c.ID, coupon.Send{Segment: coupon.All, FormKey: fmt.Sprint(n)})
				return err
			},
		}
		try := func(what string, refused bool) {
			t.Helper()
			for place, do := range places {
				n++
				if err := do(); (err != nil) != refused || refused && !errors.Is(err, usage.ErrLimit) && !errors.Is(err, walkin.ErrFull) {
					t.Errorf("%s, %s: %v", what, place, err)
				}
			}
		}
		s.Must(s.Usage.Warnings(t.Context(), owner))
		try(before, false)
		s.allow("1, 1, 1")
		try("lowered from "+before, true)
		warnings, err := s.Usage.Warnings(t.Context(), owner)
		if err != nil || len(warnings) < 2 || !warnings[0].LimitReached() || !warnings[1].LimitReached() {
			t.Errorf("lowered, the pages warn of %+v, %v", warnings, err)
		}
		s.allow("100, 100, 100")
		try("raised", false)
		if warnings, err := s.Usage.Warnings(t.Context(), owner); err != nil || len(warnings) != 0 {
			t.Errorf("raised, the pages warn of %+v, %v", warnings, err)
		}
	}
}

// A count is cached for a minute: then customers added by others are counted.
func TestACountIsAtMostAMinuteOld(t *testing.T) {
	t.Parallel()
	s := newShop(t, "3, null, null")
	now := s.DB.Now()
	admit := func(ctx context.Context, tx *db.Tx, meter *usage.Meter) error {
		_, err := meter.Admit(ctx, tx, usage.Customers, false)
		return err
	}
	at := func(after time.Duration) error {
		d := s.DB.At(now.Add(after))
		_, err := db.In(t.Context(), d.Tenant(s.By), func(tx *db.Tx) (int, error) {
			tx.Now = now.Add(after)
			return 0, admit(t.Context(), tx, s.Usage)
		})
		return err
	}
	s.Check(at(0))
	other := s.at(now) // in another process
	for n := range 3 {
		s.Must(other.add(n))
	}
	if err := at(59 * time.Second); err != nil {
		t.Errorf("within the minute: %v, want let in", err)
	}
	refused(t, "after the minute", at(time.Minute), "The plan allows 3 active customers")
}

// Concurrent additions stop at the limit, or a few after it, since limits are soft.
func TestConcurrentAdditions(t *testing.T) {
	t.Parallel()
	s := newShop(t, "10, null, null")
	s.Must(s.add(0))
	var all sync.WaitGroup
	var in atomic.Int64
	for n := range 40 {
		all.Go(func() {
			_, err := core.Result(s.Customers.Upsert(context.Background(), s.By, shoptest.Anna(fmt.Sprintf("070 174 %04d", n+1)), nil))
			switch {
			case err == nil:
				in.Add(1)
			case !errors.Is(err, usage.ErrLimit):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := in.Load(); got < 9 {
		t.Errorf("%d were added to one of ten, want 9", got)
	}
	_, err := s.add(99)
	refused(t, "the next one", err, "The plan allows 10 active customers")
}

// Sends are counted by month in the tenant's zone; a form that is submitted twice is one send.
func TestSends(t *testing.T) {
	t.Parallel()
	s := newShop(t, "null, null, 2")
	zone := s.By.Tenant.TimeZone
	year, month, _ := s.DB.Now().In(zone).Date()
	lastOfMonth := time.Date(year, month+1, 0, 23, 59, 0, 0, zone)
	june := s.at(lastOfMonth)
	july := s.at(lastOfMonth.Add(time.Minute))
	c := june.Coupon(coupon.New{Name: "A bun", BenefitType: "points", BenefitValue: new(int64(5)), MaxPerCustomer: new(int64(9))})
	s.Must(june.add(1))
	send := func(s shop, key string) (coupon.Sending, error) {
		return s.Coupons.Send(t.Context(), s.By, c.ID, coupon.Send{Segment: coupon.All, FormKey: key})
	}
	first, err := send(june, "first")
	s.Check(err)
	s.Must(send(june, "second"))
	_, err = send(june, "third")
	refused(t, "the third of a month", err, "The plan allows 2 coupon sends a month.")
	if again, err := send(june, "first"); err != nil || again.ID != first.ID {
		t.Errorf("the first form again: %v", err)
	}
	s.Must(june.Coupons.CancelSend(t.Context(), s.By, first.ID))
	if _, err := send(june, "instead"); err != nil {
		t.Errorf("after one was cancelled: %v", err)
	}
	if _, err := send(july, "third"); err != nil {
		t.Errorf("in the next month: %v", err)
	}
}

// Uses has every count with its limit, in one round trip.
func TestUses(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
	s.allow("5, 1, null")
	for n := range 4 {
		s.Must(s.add(n))
	}
	for round := range 2 {
		before := count()
		list, err := s.Usage.Uses(t.Context(), s.By)
		if err != nil || len(list) != 3 {
			t.Fatal(list, err)
		}
		want := []usage.Use{{Kind: usage.Customers, Used: 4, Limit: new(int64(5))}, {Kind: usage.Staff, Used: 1, Limit: new(int64(1))}, {Kind: usage.Sends}}
		if diff := cmp.Diff(want, list); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !list[0].NearLimit() || list[0].LimitReached() || !list[1].LimitReached() || list[2].NearLimit() {
			t.Errorf("near or reached: %+v", list)
		}
		if trips := count() - before; round > 0 && trips != 1 {
			t.Errorf("%d round trips, want 1", trips)
		}
	}
	trips := func(what string, want int, do func()) {
		t.Helper()
		before := count()
		if do(); count()-before != want {
			t.Errorf("%s: %d round trips, want %d", what, count()-before, want)
		}
	}
	other := shopIn(t, d)
	s.Must(other.add(1))
	trips("a customer, counted lately", 3, func() {
		if _, err := other.add(2); err != nil {
			t.Error(err)
		}
	})
}
