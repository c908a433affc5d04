package coupon

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/reward"
)

// VoucherStatus says what became of a voucher.
type VoucherStatus string

// The three statuses.
const (
	VoucherPending  VoucherStatus = "pending"
	VoucherRedeemed VoucherStatus = "redeemed"
	VoucherExpired  VoucherStatus = "expired"
)

// Voucher is one customer's copy of a coupon.
type Voucher struct {
	ID         core.ID
	CouponID   core.ID
	CustomerID core.ID
	Status     VoucherStatus // as of the moment it was looked at
	Benefit
	RedemptionID *core.ID // of a voucher that was good for a reward
	ExpiresAt    *time.Time
	RedeemedAt   *time.Time
	CreatedAt    time.Time
}

// Refusals of a voucher (specification §3).
var (
	ErrAlreadyRedeemed = core.Refuse("voucher-redeemed", "This voucher has already been redeemed.")
	ErrVoucherExpired  = core.Refuse("voucher-expired", "This voucher has expired.")
	ErrCapReached      = core.Refuse("coupon-cap-reached", "Maximum redemptions for this coupon have been reached.")
)

// redeemable is a voucher and what its coupon says about it.
type redeemable struct {
	Voucher
	CouponName   string
	CouponActive bool
	CapReached   bool
}

// refusal says why the voucher cannot be redeemed, in the order of decisions §6.
func (s redeemable) refusal() error {
	switch {
	case s.Status == VoucherRedeemed:
		return ErrAlreadyRedeemed
	case s.Status == VoucherExpired:
		return ErrVoucherExpired
	case !s.CouponActive:
		return ErrInactive
	case s.CapReached:
		return ErrCapReached
	}
	return nil
}

// Redeem redeems a voucher and gives its benefit, once: points and stamps through the
// ledger, a reward as a pending redemption at no cost; percent and amount are for the
// cashier. Voucher and cap are held by one conditional update; what it refuses is
// looked at again to say why. Three round trips, and a fourth for a reward; the coupon
// is locked for the last one, the commit.
func (s *Service) Redeem(ctx context.Context, by core.Actor, id core.ID) (Voucher, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Voucher{}, err
	}
	v, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Voucher, error) {
		v, _, err := RedeemIn(ctx, tx, by, id)
		return v, err
	})
	return v, ledger.Refusal(err)
}

// RedeemIn is Redeem in the caller's transaction, which also decides who may redeem: at
// the till, vouchers are redeemed together with the sale. It returns the pending redemption
// of a voucher for a reward as well; nil for other vouchers.
func RedeemIn(ctx context.Context, tx *db.Tx, by core.Actor, id core.ID) (Voucher, *reward.Redemption, error) {
	found, err := findForUpdate(ctx, tx, id)
	if err != nil {
		return Voucher{}, nil, err
	}
	if err := found.refusal(); err != nil {
		return Voucher{}, nil, err
	}
	var granted *reward.Redemption
	var redemption *core.ID
	if found.BenefitType == Reward {
		r, err := reward.Grant(ctx, tx, by, found.CustomerID, *found.BenefitRewardID)
		if err != nil {
			return Voucher{}, nil, err
		}
		granted, redemption = &r, &r.ID
	}
	redeemed, err := found.redeem(ctx, tx, redemption)
	if err != nil {
		return Voucher{}, nil, err
	}
	if err := postBenefit(tx, by, redeemed); err != nil {
		return Voucher{}, nil, err
	}
	return redeemed, granted, audit.Write(tx, by, audit.Entry{
		Action: "voucher.redeem", Subject: "voucher", ID: id.String(), Name: found.CouponName, Customer: &redeemed.CustomerID,
		Old: map[string]any{"status": VoucherPending}, New: map[string]any{"status": VoucherRedeemed},
	})
}

func findForUpdate(ctx context.Context, tx *db.Tx, id core.ID) (redeemable, error) {
	return db.One[redeemable](ctx, tx, standingSQL, db.Args{"id": id, "now": tx.Now})
}

var errUnexplained = errors.New("coupon: a voucher could not be redeemed and nothing says why")

// redeem takes the voucher and counts it, or says why somebody else was first.
func (s redeemable) redeem(ctx context.Context, tx *db.Tx, redemption *core.ID) (Voucher, error) {
	for range 3 {
		v, err := db.One[Voucher](ctx, tx, redeemSQL, db.Args{
			"id": s.ID, "coupon": s.CouponID, "redemption": redemption, "now": tx.Now,
		})
		if !errors.Is(err, core.ErrNotFound) {
			return v, err
		}
		now, err := findForUpdate(ctx, tx, s.ID)
		if err != nil {
			return Voucher{}, err
		}
		if err := now.refusal(); err != nil {
			return Voucher{}, err
		}
		// What was in the way is gone: the cap was raised since, or the coupon switched on.
	}
	return Voucher{}, errUnexplained
}

// postBenefit posts points and stamps, with the commit.
func postBenefit(tx *db.Tx, by core.Actor, v Voucher) error {
	unit := ledger.Points
	switch v.BenefitType {
	case Points:
	case Stamps:
		unit = ledger.Stamps
	case Percent, Amount, Reward:
		return nil
	}
	return ledger.Queue(tx, by, ledger.Entry{
		Customer: v.CustomerID, Unit: unit, Amount: *v.BenefitValue, Kind: ledger.VoucherAward, Cause: &v.ID,
	})
}

func (v Voucher) position() core.Cursor { return core.Cursor{At: v.CreatedAt, ID: v.ID} }

// RedeemedVoucher is a voucher and the name of whose it was.
type RedeemedVoucher struct {
	Voucher
	CustomerName string
}

// ListRedeemed returns a page of a coupon's redeemed vouchers, the last redeemed
// first, or core.ErrNotFound. One round trip, and a second for an empty page.
func (s *Service) ListRedeemed(ctx context.Context, by core.Actor, coupon core.ID, p core.Page) (core.List[RedeemedVoucher], error) {
	position := func(v RedeemedVoucher) core.Cursor { return core.Cursor{At: *v.RedeemedAt, ID: v.ID} }
	l, err := db.ListPage(ctx, s.db, by, redeemedList, db.Args{"coupon": coupon}, p, position)
	return db.OfExisting(ctx, s.db, by, l, err, findSQL, db.Args{"id": coupon})
}

// NamedVoucher is a voucher with the names of what it refers to.
type NamedVoucher struct {
	Voucher
	CouponName string
	RewardName *string // of one that is good for a reward
	Redeemable bool    // neither the voucher nor its coupon would refuse it
}

// ListByCustomer returns a page of a customer's vouchers, the last sent first, or
// core.ErrNotFound when there is no such customer. One round trip, and a second for an
// empty page.
func (s *Service) ListByCustomer(ctx context.Context, by core.Actor, customer core.ID, p core.Page) (core.List[NamedVoucher], error) {
	l, err := db.ListPage(ctx, s.db, by, heldList, db.Args{"customer": customer, "now": s.db.Now()}, p, NamedVoucher.position)
	return db.OfExisting(ctx, s.db, by, l, err, customerSQL, db.Args{"customer": customer})
}

// SentVoucher is a voucher of a send.
type SentVoucher struct {
	Voucher
	CustomerName string
	MailStatus   *string    // of its e-mail: queued, delivered or failed; nil: it has none
	MailedAt     *time.Time // delivered or failed
}

// ListSent returns a page of a send's vouchers, in the order of their ids backwards.
// One round trip.
func (s *Service) ListSent(ctx context.Context, by core.Actor, send core.ID, p core.Page) (core.List[SentVoucher], error) {
	return db.ListPage(ctx, s.db, by, sentList, db.Args{"send": send, "now": s.db.Now()}, p, SentVoucher.position)
}

// ShownVoucher is a voucher with everything that a page about it says.
type ShownVoucher struct {
	Voucher
	CouponName   string
	Description  *string
	RewardName   *string // of one that gives a reward
	CustomerName string
	LinkVersion  int64
	CouponActive bool
	CapReached   bool
}

// Refusal says why the voucher can't be redeemed at the moment; nil if it can.
func (v ShownVoucher) Refusal() error {
	return redeemable{Voucher: v.Voucher, CouponActive: v.CouponActive, CapReached: v.CapReached}.refusal()
}

// FindVoucher returns a voucher for the staff, or core.ErrNotFound. One round trip.
func (s *Service) FindVoucher(ctx context.Context, by core.Actor, id core.ID) (ShownVoucher, error) {
	if err := by.Require(core.Cashier); err != nil {
		return ShownVoucher{}, err
	}
	return s.findShown(ctx, by, id)
}

// OpenVoucher returns the voucher that a customer's link names, or core.ErrNotFound for a
// link that this installation didn't make or that was revoked. One round trip.
func (s *Service) OpenVoucher(ctx context.Context, t core.Tenant, token string) (ShownVoucher, error) {
	id, err := link.ParseID(token)
	if err != nil {
		return ShownVoucher{}, err
	}
	v, err := s.findShown(ctx, core.System(t, "voucher page"), id)
	if err != nil {
		return ShownVoucher{}, err
	}
	if err := s.links.Check(token, link.Voucher, t.ID, id, v.LinkVersion); err != nil {
		return ShownVoucher{}, err
	}
	return v, nil
}

// VoucherToken returns the token of a voucher's link.
func (s *Service) VoucherToken(t core.TenantID, v ShownVoucher) (string, error) {
	return s.links.Token(link.Voucher, t, v.ID, v.LinkVersion)
}

func (s *Service) findShown(ctx context.Context, by core.Actor, id core.ID) (ShownVoucher, error) {
	return db.ReadOne[ShownVoucher](ctx, s.db, by, shownSQL, db.Args{"id": id, "now": s.db.Now()})
}

// expiry is the job that makes the stored status of vouchers agree with the clock.
type expiry struct{}

// Kind names the job in the queue.
func (expiry) Kind() string { return "voucher_expiry" }

// expire marks what is due, some at a time, so that no till waits long for a voucher.
func (s *Service) expire(ctx context.Context, _ expiry) error {
	return job.Drain(ctx, s.db, "voucher expiry", func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.Value[int64](ctx, tx, expireSQL, db.Args{"now": tx.Now, "up_to": job.Batch})
	})
}
