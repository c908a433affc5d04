package report_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a tenant with rewards, coupons and customers, at some instant.
type shop struct {
	shoptest.Shop
	purchase transaction.Type // a point for each cent
	coffee   transaction.Type // a stamp
	espresso core.ID          // for 10 points
}

func newShop(t *testing.T, zone string) shop { return shopIn(t, dbtest.DB(t), zone) }

func shopIn(t *testing.T, d *db.DB, zone string) shop {
	t.Helper()
	s := shoptest.In(t, d).InZone(zone)
	return shop{s, s.Points(1), s.Stamps(), s.Reward(10, nil)}
}

// at returns the same shop at another instant.
func (s shop) at(instant time.Time) shop {
	s.Shop = s.At(instant)
	return s
}

// on returns the same shop at a local time.
func (s shop) on(shown string) shop {
	s.T.Helper()
	instant, err := time.ParseInLocation("2006-01-02 15:04:05", shown, s.By.Tenant.TimeZone)
	s.Check(err)
	return s.at(instant)
}

// rich adds a customer with points that no sale awarded.
func (s shop) rich() customer.Customer {
	s.T.Helper()
	c := s.Customer()
	s.Adjust(c.ID, ledger.Points, 1_000_000)
	return c
}

// redemption redeems ten points for an espresso.
func (s shop) redemption(by core.ID) reward.Redemption {
	s.T.Helper()
	return s.Redeem(by, s.espresso)
}

// coupon adds a coupon for a point.
func (s shop) coupon(name string, expires *time.Time) coupon.Coupon {
	s.T.Helper()
	return s.Coupon(coupon.New{
		Name: name, BenefitType: string(coupon.Points), BenefitValue: new(int64(1)), MaxPerCustomer: new(int64(100)), ExpiresAt: expires,
	})
}

// discount adds a coupon for a discount.
func (s shop) discount(name string) coupon.Coupon {
	s.T.Helper()
	return s.Coupon(coupon.New{Name: name, BenefitType: string(coupon.Percent), BenefitValue: new(int64(10))})
}

// gift adds a coupon for a reward.
func (s shop) gift(name string, reward core.ID) coupon.Coupon {
	s.T.Helper()
	return s.Coupon(coupon.New{Name: name, BenefitType: string(coupon.Reward), BenefitRewardID: new(reward)})
}

// send sends a coupon to every customer and returns the vouchers.
func (s shop) send(c coupon.Coupon) []core.ID {
	s.T.Helper()
	sent := s.Send(c.ID, coupon.Send{Segment: coupon.All})
	l, err := s.Coupons.ListSent(s.T.Context(), s.By, sent.ID, core.Page{Size: 100})
	s.Check(err)
	return shoptest.Keys(l.Items, func(v coupon.SentVoucher) core.ID { return v.ID })
}

// redeem redeems a voucher and returns when.
func (s shop) redeem(voucher core.ID) time.Time {
	s.T.Helper()
	return *s.RedeemVoucher(voucher).RedeemedAt
}

func (s shop) summary(r report.Range) report.Summary {
	s.T.Helper()
	got, err := s.Reports.Summary(s.T.Context(), s.By, r)
	s.Check(err)
	return got
}

// perDay returns the values of a range that are not zero, by date.
func (s shop) perDay(r report.Range) map[string]report.Figures {
	s.T.Helper()
	days := map[string]report.Figures{}
	for _, d := range s.summary(r).Days {
		if d.Figures != (report.Figures{}) {
			days[d.Date.Format(time.DateOnly)] = d.Figures
		}
	}
	return days
}

func (s shop) top(r report.Ranking) []report.Customer {
	s.T.Helper()
	got, err := s.Reports.Top(s.T.Context(), s.By, r)
	s.Check(err)
	return got
}

func (s shop) couponReport() []report.Coupon {
	s.T.Helper()
	got, err := s.Reports.Coupons(s.T.Context(), s.By)
	s.Check(err)
	return got
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

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
