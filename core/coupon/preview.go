package coupon

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Preview says what a send would do if it were evaluated now.
type Preview struct {
	Matched         int64 // members of the segment
	Sent            int64 // vouchers that would be created
	SkippedInactive int64
	SkippedLimit    int64 // members who already hold as many vouchers as they may
	NoEmail         int64 // of Sent: customers without an e-mail address
	Unsubscribed    int64 // of Sent: customers who get no e-mails

	Pending int64  // vouchers of the coupon that can still be redeemed
	Left    *int64 // redemptions that the coupon's limit leaves; nil: no limit
}

// Mails is how many of the vouchers would be mailed.
func (p Preview) Mails() int64 { return p.Sent - p.NoEmail - p.Unsubscribed }

// Refused is how many vouchers could be refused at the till, if all that are pending then
// were redeemed: the limit would be reached before.
func (p Preview) Refused() int64 {
	if p.Left == nil {
		return 0
	}
	return max(0, p.Pending+p.Sent-max(0, *p.Left))
}

// previewTime bounds the counting: a preview may fail, but not keep the database busy.
const previewTimeSQL = `select set_config('statement_timeout', '5s', true)`

// Preview counts what a send would do now, by the statement that the send itself uses. It
// refuses what Send refuses of the segment.
func (s *Service) Preview(ctx context.Context, by core.Actor, coupon core.ID, send Send) (Preview, error) {
	if err := by.Require(core.Manager); err != nil {
		return Preview{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Preview, error) {
		if err := db.Queue(tx, previewTimeSQL, nil); err != nil {
			return Preview{}, err
		}
		c, err := db.One[WithCounts](ctx, tx, findCountedSQL, db.Args{"id": coupon, "now": tx.Now})
		if err != nil {
			return Preview{}, err
		}
		check := core.NewCheck(send.Malformed)
		members, err := send.members(ctx, tx, check)
		if err != nil {
			return Preview{}, err
		}
		if err := check.Err(); err != nil {
			return Preview{}, err
		}
		at := tx.Now
		if send.At != nil {
			at = *send.At
		}
		e := evaluation{CouponID: coupon, Segment: send.Segment, SendAt: at, MaxPerCustomer: c.MaxPerCustomer, CustomerIDs: members}
		counted, err := db.One[counts](ctx, tx, previews[send.Segment], e.args(by.Tenant.TimeZone))
		if err != nil {
			return Preview{}, err
		}
		p := Preview{
			Matched: counted.Matched, Sent: counted.Sent, SkippedInactive: counted.SkippedInactive, SkippedLimit: counted.SkippedLimit,
			NoEmail: counted.NoEmail, Unsubscribed: counted.Unsubscribed, Pending: c.Pending,
		}
		if c.MaxRedemptions != nil {
			p.Left = new(*c.MaxRedemptions - c.RedemptionsCount)
		}
		return p, nil
	})
}

// SegmentSizes are how many customers each segment has at the moment, inactive ones included
// where the segment has them.
type SegmentSizes struct{ All, LongStanding, RecentPurchase int64 }

// CountSegments counts the segments. One round trip.
func (s *Service) CountSegments(ctx context.Context, by core.Actor) (SegmentSizes, error) {
	if err := by.Require(core.Manager); err != nil {
		return SegmentSizes{}, err
	}
	now := s.db.Now()
	since := now.Add(-recentPurchasePeriod)
	return db.ReadOne[SegmentSizes](ctx, s.db, by, audiencesSQL, db.Args{
		"at": now, "before": localDay(now, by.Tenant.TimeZone, -longStandingDays), "since": since, "since_id": core.FirstID(since),
	})
}
