package transaction_test

import (
	"crypto/sha256"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// of is a refund of an amount.
func of(amount int64) transaction.RefundRequest {
	return transaction.RefundRequest{AmountCents: amount}
}

func (s shop) refund(id core.ID, amount int64) transaction.Refund {
	s.T.Helper()
	made, err := core.Result(s.Sales.Refund(s.T.Context(), s.By, id, of(amount), nil, nil))
	s.Check(err)
	return made
}

// refundRefused returns the refusal of a refund.
func (s shop) refundRefused(by core.Actor, id core.ID, amount int64) error {
	s.T.Helper()
	return second(core.Result(s.Sales.Refund(s.T.Context(), by, id, of(amount), nil, nil)))
}

func (s shop) found(id core.ID) transaction.Transaction {
	s.T.Helper()
	t, err := s.Sales.Find(s.T.Context(), s.By, id)
	s.Check(err)
	return t
}

// figures returns a customer's visits and spend.
func (s shop) figures() (visits, spent int64) {
	s.T.Helper()
	p, err := s.Customers.Profile(s.T.Context(), s.By, s.customer)
	s.Check(err)
	return p.Visits, p.SpentCents
}

func (s shop) wantFigures(visits, spent, points int64) {
	s.T.Helper()
	gotVisits, gotSpent := s.figures()
	if got := s.Account(s.customer).Points; gotVisits != visits || gotSpent != spent || got != points {
		s.T.Errorf("%d visits, %d cents, %d points, want %d, %d and %d", gotVisits, gotSpent, got, visits, spent, points)
	}
}

// "taken = award − floor(award × (spend − refunded) ÷ spend) − refunded award": the last part takes the rounding.
func TestPartsOfASaleTakeItsWholeAward(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	s.kind = s.Type("Purchase", ledger.Points, transaction.Rule{PointsPerUnit: 1, UnitCents: 100})
	sale := s.sale(1099) // 10 points
	var taken []int64
	for _, amount := range []int64{366, 366, 367} {
		r := s.refund(sale.ID, amount)
		if r.TransactionID != sale.ID || r.AmountCents != amount || r.Stamps != nil || r.CreatedAt.IsZero() {
			t.Errorf("Refund = %+v", r)
		}
		taken = append(taken, *r.Points)
	}
	if want := []int64{4, 3, 3}; !slices.Equal(taken, want) {
		t.Errorf("took %v, want %v", taken, want)
	}
	got := s.found(sale.ID)
	if got.Status != transaction.Completed || got.RefundedCents != 1099 || got.RefundedAward != 10 {
		t.Errorf("the sale is %+v", got)
	}
	s.wantFigures(1, 0, 0)
	s.Verify()

	s.void(sale.ID)
	s.wantFigures(0, 0, 0)
	if n, sum := s.entries(); n != 4 || sum != 0 {
		t.Errorf("%d entries with a sum of %d, want no reversal of what was refunded", n, sum)
	}
	s.Verify()
}

// Amounts and awards have up to 10^12, so their product exceeds 64 bits.
func TestTakenBy(t *testing.T) {
	t.Parallel()
	sale := func(spend, award, refunded, taken int64) transaction.Transaction {
		return transaction.Transaction{
			RuleType: ledger.Points, SpendAmountCents: spend, PointsAwarded: &award, RefundedCents: refunded, RefundedAward: taken,
		}
	}
	for name, c := range map[string]struct {
		sale   transaction.Transaction
		amount int64
		want   int64
	}{
		"a part":                    {sale(1000, 40, 0, 0), 300, 12},
		"rounded up":                {sale(1000, 10, 0, 0), 1, 1},
		"paid for by an earlier":    {sale(1000, 10, 1, 1), 99, 0},
		"all that is left":          {sale(1000, 10, 999, 10), 1, 0},
		"nothing earned":            {sale(1000, 0, 0, 0), 500, 0},
		"nothing spent":             {sale(0, 5, 0, 0), 1, 0},
		"more than is left":         {sale(1000, 10, 500, 5), 501, 0},
		"nothing":                   {sale(1000, 10, 0, 0), 0, 0},
		"the largest":               {sale(transaction.MaxSpendCents, ledger.MaxAward, 0, 0), transaction.MaxSpendCents, ledger.MaxAward},
		"all but one of the larger": {sale(transaction.MaxSpendCents, ledger.MaxAward, 0, 0), transaction.MaxSpendCents - 1, ledger.MaxAward - 1},
	} {
		if got := c.sale.TakenBy(c.amount); got != c.want {
			t.Errorf("%s: took %d, want %d", name, got, c.want)
		}
	}
	for range 1000 {
		one := sale(1+rand.Int64N(transaction.MaxSpendCents), rand.Int64N(ledger.MaxAward+1), 0, 0)
		for one.LeftCents() > 0 {
			amount := 1 + rand.Int64N(one.LeftCents())
			kept := new(big.Int).Mul(big.NewInt(one.Award()), big.NewInt(one.LeftCents()-amount))
			want := one.LeftAward() - kept.Div(kept, big.NewInt(one.SpendAmountCents)).Int64()
			got := one.TakenBy(amount)
			if got != want || got < 0 {
				t.Fatalf("%d of %+v took %d, want %d", amount, one, got, want)
			}
			one.RefundedCents, one.RefundedAward = one.RefundedCents+amount, one.RefundedAward+got
		}
		if one.LeftAward() != 0 {
			t.Fatalf("%d are left of %+v", one.LeftAward(), one)
		}
	}
}

func TestARefundOfStamps(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	s.kind = s.Type("Coffee", ledger.Stamps, transaction.Rule{StampsPerTransaction: 3})
	sale := s.sale(900)
	if r := s.refund(sale.ID, 300); r.Points != nil || *r.Stamps != 1 {
		t.Errorf("Refund = %+v, want a stamp taken", r)
	}
	if got := s.Account(s.customer).Stamps; got != 2 {
		t.Errorf("%d stamps, want 2", got)
	}
	s.Verify()
}

// "A void after refunds reverses the rest, visits −1 at the void only, spent_cents −amount at each."
func TestAVoidAfterARefundReversesTheRest(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sale := s.sale(1000)
	s.spend(8)
	s.refund(sale.ID, 250) // 2.5 points: 3
	s.wantFigures(1, 750, -1)
	voided := s.void(sale.ID)
	if voided.RefundedCents != 250 || voided.RefundedAward != 3 {
		t.Errorf("Void = %+v", voided)
	}
	s.wantFigures(0, 0, -8)
	if err := s.refundRefused(s.By, sale.ID, 100); !errors.Is(err, transaction.ErrAlreadyVoided) {
		t.Errorf("a refund of a voided sale = %v, want ErrAlreadyVoided", err)
	}
	d, err := s.Sales.Detail(t.Context(), s.By, sale.ID)
	s.Check(err)
	var kinds []ledger.Kind
	for _, e := range d.Entries {
		kinds = append(kinds, e.Kind)
	}
	if want := []ledger.Kind{ledger.Earn, ledger.Refunded, ledger.Reversal}; !slices.Equal(kinds, want) {
		t.Errorf("the detail has %v, want %v", kinds, want)
	}
	if len(d.Refunds) != 1 || d.Refunds[0].AmountCents != 250 || *d.Refunds[0].Points != 3 || d.Refunds[0].ActorName != s.By.Name {
		t.Errorf("the detail has refunds %+v", d.Refunds)
	}
}

func TestRefusedRefunds(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sale, free := s.sale(1000), s.sale(0)
	for name, c := range map[string]struct {
		id     core.ID
		amount int64
		want   core.Violation
	}{
		"nothing": {sale.ID, 0, core.Min(1)}, "below zero": {sale.ID, -5, core.Min(1)},
		"more than was paid": {sale.ID, 1001, core.Max(1000)}, "more than any sale": {sale.ID, 1e12 + 1, core.Max(1e12)},
		"of nothing": {free.ID, 1, core.Max(0)},
	} {
		t.Run(name, func(t *testing.T) {
			shoptest.WantFields(t, s.refundRefused(s.By, c.id, c.amount), core.Fields{"amount_cents": {c.want}})
		})
	}
	if err := s.refundRefused(s.By, sale.ID, 1000); !errors.Is(err, transaction.ErrRefundIsVoid) {
		t.Errorf("the whole = %v, want ErrRefundIsVoid", err)
	}
	s.refund(sale.ID, 400)
	shoptest.WantFields(t, s.refundRefused(s.By, sale.ID, 601), core.Fields{"amount_cents": {core.Max(600)}})
	shoptest.WantFields(t, s.refundRefused(s.By, sale.ID, 1000), core.Fields{"amount_cents": {core.Max(600)}})

	bad := transaction.RefundRequest{ExternalReference: new(strings.Repeat("x", 101)), Reason: new(" ")}
	err := second(core.Result(s.Sales.Refund(t.Context(), s.By, sale.ID, bad, core.Fields{"amount_cents": {core.MustBeInteger}}, nil)))
	shoptest.WantFields(t, err, core.Fields{
		"amount_cents": {core.MustBeInteger}, "external_reference": {core.MaxLength(100)}, "reason": {core.Required},
	})
	if got := s.found(sale.ID); got.RefundedCents != 400 || s.Count("refund") != 1 {
		t.Errorf("refusals changed the sale to %+v", got)
	}
	stranger := newShop(t)
	for name, err := range map[string]error{
		"of a missing sale":   s.refundRefused(s.By, core.NewID(s.DB.Now()), 0),
		"of another tenant's": stranger.refundRefused(stranger.By, sale.ID, 100),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("a refund %s = %v, want ErrNotFound", name, err)
		}
	}
}

// An external reference is unique among the refunds of a tenant. A sale may have the same.
func TestTheReferenceOfARefund(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	n := s.of(1000)
	n.ExternalReference = new("R-1")
	sale := s.record(s.By, n)
	request := transaction.RefundRequest{AmountCents: 100, ExternalReference: new(" R-1 ")}
	made, err := core.Result(s.Sales.Refund(t.Context(), s.By, sale, request, nil, nil))
	if err != nil || *made.ExternalReference != "R-1" {
		t.Errorf("Refund = %+v, %v", made, err)
	}
	err = second(core.Result(s.Sales.Refund(t.Context(), s.By, sale, request, nil, nil)))
	shoptest.WantFields(t, err, core.Fields{"external_reference": {core.Duplicate}})
	s.Must(core.Result(other.Sales.Refund(t.Context(), other.By, other.sale(1000).ID, request, nil, nil)))
	s.wantFigures(1, 900, 9)
}

// "Cashier: own last sale, 10 minutes, like void."
func TestACashierRefundsTheirOwnLastSale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sara, maja := s.As(core.Cashier).By, s.As(core.Manager).By
	first, last := s.record(sara, s.of(1000)), s.record(sara, s.of(2000))
	over := s.later(10*time.Minute + time.Second)
	for _, c := range []struct {
		shop shop
		by   core.Actor
		id   core.ID
		want error
	}{
		{s, sara, first, transaction.ErrRefundNotAllowed},
		{s, sara, last, nil},
		{s, sara, last, nil},
		{over, sara, last, transaction.ErrRefundNotAllowed},
		{over, maja, first, nil},
	} {
		if err := c.shop.refundRefused(c.by, c.id, 100); !errors.Is(err, c.want) {
			t.Errorf("a refund by %s = %v, want %v", c.by.Name, err, c.want)
		}
	}
	guest := sara
	guest.Role = "guest"
	if err := s.refundRefused(guest, last, 100); !errors.Is(err, core.ErrRole) {
		t.Errorf("a refund by a guest = %v, want ErrRole", err)
	}
	want := []string{`transaction.refund {"refunded_cents": 0, "spend_amount_cents": 1000} {"amount_cents": 100, "refunded_cents": 100, "spend_amount_cents": 1000} by A manager`}
	if got := s.Log("transaction", first); !slices.Equal(got, want) {
		t.Errorf("the log has %v", got)
	}
}

// expiring lets the shop's points end on the last day of the month after they were earned.
func (s shop) expiring() shop {
	s.T.Helper()
	s.Shop = s.ExpireAfter(ledger.Points, 1, core.ToMonth)
	return s
}

// "A void or refund takes from its own award's day first." After that day, what had expired comes back first: the customer
// isn't charged for points that were taken already.
func TestARefundAfterExpiry(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t)).expiring()
	sale := s.sale(4000) // 40 points
	s.Adjust(s.customer, ledger.Points, -28)
	after := s.later(70 * 24 * time.Hour)
	after.sale(500)
	after.Adjust(s.customer, ledger.Points, -1) // posts what is due: 12 points
	after.wantFigures(2, 4500, 4)

	detail := func(want int64) {
		t.Helper()
		if d, err := after.Sales.Detail(t.Context(), after.By, sale.ID); err != nil || d.Ended != want {
			t.Errorf("%d of the award have ended, %v, want %d", d.Ended, err, want)
		}
	}
	detail(12)
	r := after.refund(sale.ID, 1000) // 10 points, which had expired
	after.wantFigures(2, 3500, 4)
	got := shoptest.QueryAll[string](after.Shop, `
		select concat_ws(' ', kind, amount, cause = $3) from loyalty.ledger_entry where tenant_id = $1 and customer_id = $2 order by seq`,
		s.By.Tenant.ID, s.customer, r.ID)
	if diff := cmp.Diff([]string{"expiry_return 10 t", "refund -10 t"}, got[len(got)-2:]); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	detail(2)
	after.void(sale.ID) // 30 points, of which 2 had expired
	after.wantFigures(1, 500, 4-28)
	after.Verify()
}

const lockSaleSQL = `select from loyalty.transaction where tenant_id = $1 and id = $2 for update`

// Of many refunds at once, as many succeed as the sale has money for, and their parts add up.
func TestRefundsAtOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	s := shopIn(t, d)
	sale := s.sale(1000)
	var mu sync.Mutex
	var taken int64
	succeeded := dbtest.Race(t, d, s.By.Tenant.ID, lockSaleSQL, sale.ID, 24, func(int) error {
		r, err := core.Result(s.Sales.Refund(t.Context(), s.By, sale.ID, of(130), nil, nil))
		if core.IsKind(err, core.KindInvalid) {
			return errTooMuch
		}
		mu.Lock()
		defer mu.Unlock()
		taken += r.Award()
		return err
	}, errTooMuch)
	if succeeded != 7 {
		t.Errorf("%d refunds of 130 out of 1000, want 7", succeeded)
	}
	last := s.refund(sale.ID, 90)
	if got := s.found(sale.ID); got.RefundedCents != 1000 || got.RefundedAward != 10 || taken+last.Award() != 10 {
		t.Errorf("the sale is %+v, and %d were taken", got, taken+last.Award())
	}
	s.wantFigures(1, 0, 0)
	s.Verify()
}

var errTooMuch = errors.New("more than is left")

// A void beside refunds reverses what they left, and later ones are refused.
func TestAVoidBesideRefunds(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	s := shopIn(t, d)
	sale := s.sale(1000)
	dbtest.Race(t, d, s.By.Tenant.ID, lockSaleSQL, sale.ID, 8, func(i int) error {
		if i == 4 {
			return second(core.Result(s.Sales.Void(t.Context(), s.By, sale.ID, nil, nil)))
		}
		return s.refundRefused(s.By, sale.ID, 70)
	}, transaction.ErrAlreadyVoided)
	if got := s.found(sale.ID); got.Status != transaction.Voided || s.Count("refund")*70 != got.RefundedCents {
		t.Errorf("the sale is %+v, with %d refunds", got, s.Count("refund"))
	}
	s.wantFigures(0, 0, 0)
	s.Verify()
}

// A repeated request gets the first response, also at once.
func TestARefundTakesEffectOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sale := s.sale(1000)
	once := func() *core.Once[transaction.Refund] {
		return &core.Once[transaction.Refund]{
			RequestKey: core.RequestKey{Key: "k", Fingerprint: sha256.Sum256([]byte("refund")), Wait: true},
			Respond: func(r transaction.Refund) (core.Response, error) {
				return core.Response{Status: 201, Body: []byte(r.ID.String())}, nil
			},
		}
	}
	var all sync.WaitGroup
	bodies := make([]string, 4)
	for i := range bodies {
		all.Go(func() {
			reply, err := s.Sales.Refund(t.Context(), s.By, sale.ID, of(100), nil, once())
			if err != nil {
				t.Error(err)
				return
			}
			bodies[i] = string(reply.Response.Body)
		})
	}
	all.Wait()
	if len(slices.Compact(bodies)) != 1 || s.Count("refund") != 1 {
		t.Errorf("responses %v, %d refunds", bodies, s.Count("refund"))
	}
	s.wantFigures(1, 900, 9)
}
