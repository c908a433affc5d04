package report

import (
	"context"
	"time"

	"example.com/loyalty/core"
)

// Summary is the figures of a range of days, in all and for each day.
type Summary struct {
	From time.Time // midnights in UTC, as in Range
	To   time.Time
	Figures
	ActiveCustomers int64 // with a completed sale
	Days            []Day
}

// Day is the figures of one day.
type Day struct {
	Date time.Time
	Figures
}

// Figures count sales, redemptions and customers by created_at, vouchers by redeemed_at. Like a void, a refund counts on the
// day of its sale. Refunds of sales that were voided since don't count.
type Figures struct {
	TransactionsCount    int64 // completed
	VoidedCount          int64
	SpendTotalCents      int64 // of completed sales before refunds, like both awards
	PointsAwarded        int64
	StampsAwarded        int64
	PointsReversed       int64 // awards of voided sales
	PointsRedeemed       int64 // by redemptions that are not voided
	RedemptionsCount     int64
	VouchersRedeemed     int64
	NewCustomers         int64
	PointsExpired        int64 // when that was posted, like what was returned
	PointsExpiryReturned int64 // before an award that had expired was taken back
	PointsRefunded       int64 // taken back by refunds of completed sales
	RefundsCount         int64
	RefundedTotalCents   int64
	NetSpendTotalCents   int64 // the spend less what was refunded
}

// IsQuiet reports whether nothing was done: points expire by themselves.
func (f Figures) IsQuiet() bool {
	f.PointsExpired = 0
	return f == (Figures{})
}

// Summary returns the summary of a range.
func (s *Service) Summary(ctx context.Context, by core.Actor, r Range) (Summary, error) {
	picked, err := s.resolve(by, r)
	if err != nil {
		return Summary{}, err
	}
	t := picked.timetable(Daily, Nothing, s.db.Now())
	rows, err := count[comparedRow](ctx, s, by, comparedSQL, t.at(nil))
	if err != nil {
		return Summary{}, err
	}
	c := t.compare(rows)
	sum := Summary{From: picked.from, To: picked.to, Figures: c.Current.Figures, ActiveCustomers: c.Current.ActiveCustomers}
	for _, b := range c.Buckets {
		sum.Days = append(sum.Days, Day{Date: b.From, Figures: b.Current})
	}
	return sum, nil
}
