package coupon

import (
	"cmp"
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/reward"
)

// VoucherStatus is the status of a voucher.
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
	Status     VoucherStatus // when it was read
	Benefit
	RedemptionID  *core.ID // of a redeemed voucher for a reward
	TransactionID *core.ID // the sale that it was redeemed with; nil: none is known
	ExpiresAt     *time.Time
	RedeemedAt    *time.Time
	RestoredAt    *time.Time // Restore
	CreatedAt     time.Time
}

// Refusals of a voucher (specification §3).
var (
	ErrAlreadyRedeemed = core.Refuse("voucher-redeemed", "This voucher has already been redeemed.")
	ErrVoucherExpired  = core.Refuse("voucher-expired", "This voucher has expired.")
	ErrNotAvailable    = core.Refuse("voucher-not-available", "This voucher is for Gold and above.") // as an example: of any level
	ErrCapReached      = core.Refuse("coupon-cap-reached", "Maximum redemptions for this coupon have been reached.")
)

// redeemable is a voucher and whether its coupon lets it be redeemed.
type redeemable struct {
	Voucher
	CouponName   string
	CouponActive bool
	CapReached   bool
	SaleFound    bool // a completed sale of its customer
	MinLevelID   *int64
	Lacking      *award.Level `db:"-"` // the level that the coupon asks for and the customer doesn't have; nil: they can redeem it
}

// refusal returns why the voucher can't be redeemed, in the order of decisions §6.
func (v Voucher) refusal(couponActive bool, lacking *award.Level, capReached bool) error {
	switch {
	case v.Status == VoucherRedeemed:
		return ErrAlreadyRedeemed
	case v.Status == VoucherExpired:
		return ErrVoucherExpired
	case !couponActive:
		return ErrInactive
	case lacking != nil:
		return ErrNotAvailable.Saying("This voucher is for " + lacking.Name + " and above.")
	case capReached:
		return ErrCapReached
	}
	return nil
}

// Redeem redeems a voucher and grants its benefit, once: points and stamps through the ledger, a
// reward as a pending redemption at no cost; percent and amount are for the cashier. One conditional
// update protects voucher and limit; if it refuses, the voucher is read again to say why. The coupon
// is locked for the last round trip only, which commits.
func (s *Service) Redeem(ctx context.Context, by core.Actor, id core.ID, once *core.Once[Voucher]) (core.Reply[Voucher], error) {
	return s.RedeemWith(ctx, by, id, nil, nil, once)
}

// RedeemWith is Redeem for a recorded sale, which the voucher then names; nil: none. It must be a completed sale of the
// same customer. unread is what the front end could not read.
func (s *Service) RedeemWith(ctx context.Context, by core.Actor, id core.ID, sale *core.ID, unread core.Fields, once *core.Once[Voucher]) (core.Reply[Voucher], error) {
	v, err := db.In(ctx, s.db.TenantAs(by, core.Cashier), db.Once(ctx, by, once, func(tx *db.Tx) (Voucher, error) {
		found, err := findForSale(ctx, tx, id, sale)
		if err != nil {
			return Voucher{}, err
		}
		check := core.NewCheck(unread)
		if sale != nil && !found.SaleFound {
			check.Add("transaction_ulid", core.InvalidChoice)
		}
		if err := check.Err(); err != nil {
			return Voucher{}, err
		}
		if err := found.admit(ctx, tx, by); err != nil {
			return Voucher{}, err
		}
		if sale != nil {
			if err := daily.MarkSale(tx, *sale); err != nil {
				return Voucher{}, err
			}
		}
		v, _, err := found.redeemIn(ctx, tx, by, sale)
		return v, err
	}))
	return v, ledger.Refusal(err)
}

// RedeemIn is Redeem in the caller's transaction, for the till, where vouchers are redeemed together
// with a sale (nil: without one), which is recorded after them. The caller checks the role. It also returns the pending
// redemption of a voucher for a reward, or nil.
func RedeemIn(ctx context.Context, tx *db.Tx, by core.Actor, id core.ID, sale *core.ID) (Voucher, *reward.Redemption, error) {
	found, err := findForSale(ctx, tx, id, nil)
	if err != nil {
		return Voucher{}, nil, err
	}
	if err := found.admit(ctx, tx, by); err != nil {
		return Voucher{}, nil, err
	}
	return found.redeemIn(ctx, tx, by, sale)
}

func (v redeemable) redeemIn(ctx context.Context, tx *db.Tx, by core.Actor, sale *core.ID) (Voucher, *reward.Redemption, error) {
	if by.Kind == core.ByStaff { // pages ask the staff to check the phone number of a new card
		if err := customer.Checked(tx, v.CustomerID); err != nil {
			return Voucher{}, nil, err
		}
	}
	var granted *reward.Redemption
	var redemption *core.ID
	if v.BenefitType == Reward {
		r, err := reward.Grant(ctx, tx, by, v.CustomerID, *v.BenefitRewardID)
		if err != nil {
			return Voucher{}, nil, err
		}
		granted, redemption = &r, &r.ID
	}
	redeemed, err := v.redeem(ctx, tx, redemption, sale)
	if err != nil {
		return Voucher{}, nil, err
	}
	if err := redeemed.postBenefit(tx, by, ledger.VoucherAward); err != nil {
		return Voucher{}, nil, err
	}
	return redeemed.Voucher, granted, audit.Write(tx, by, audit.Entry{
		Action: "voucher.redeem", Subject: "voucher", ID: v.ID.String(), Name: v.CouponName, Customer: &redeemed.CustomerID,
		Old: map[string]any{"status": VoucherPending}, New: map[string]any{"status": VoucherRedeemed},
	})
}

// refuses returns why the voucher can't be redeemed, or nil.
func (v redeemable) refuses() error { return v.refusal(v.CouponActive, v.Lacking, v.CapReached) }

// admit returns why the voucher can't be redeemed, or nil. If its coupon asks for a level, that of the customer is read: as it is now,
// and without a lock, because balances are locked last.
func (v redeemable) admit(ctx context.Context, tx *db.Tx, by core.Actor) error {
	if v.MinLevelID != nil {
		var held level.Reading
		if err := db.Together(ctx, tx, held.Readings(v.CustomerID)...); err != nil {
			return err
		}
		v.Lacking = held.OfCustomer(core.DateOf(tx.Now, by.Tenant.TimeZone)).Lacking(v.MinLevelID)
	}
	return v.refuses()
}

// findForSale returns a voucher, and whether a sale (nil: none) is one that it can be redeemed with.
func findForSale(ctx context.Context, tx *db.Tx, id core.ID, sale *core.ID) (redeemable, error) {
	args := db.Args{"id": id, "sale": sale, "now": tx.Now}
	v, err := db.One[redeemable](ctx, tx, redeemableSQL, args)
	if errors.Is(err, core.ErrNotFound) {
		// Its customer may have been merged during the look-up.
		v, err = db.One[redeemable](ctx, tx, redeemableSQL, args)
	}
	return v, err
}

var errUnexplained = errors.New("coupon: a voucher could not be redeemed and nothing says why")

// redeemed is a voucher in one of its turns: how many times it has been redeemed.
type redeemed struct {
	Voucher
	Turn int16
}

// redeem marks the voucher as redeemed and counts it, or returns why it no longer can be.
func (v redeemable) redeem(ctx context.Context, tx *db.Tx, redemption, sale *core.ID) (redeemed, error) {
	for range 3 {
		r, err := db.One[redeemed](ctx, tx, redeemSQL, db.Args{
			"id": v.ID, "coupon": v.CouponID, "redemption": redemption, "transaction": sale, "now": tx.Now,
		})
		if !errors.Is(err, core.ErrNotFound) {
			return r, err
		}
		now, err := findForSale(ctx, tx, v.ID, nil)
		if err = cmp.Or(err, now.refuses()); err != nil {
			return redeemed{}, err
		}
		// The obstacle is gone: the limit was raised meanwhile, or the coupon activated.
	}
	return redeemed{}, errUnexplained
}

// postBenefit queues the points or stamps of a voucher: its award, or the award's reversal. One for anything else is an
// activity, too.
func (v redeemed) postBenefit(tx *db.Tx, by core.Actor, kind ledger.Kind) error {
	unit := ledger.Points
	switch v.BenefitType {
	case Points:
	case Stamps:
		unit = ledger.Stamps
	case Percent, Amount, Reward:
		if kind == ledger.Reversal {
			return nil
		}
		return ledger.Touch(tx, by, v.CustomerID)
	}
	amount := *v.BenefitValue
	if kind == ledger.Reversal {
		amount = -amount
	}
	return ledger.Queue(tx, by, ledger.Entry{
		Customer: v.CustomerID, Unit: unit, Amount: amount, Kind: kind, Cause: &v.ID, Turn: v.Turn,
	})
}

func (v Voucher) position() core.Cursor { return core.Cursor{At: v.CreatedAt, ID: v.ID} }

// RedeemedVoucher is a redeemed voucher with its customer's name.
type RedeemedVoucher struct {
	Voucher
	CustomerName string
}

// ListRedeemed returns a page of a coupon's redeemed vouchers, the last redeemed first, or
// core.ErrNotFound.
func (s *Service) ListRedeemed(ctx context.Context, by core.Actor, coupon core.ID, p core.Page) (core.List[RedeemedVoucher], error) {
	position := func(v RedeemedVoucher) core.Cursor { return core.Cursor{At: *v.RedeemedAt, ID: v.ID} }
	l, err := db.ListPage(ctx, s.db, by, redeemedList, db.Args{"coupon": coupon}, p, position)
	return db.OfExisting(ctx, s.db, by, l, err, findSQL, db.Args{"id": coupon})
}

// NamedVoucher is a voucher with the names of its coupon and reward.
type NamedVoucher struct {
	Voucher
	CouponName string
	RewardName *string // of a voucher for a reward
	Redeemable bool    // by customers with the level that the coupon asks for
	MinLevelID *int64
}

// ListByCustomer returns a page of a customer's vouchers, newest first, or core.ErrNotFound.
func (s *Service) ListByCustomer(ctx context.Context, by core.Actor, customer core.ID, p core.Page) (core.List[NamedVoucher], error) {
	l, err := db.ListPage(ctx, s.db, by, customerList, db.Args{"customer": customer, "now": s.db.Now()}, p, NamedVoucher.position)
	return db.OfExisting(ctx, s.db, by, l, err, customerSQL, db.Args{"customer": customer})
}

// SentVoucher is a voucher of a send.
type SentVoucher struct {
	Voucher
	CustomerName string
	MailStatus   *string // queued, delivered or failed; nil: no e-mail
}

// ListSent returns a page of a send's vouchers, by id, highest first.
func (s *Service) ListSent(ctx context.Context, by core.Actor, send core.ID, p core.Page) (core.List[SentVoucher], error) {
	return db.ListPage(ctx, s.db, by, sentList, db.Args{"send": send, "now": s.db.Now()}, p, SentVoucher.position)
}

// ShownVoucher is a voucher with everything that its page shows.
type ShownVoucher struct {
	Voucher
	CouponName   string
	Description  *string
	RewardName   *string // of a voucher for a reward
	CustomerName string
	LinkVersion  int64
	CouponActive bool

	CustomerActive bool
	Erased         bool // the customer
	CapReached     bool
	OutOfStock     bool // the reward
	TooLarge       bool // the balance would be

	MinLevelID *int64
	Lacking    *award.Level `db:"-"` // the level that the coupon asks for and the customer doesn't have; nil: they can redeem it
}

// Refusal returns why the voucher can't be redeemed, as its coupon says; nil if it can.
func (v ShownVoucher) Refusal() error { return v.refusal(v.CouponActive, v.Lacking, v.CapReached) }

// RefusalNow returns what Redeem would refuse the voucher with, if nothing changes meanwhile; nil: nothing.
func (v ShownVoucher) RefusalNow() error {
	refusal := v.Refusal()
	switch {
	case refusal != nil:
	case v.OutOfStock:
		refusal = reward.ErrOutOfStock
	case v.TooLarge:
		refusal = ledger.ErrTooLarge
	}
	return refusal
}

// FindVoucher returns a voucher for the staff, or core.ErrNotFound.
func (s *Service) FindVoucher(ctx context.Context, by core.Actor, id core.ID) (ShownVoucher, error) {
	if err := by.Require(core.Cashier); err != nil {
		return ShownVoucher{}, err
	}
	return s.findShown(ctx, by, id)
}

// OpenVoucher returns the voucher of a customer's link, or core.ErrNotFound if the link is forged or the customer
// erased: link.ErrReplaced if it was replaced.
func (s *Service) OpenVoucher(ctx context.Context, t core.Tenant, token string) (ShownVoucher, error) {
	id, err := link.ParseID(token)
	if err != nil {
		return ShownVoucher{}, err
	}
	v, err := s.findShown(ctx, core.System(t, "voucher page"), id)
	if err != nil {
		return ShownVoucher{}, err
	}
	if v.Erased {
		return ShownVoucher{}, core.ErrNotFound
	}
	if err := s.links.Check(token, link.Voucher, t.ID, id, v.LinkVersion); err != nil {
		return ShownVoucher{}, err
	}
	return v, nil
}

// FindTyped returns the voucher that staff typed, scanned or pasted: its code as it is printed, its link, or the
// link's token. Revoked links and tokens find nothing.
func (s *Service) FindTyped(ctx context.Context, by core.Actor, text string) (ShownVoucher, error) {
	if err := by.Require(core.Cashier); err != nil {
		return ShownVoucher{}, err
	}
	if token, found := link.In(text, linkPath); found {
		return s.OpenVoucher(ctx, by.Tenant, token)
	}
	if id, err := core.TypedID(text); err == nil {
		return s.findShown(ctx, by, id)
	}
	return s.OpenVoucher(ctx, by.Tenant, text)
}

// linkPath is in every link to a voucher, before its token.
const linkPath = "/v/"

// typed returns the ID of what FindTyped finds. That of a code isn't looked up.
func (s *Service) typed(ctx context.Context, by core.Actor, text string) (core.ID, error) {
	if id, err := core.TypedID(text); err == nil {
		return id, nil
	}
	found, err := s.FindTyped(ctx, by, text)
	return found.ID, err
}

// RedeemTyped is RedeemWith of what FindTyped finds.
func (s *Service) RedeemTyped(ctx context.Context, by core.Actor, text string, sale *core.ID, unread core.Fields, once *core.Once[Voucher]) (core.Reply[Voucher], error) {
	id, err := s.typed(ctx, by, text)
	if err != nil {
		return core.Reply[Voucher]{}, err
	}
	return s.RedeemWith(ctx, by, id, sale, unread, once)
}

// VoucherToken returns the token of a voucher's link.
func (s *Service) VoucherToken(t core.TenantID, v ShownVoucher) (string, error) {
	return s.links.Token(link.Voucher, t, v.ID, v.LinkVersion)
}

func (s *Service) findShown(ctx context.Context, by core.Actor, id core.ID) (ShownVoucher, error) {
	v, err := db.One[ShownVoucher](ctx, s.db.Tenant(by), shownVoucherSQL, db.Args{"id": id, "now": s.db.Now()})
	if err != nil || v.MinLevelID == nil || v.Status != VoucherPending {
		return v, err
	}
	var held level.Reading
	err = db.Together(ctx, s.db.Tenant(by), held.Readings(v.CustomerID)...)
	v.Lacking = held.OfCustomer(core.DateOf(s.db.Now(), by.Tenant.TimeZone)).Lacking(v.MinLevelID)
	return v, err
}

// voucherExpiry is the job that stores which vouchers have expired.
type voucherExpiry struct{}

// Kind names the job in the queue.
func (voucherExpiry) Kind() string { return "voucher_expiry" }

// expire marks expired vouchers in batches, so that no till waits long for a voucher.
func (s *Service) expire(ctx context.Context, _ voucherExpiry) error {
	return job.Drain(ctx, s.db, func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.One[int64](ctx, tx, expireSQL, db.Args{"now": tx.Now, "up_to": job.Batch})
	})
}
