package report_test

import (
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a tenant with rewards, coupons and customers, at some instant.
type shop struct {
	db *db.DB
	by core.Actor

	purchase transaction.Type // a point for each cent
	coffee   transaction.Type // a stamp
	espresso core.ID          // for 10 points
}

func newShop(t *testing.T, zone string) shop { return shopOf(t, dbtest.DB(t), zone) }

func shopOf(t *testing.T, d *db.DB, zone string) shop {
	t.Helper()
	s := shop{db: d, by: dbtest.Tenant(t, d)}
	s.by.Tenant.TimeZone = location(t, zone)
	s.purchase = s.kind(t, ledger.Points, transaction.Rule{PointsPerUnit: 1, UnitCents: 1})
	s.coffee = s.kind(t, ledger.Stamps, transaction.Rule{StampsPerTransaction: 1})
	made, err := reward.NewService(d).Add(t.Context(), s.by, reward.New{Name: new("Espresso"), PointsCost: new(int64(10))})
	if err != nil {
		t.Fatal(err)
	}
	s.espresso = made.ID
	return s
}

func (s shop) kind(t *testing.T, unit ledger.Unit, rule transaction.Rule) transaction.Type {
	t.Helper()
	kind, err := transaction.NewService(s.db).AddType(t.Context(), s.by, transaction.NewType{Name: string(unit), RuleType: unit, Rule: rule})
	if err != nil {
		t.Fatal(err)
	}
	return kind
}

// at returns the same shop at another instant.
func (s shop) at(instant time.Time) shop {
	s.db = s.db.At(instant)
	return s
}

// on returns the same shop at a local time.
func (s shop) on(t *testing.T, shown string) shop {
	t.Helper()
	instant, err := time.ParseInLocation("2006-01-02 15:04:05", shown, s.by.Tenant.TimeZone)
	if err != nil {
		t.Fatal(err)
	}
	return s.at(instant)
}

var phones atomic.Int64

// customer adds a customer whose first visit is at the shop's instant.
func (s shop) customer(t *testing.T) customer.Customer {
	t.Helper()
	made, err := customer.NewService(s.db).Upsert(t.Context(), s.by, customer.New{
		FirstName: new("Anna"), LastName: new("Lindqvist"), Phone: new(fmt.Sprintf("070 %07d", phones.Add(1))),
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.Customer
}

// rich adds a customer with points that no sale awarded.
func (s shop) rich(t *testing.T) customer.Customer {
	t.Helper()
	c := s.customer(t)
	_, err := db.InTenant(t.Context(), s.db, s.by, func(tx *db.Tx) (ledger.Account, error) {
		return ledger.Post(t.Context(), tx, s.by, ledger.Entry{Customer: c.ID, Unit: ledger.Points, Amount: 1_000_000, Kind: ledger.Adjustment})
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s shop) sale(t *testing.T, to core.ID, kind transaction.Type, cents int64) transaction.Transaction {
	t.Helper()
	made, err := transaction.NewService(s.db).Record(t.Context(), s.by, transaction.New{
		CustomerID: new(to.String()), TransactionTypeID: &kind.ID, SpendAmountCents: &cents, Source: transaction.POS,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (s shop) void(t *testing.T, sale core.ID) {
	t.Helper()
	if _, err := transaction.NewService(s.db).Void(t.Context(), s.by, sale); err != nil {
		t.Fatal(err)
	}
}

// redemption redeems ten points for an espresso.
func (s shop) redemption(t *testing.T, by core.ID) reward.Redemption {
	t.Helper()
	made, err := reward.NewService(s.db).Redeem(t.Context(), s.by, reward.RedeemRequest{CustomerID: new(by.String()), RewardID: new(s.espresso.String())})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (s shop) takeBack(t *testing.T, redemption core.ID) {
	t.Helper()
	if _, err := reward.NewService(s.db).Void(t.Context(), s.by, redemption); err != nil {
		t.Fatal(err)
	}
}

func (s shop) coupons(t *testing.T) *coupon.Service {
	t.Helper()
	jobs, err := job.New(s.db, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return coupon.NewService(s.db, jobs, nil, link.Maker{}, slog.New(slog.DiscardHandler))
}

// coupon adds a coupon for a point.
func (s shop) coupon(t *testing.T, name string, expires *time.Time) coupon.Coupon {
	t.Helper()
	made, err := s.coupons(t).Add(t.Context(), s.by, coupon.New{
		Name: &name, BenefitType: new(string(coupon.Points)), BenefitValue: new(int64(1)), MaxPerCustomer: new(int64(100)), ExpiresAt: expires,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// discount adds a coupon for a discount.
func (s shop) discount(t *testing.T, name string) coupon.Coupon {
	t.Helper()
	made, err := s.coupons(t).Add(t.Context(), s.by, coupon.New{
		Name: &name, BenefitType: new(string(coupon.Percent)), BenefitValue: new(int64(10)), MaxPerCustomer: new(int64(1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// gift adds a coupon for a reward.
func (s shop) gift(t *testing.T, name string, reward core.ID) coupon.Coupon {
	t.Helper()
	made, err := s.coupons(t).Add(t.Context(), s.by, coupon.New{
		Name: &name, BenefitType: new(string(coupon.Reward)), BenefitRewardID: new(reward.String()), MaxPerCustomer: new(int64(1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// send sends a coupon to every customer and returns the vouchers.
func (s shop) send(t *testing.T, c coupon.Coupon) []core.ID {
	t.Helper()
	coupons := s.coupons(t)
	sent, err := coupons.Send(t.Context(), s.by, c.ID, coupon.Send{Segment: coupon.All, FormKey: core.NewID(s.db.Now()).String()})
	if err == nil {
		sent, err = coupons.Evaluate(t.Context(), s.by, sent.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := coupons.ListSent(t.Context(), s.by, sent.ID, core.Page{Size: 100})
	if err != nil || len(l.Items) == 0 {
		t.Fatal(l.Items, err)
	}
	vouchers := make([]core.ID, len(l.Items))
	for i, v := range l.Items {
		vouchers[i] = v.ID
	}
	return vouchers
}

func (s shop) redeem(t *testing.T, voucher core.ID) time.Time {
	t.Helper()
	v, err := s.coupons(t).Redeem(t.Context(), s.by, voucher)
	if err != nil {
		t.Fatal(err)
	}
	return *v.RedeemedAt
}

func (s shop) summary(t *testing.T, r report.Range) report.Summary {
	t.Helper()
	got, err := report.NewService(s.db).Summary(t.Context(), s.by, r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// perDay returns the values of a range that are not zero, by date.
func (s shop) perDay(t *testing.T, r report.Range) map[string]report.Figures {
	t.Helper()
	days := map[string]report.Figures{}
	for _, d := range s.summary(t, r).Days {
		if d.Figures != (report.Figures{}) {
			days[d.Date.Format(time.DateOnly)] = d.Figures
		}
	}
	return days
}

func (s shop) top(t *testing.T, r report.Ranking) []report.Customer {
	t.Helper()
	got, err := report.NewService(s.db).Top(t.Context(), s.by, r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (s shop) couponReport(t *testing.T) []report.Coupon {
	t.Helper()
	got, err := report.NewService(s.db).Coupons(t.Context(), s.by)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// date returns a day as in Range.
func date(t *testing.T, day string) *time.Time {
	t.Helper()
	parsed, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	return &parsed
}

func days(t *testing.T, from, to string) report.Range {
	t.Helper()
	return report.Range{From: date(t, from), To: date(t, to)}
}

// fieldsOf returns the messages of a refusal.
func fieldsOf(t *testing.T, err error) core.Fields {
	t.Helper()
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Kind != core.KindInvalid {
		t.Fatalf("%v, want a refusal of fields", err)
	}
	return refusal.Fields
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
