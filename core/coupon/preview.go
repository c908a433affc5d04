package coupon

import (
	"context"
	"maps"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Counts are the members of a segment, and what a send does or would do with them.
type Counts struct {
	Matched         int64 // members
	Sent            int64 // vouchers
	SkippedInactive int64
	SkippedLimit    int64 // already hold as many vouchers as allowed
	NoEmail         int64 // of Sent: customers without an e-mail address
	Unsubscribed    int64 // of Sent: customers who get no e-mails
}

// Mails returns the number of vouchers that are mailed.
func (c Counts) Mails() int64 { return c.Sent - c.NoEmail - c.Unsubscribed }

// Preview is what a send would do if it were evaluated now.
type Preview struct {
	Counts
	Pending int64  // vouchers of the coupon that can still be redeemed
	Left    *int64 // redemptions until the coupon's limit; nil: no limit
	AtLevel *int64 // of Sent: customers who have the level that the coupon asks for; nil: it asks for none, or there are none
}

// Refused returns how many vouchers would be refused at the till because of the coupon's limit if
// all were redeemed.
func (p Preview) Refused() int64 {
	if p.Left == nil {
		return 0
	}
	return max(0, p.Pending+p.Sent-max(0, *p.Left))
}

// A preview may fail, but must not keep the database busy.
const previewTimeSQL = `select set_config('statement_timeout', '5s', true)`

// Preview counts what a send would do now, with the send's own statement. It refuses the segments
// that Send refuses.
func (s *Service) Preview(ctx context.Context, by core.Actor, coupon core.ID, send Send) (Preview, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Preview, error) {
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
		e := evaluation{Coupon: c.Coupon, Segment: send.Segment, SendAt: at, CustomerIDs: members}
		p := Preview{Pending: c.Pending}
		args, preview, level := e.args(by.Tenant.TimeZone), previews[send.Segment], atLevel[send.Segment]
		if send.Audience != "" { // as of now, since its customers are those of the instant at which the send is confirmed
			delete(args, "customers")
			maps.Copy(args, send.Audience.Args(tx.Now, by.Tenant.TimeZone))
			preview, level = ofAudience(send.Audience, previewLapsedSQL, previewGroupSQL), ofAudience(send.Audience, levelOfLapsedSQL, levelOfGroupSQL)
		}
		counts := []db.Reading{db.OneInto(&p.Counts, preview, args)}
		if c.MinLevelID != nil {
			args = maps.Clone(args)
			args["level"], args["today"] = *c.MinLevelID, core.DateOf(tx.Now, by.Tenant.TimeZone)
			counts = append(counts, db.OneInto(&p.AtLevel, level, args))
		}
		if err := db.Together(ctx, tx, counts...); err != nil {
			return Preview{}, err
		}
		if c.MaxRedemptions != nil {
			p.Left = new(*c.MaxRedemptions - c.RedemptionsCount)
		}
		return p, nil
	})
}

// SegmentSizes are the current numbers of customers in the segments, with the inactive ones that a
// send skips.
type SegmentSizes struct{ All, LongStanding, RecentPurchase int64 }

// CountSegments counts the customers in each segment.
func (s *Service) CountSegments(ctx context.Context, by core.Actor) (SegmentSizes, error) {
	if err := by.Require(core.Manager); err != nil {
		return SegmentSizes{}, err
	}
	now := s.db.Now()
	since := now.Add(-recentPurchasePeriod)
	return db.One[SegmentSizes](ctx, s.db.Tenant(by), audiencesSQL, db.Args{
		"at": now, "before": localDay(now, by.Tenant.TimeZone, -longStandingDays), "since": since, "since_id": core.FirstID(since),
	})
}
