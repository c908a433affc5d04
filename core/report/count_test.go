package report_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/transaction"
)

// history records everything that happened in a shop, beside the database.
type history struct {
	zone        *time.Location
	customers   []event
	sales       []sale
	redemptions []event
	vouchers    []event // redeemed ones
}

type event struct {
	at     time.Time
	undone bool
}

type sale struct {
	event
	transaction.Transaction
}

// trade makes random sales, voids and redemptions between two instants and records them. They are not in order
// of time.
func trade(t *testing.T, s shop, rng *rand.Rand, first, last time.Time) *history {
	t.Helper()
	h := &history{zone: s.By.Tenant.TimeZone}
	sometime := func() shop { return s.at(first.Add(time.Duration(rng.Int64N(int64(last.Sub(first)))))) }
	sometimes := func() bool { return rng.IntN(4) == 0 }
	var buyers []core.ID
	for range 6 {
		made := sometime().rich()
		buyers = append(buyers, made.ID)
		h.customers = append(h.customers, event{at: made.CreatedAt})
	}
	randomBuyer := func() core.ID { return buyers[rng.IntN(len(buyers)-1)] } // the last one never buys
	for range 60 {
		kind := s.purchase
		if sometimes() {
			kind = s.coffee
		}
		made := sometime().Sale(randomBuyer(), kind, rng.Int64N(20)*100)
		undone := sometimes()
		if undone {
			sometime().VoidSale(made.ID)
		}
		h.sales = append(h.sales, sale{event{made.CreatedAt, undone}, made})
	}
	for range 20 {
		made := sometime().redemption(randomBuyer())
		undone := sometimes()
		if undone {
			sometime().VoidRedemption(made.ID)
		}
		h.redemptions = append(h.redemptions, event{made.CreatedAt, undone})
	}
	for _, voucher := range s.send(s.coupon("Hello", nil)) {
		if !sometimes() {
			h.vouchers = append(h.vouchers, event{at: sometime().redeem(voucher)})
		}
	}
	return h
}

// count computes the summary of a range record by record.
func (h *history) count(r report.Range) report.Summary {
	sum := report.Summary{From: *r.From, To: *r.To}
	for day := *r.From; !day.After(*r.To); day = day.AddDate(0, 0, 1) {
		f := h.on(day)
		sum.Days = append(sum.Days, report.Day{Date: day, Figures: f})
		sum.TransactionsCount += f.TransactionsCount
		sum.VoidedCount += f.VoidedCount
		sum.SpendTotalCents += f.SpendTotalCents
		sum.NetSpendTotalCents += f.NetSpendTotalCents
		sum.PointsAwarded += f.PointsAwarded
		sum.StampsAwarded += f.StampsAwarded
		sum.PointsReversed += f.PointsReversed
		sum.PointsRedeemed += f.PointsRedeemed
		sum.RedemptionsCount += f.RedemptionsCount
		sum.VouchersRedeemed += f.VouchersRedeemed
		sum.NewCustomers += f.NewCustomers
	}
	sum.ActiveCustomers = int64(len(h.ranking(r, func(report.Customer) int64 { return 0 })))
	return sum
}

// falls reports whether an instant is on a day in the shop's zone.
func (h *history) falls(at, day time.Time) bool {
	return at.In(h.zone).Format(time.DateOnly) == day.Format(time.DateOnly)
}

func (h *history) on(day time.Time) (f report.Figures) {
	for _, s := range h.sales {
		switch {
		case !h.falls(s.at, day):
		case s.undone:
			f.VoidedCount++
			f.PointsReversed += points(s)
		default:
			f.TransactionsCount++
			f.SpendTotalCents += s.SpendAmountCents
			f.NetSpendTotalCents += s.SpendAmountCents
			f.PointsAwarded += points(s)
			if s.RuleType == ledger.Stamps {
				f.StampsAwarded += *s.StampsAwarded
			}
		}
	}
	for _, r := range h.redemptions {
		if h.falls(r.at, day) && !r.undone {
			f.RedemptionsCount++
			f.PointsRedeemed += 10
		}
	}
	for _, v := range h.vouchers {
		if h.falls(v.at, day) {
			f.VouchersRedeemed++
		}
	}
	for _, c := range h.customers {
		if h.falls(c.at, day) {
			f.NewCustomers++
		}
	}
	return f
}

func points(s sale) int64 {
	if s.RuleType == ledger.Stamps {
		return 0
	}
	return *s.PointsAwarded
}

// ranking returns the buyers of a range, best first, with their purchases.
func (h *history) ranking(r report.Range, measure func(report.Customer) int64) []report.Customer {
	buyers := map[core.ID]report.Customer{}
	for _, s := range h.sales {
		day := s.at.In(h.zone).Format(time.DateOnly)
		if s.undone || day < r.From.Format(time.DateOnly) || day > r.To.Format(time.DateOnly) {
			continue
		}
		b := buyers[s.CustomerID]
		b.ID = s.CustomerID
		b.TransactionsCount++
		b.SpendTotalCents += s.SpendAmountCents
		b.PointsAwarded += points(s)
		buyers[s.CustomerID] = b
	}
	var ranked []report.Customer
	for _, b := range buyers {
		ranked = append(ranked, b)
	}
	slices.SortFunc(ranked, func(a, b report.Customer) int {
		return cmp.Or(cmp.Compare(measure(b), measure(a)), strings.Compare(a.ID.String(), b.ID.String()))
	})
	return ranked
}

// bought keeps only the counted fields of customers.
func bought(customers []report.Customer) (counted []report.Customer) {
	for _, c := range customers {
		counted = append(counted, report.Customer{
			ID: c.ID, TransactionsCount: c.TransactionsCount, SpendTotalCents: c.SpendTotalCents, PointsAwarded: c.PointsAwarded,
		})
	}
	return counted
}

// Reports equal a simple count for every range of days, in zones east and west of Greenwich, over days of 23
// and 25 hours, and with another tenant's records.
func TestReportsAgreeWithAPlainCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, from, to string }{
		{"UTC", "2026-02-26", "2026-03-03"},
		{"Europe/Stockholm", "2026-03-27", "2026-03-31"},
		{"Europe/Stockholm", "2025-10-24", "2025-10-28"},
		{"America/New_York", "2026-03-06", "2026-03-10"},
		{"America/New_York", "2025-10-31", "2025-11-04"},
		{"America/Santiago", "2026-09-04", "2026-09-08"}, // midnight is skipped
		{"America/Havana", "2025-10-31", "2025-11-03"},   // there are two midnights
		{"Pacific/Tongatapu", "2025-12-30", "2026-01-02"},
		{"Asia/Kolkata", "2024-02-27", "2024-03-02"},
	} {
		t.Run(c.zone+" "+c.from, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rng := rand.New(rand.NewPCG(seed, 0))
			s, whole := newShop(t, c.zone), days(t, c.from, c.to)
			first, last := whole.From.Add(-16*time.Hour), whole.To.Add(40*time.Hour)
			h := trade(t, s, rng, first, last)
			neighbour := newShop(t, c.zone)
			neighbour.at(first.Add(30*time.Hour)).Sale(neighbour.at(first.Add(30*time.Hour)).Customer().ID, neighbour.purchase, 500)

			for from := *whole.From; !from.After(*whole.To); from = from.AddDate(0, 0, 1) {
				for to := from; !to.After(*whole.To); to = to.AddDate(0, 0, 1) {
					r := report.Range{From: &from, To: &to}
					same(t, "summary", s.summary(r), h.count(r))
					for by, measure := range map[string]func(report.Customer) int64{
						"spend":  func(c report.Customer) int64 { return c.SpendTotalCents },
						"points": func(c report.Customer) int64 { return c.PointsAwarded },
						"visits": func(c report.Customer) int64 { return c.TransactionsCount },
					} {
						same(t, "top by "+by, bought(s.top(report.Ranking{Range: r, By: &by})), h.ranking(r, measure))
					}
				}
			}
		})
	}
}
