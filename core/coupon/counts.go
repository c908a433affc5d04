package coupon

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// State says whether a coupon can be used, at the moment it is read.
type State string

// The states. Only an active coupon can be sent.
const (
	StateActive   State = "active"
	StateUpcoming State = "upcoming" // starts later
	StateExpired  State = "expired"  // active or not
	StateInactive State = "inactive" // deactivated
)

// WithCounts is a coupon with its vouchers counted by status, at the moment it is read.
type WithCounts struct {
	Coupon
	State      State
	RewardName *string // of a reward benefit
	Sends      int64
	Sent       int64 // vouchers, of any status
	Pending    int64
	Redeemed   int64
	Expired    int64
}

// Filter selects coupons. A nil field selects all.
type Filter struct {
	State *string // active, upcoming, expired or inactive
}

// ListWithCounts returns a page of the coupons that match the filter, newest first. Its cost does not
// grow with the number of vouchers.
func (s *Service) ListWithCounts(ctx context.Context, by core.Actor, f Filter, p core.Page) (core.List[WithCounts], error) {
	check := core.NewCheck(p.Malformed)
	if f.State != nil {
		core.OneOf(check, "state", State(*f.State), StateActive, StateUpcoming, StateExpired, StateInactive)
	}
	if err := check.Err(); err != nil {
		return core.List[WithCounts]{}, err
	}
	return db.ListPage(ctx, s.db, by, countedList, db.Args{"state": f.State, "now": s.db.Now()}, p, WithCounts.position)
}

// Find returns a coupon, or core.ErrNotFound.
func (s *Service) Find(ctx context.Context, by core.Actor, id core.ID) (WithCounts, error) {
	return db.ReadOne[WithCounts](ctx, s.db, by, findCountedSQL, db.Args{"id": id, "now": s.db.Now()})
}
