package reward

import (
	"cmp"
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Status of a redemption.
type Status string

// A redemption is pending until it is fulfilled or voided.
const (
	Pending   Status = "pending"
	Fulfilled Status = "fulfilled"
	Voided    Status = "voided"
)

// Redemption is one exchange for a reward.
type Redemption struct {
	ID               core.ID
	Status           Status
	CustomerID       core.ID
	RewardID         core.ID
	RewardName       string
	RewardValueCents *int64 // Reward.ValueCents when it was read
	PointsSpent      int64
	StampsSpent      int64
	TookStock        bool
	CreatedAt        time.Time
	FulfilledAt      *time.Time
	VoidedAt         *time.Time
}

// Voidable reports whether a redemption may still be voided.
func (r Redemption) Voidable(now time.Time) bool {
	return r.Status == Pending || r.Status == Fulfilled && now.Sub(*r.FulfilledAt) < VoidableAfterFulfilment
}

// Refusals of a redemption (specification §3).
var (
	ErrOutOfStock       = core.Refuse("out-of-stock", "This reward is out of stock.")
	ErrAlreadyFulfilled = core.Refuse("already-fulfilled", "This redemption has already been fulfilled.")
	ErrVoided           = core.Refuse("redemption-voided", "This redemption has been voided.")
)

// RedeemRequest describes a redemption to be created.
type RedeemRequest struct {
	CustomerID core.ID
	RewardID   core.ID
}

// Redeem exchanges a customer's points or stamps for a reward. It takes a unit of stock, then the cost,
// and creates a pending redemption. A refusal by the reward's Terms comes first, and an insufficient balance before an empty stock. A reward
// with limited stock is locked until the commit. unread is what the front end could not read.
func (s *Service) Redeem(ctx context.Context, by core.Actor, o RedeemRequest, unread core.Fields, once *core.Once[Redemption]) (core.Reply[Redemption], error) {
	return db.In(ctx, s.db.TenantAs(by, core.Cashier), db.Once(ctx, by, once, func(tx *db.Tx) (Redemption, error) {
		return redeem(ctx, tx, by, o, core.NewCheck(unread))
	}))
}

func redeem(ctx context.Context, tx *db.Tx, by core.Actor, o RedeemRequest, check *core.Check) (Redemption, error) {
	buyer, reward := o.CustomerID, o.RewardID
	found, err := db.One[offer](ctx, tx, offerSQL, db.Args{"reward": reward, "customer": buyer})
	if err != nil {
		return Redemption{}, err
	}
	customer.CheckBuyer(check, "customer_ulid", found.CustomerStatus)
	if check.OK("reward_ulid") && (found.RewardID == nil || !found.Active) {
		check.Add("reward_ulid", core.InvalidChoice)
	}
	if err := check.Err(); err != nil {
		return Redemption{}, err
	}
	if outside := found.Barrier(core.DateOf(tx.Now, by.Tenant.TimeZone), nil, 0); outside != nil { // of its days
		return Redemption{}, outside.refusal()
	}
	if by.Kind == core.ByStaff { // pages ask the staff to check the phone number of a new card
		if err := customer.Checked(tx, buyer); err != nil {
			return Redemption{}, err
		}
	}
	unit, cost := found.price()
	tookStock, err := takeStock(ctx, tx, reward, found.Stock)
	if err != nil && !errors.Is(err, ErrOutOfStock) {
		return Redemption{}, err
	}
	if refusal := found.admit(ctx, tx, by, buyer, reward); refusal != nil { // after the reward, which is locked first
		return Redemption{}, refusal
	}
	if err != nil && found.balance(unit) < cost {
		return Redemption{}, ledger.Insufficient(unit)
	}
	if err != nil {
		return Redemption{}, err
	}
	r := Redemption{CustomerID: buyer, RewardID: reward, RewardName: found.Name, RewardValueCents: found.ValueCents, TookStock: tookStock}
	if unit == ledger.Stamps {
		r.StampsSpent = cost
	} else {
		r.PointsSpent = cost
	}
	if r, err = insert(tx, by, r); err != nil {
		return Redemption{}, err
	}
	_, err = ledger.Post(ctx, tx, by, ledger.Entry{
		Customer: buyer, Unit: unit, Amount: -cost, Kind: ledger.Redemption, Cause: &r.ID,
	})
	return r, err
}

// Use says where a redemption is fulfilled: at the till, with a sale.
type Use struct {
	Transaction *core.ID // nil: without a sale
	Location    *int64   // nil: unknown
}

// RedeemAndFulfil redeems a reward and fulfils the redemption in the caller's transaction: at the till,
// both happen at once.
func RedeemAndFulfil(ctx context.Context, tx *db.Tx, by core.Actor, o RedeemRequest, use Use) (Redemption, error) {
	r, err := redeem(ctx, tx, by, o, core.NewCheck(nil))
	if err != nil {
		return Redemption{}, err
	}
	r.Status, r.FulfilledAt = Fulfilled, &tx.Now
	return r, FulfilNew(tx, by, r, use)
}

// FulfilNew fulfils a redemption that the caller's transaction has just created.
func FulfilNew(tx *db.Tx, by core.Actor, r Redemption, use Use) error {
	if err := db.Queue(tx, fulfilSQL, use.args(tx, r.ID)); err != nil {
		return err
	}
	return logFulfilment(tx, by, r)
}

func (u Use) args(tx *db.Tx, redemption core.ID) db.Args {
	return db.Args{"id": redemption, "transaction": u.Transaction, "location": u.Location, "now": tx.Now}
}

func (o offer) price() (ledger.Unit, int64) {
	return Reward{PointsCost: o.PointsCost, StampsCost: o.StampsCost}.Price()
}

// balance returns the buyer's balance at the time of the look-up.
func (o offer) balance(unit ledger.Unit) int64 {
	if unit == ledger.Stamps {
		return o.Stamps
	}
	return o.Points
}

// takeStock takes a unit of a limited stock. An unlimited reward isn't updated, so its buyers never wait
// for each other.
func takeStock(ctx context.Context, tx *db.Tx, reward core.ID, stock *int64) (took bool, err error) {
	if stock == nil {
		return false, nil
	}
	took, err = db.One[bool](ctx, tx, takeStockSQL, db.Args{"reward": reward})
	if errors.Is(err, core.ErrNotFound) {
		err = ErrOutOfStock
	}
	return took, err
}

// Grant creates a pending redemption at no cost, for a voucher, in the caller's transaction. It takes a
// unit of a limited stock, or fails with ErrOutOfStock.
func Grant(ctx context.Context, tx *db.Tx, by core.Actor, customer, reward core.ID) (Redemption, error) {
	for {
		taken, err := db.One[takenUnit](ctx, tx, grantUnitSQL, db.Args{"reward": reward})
		switch {
		case err != nil:
			return Redemption{}, err
		case taken.Stock == nil || taken.Taken:
			return insert(tx, by, Redemption{
				CustomerID: customer, RewardID: reward, RewardName: taken.Name, RewardValueCents: taken.ValueCents, TookStock: taken.Taken,
			})
		case *taken.Stock == 0:
			return Redemption{}, ErrOutOfStock
		}
		// The stock changed during the statement.
	}
}

// insert queues a pending redemption.
func insert(tx *db.Tx, by core.Actor, r Redemption) (Redemption, error) {
	r.ID, r.Status, r.CreatedAt = core.NewID(tx.Now), Pending, tx.Now
	return r, db.Queue(tx, insertRedemptionSQL, db.Args{
		"id": r.ID, "customer": r.CustomerID, "reward": r.RewardID, "points": r.PointsSpent, "stamps": r.StampsSpent,
		"took_stock": r.TookStock, "actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
	})
}

// FindRedemption returns a redemption, or core.ErrNotFound.
func (s *Service) FindRedemption(ctx context.Context, by core.Actor, id core.ID) (Redemption, error) {
	return s.finder.Find(ctx, by, id)
}

// Fulfil marks a pending redemption as fulfilled: the customer got the reward.
func (s *Service) Fulfil(ctx context.Context, by core.Actor, id core.ID, once *core.Once[Redemption]) (core.Reply[Redemption], error) {
	return db.In(ctx, s.db.TenantAs(by, core.Cashier), db.Once(ctx, by, once, func(tx *db.Tx) (Redemption, error) {
		return FulfilIn(ctx, tx, by, id, Use{})
	}))
}

// FulfilIn is Fulfil in the caller's transaction, which also checks the role: at the till, earlier
// redemptions are fulfilled together with a sale.
func FulfilIn(ctx context.Context, tx *db.Tx, by core.Actor, id core.ID, use Use) (Redemption, error) {
	r, err := db.One[Redemption](ctx, tx, fulfilSQL, use.args(tx, id))
	if err != nil {
		return Redemption{}, notPending(ctx, tx, id, err)
	}
	return r, logFulfilment(tx, by, r)
}

// VoidableAfterFulfilment is how long a fulfilled redemption can be voided, for a mistake at the counter
// (decisions §6).
const VoidableAfterFulfilment = 24 * time.Hour

// MaxVoidReason is the length of a reason in characters.
const MaxVoidReason = 255

// Void voids a redemption that is pending, or was fulfilled in the last 24 hours, and returns its cost and
// its unit of stock, once. It needs a reason.
func (s *Service) Void(ctx context.Context, by core.Actor, id core.ID, reason string) (Redemption, error) {
	check := core.NewCheck(nil)
	why := check.Text("reason", &reason, MaxVoidReason)
	if err := cmp.Or(by.Require(core.Manager), check.Err()); err != nil {
		return Redemption{}, err
	}
	r, err := db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (Redemption, error) { return void(ctx, tx, by, id, &why) })
	return r, ledger.Refusal(err)
}

// VoidOnce is Void for programs, which give no reason.
func (s *Service) VoidOnce(ctx context.Context, by core.Actor, id core.ID, once *core.Once[Redemption]) (core.Reply[Redemption], error) {
	r, err := db.In(ctx, s.db.TenantAs(by, core.Manager), db.Once(ctx, by, once, func(tx *db.Tx) (Redemption, error) {
		return void(ctx, tx, by, id, nil)
	}))
	return r, ledger.Refusal(err)
}

func void(ctx context.Context, tx *db.Tx, by core.Actor, id core.ID, reason *string) (Redemption, error) {
	r, err := db.One[Redemption](ctx, tx, voidSQL, db.Args{
		"id": id, "now": tx.Now, "fulfilled_since": tx.Now.Add(-VoidableAfterFulfilment), "reason": reason,
	})
	if err != nil {
		return Redemption{}, notPending(ctx, tx, id, err)
	}
	if r.TookStock {
		// The reward is locked before the account, as everywhere.
		if err := db.Queue(tx, returnStockSQL, db.Args{"reward": r.RewardID}); err != nil {
			return Redemption{}, err
		}
	}
	if err := errors.Join(daily.Mark(tx, r.CreatedAt), Refund(tx, by, r)); err != nil {
		return Redemption{}, err
	}
	values := map[string]any{"status": Voided}
	if reason != nil {
		values["reason"] = *reason
	}
	return r, audit.Write(tx, by, audit.Entry{
		Action: "redemption.void", Subject: "redemption", ID: r.ID.String(), Name: r.RewardName, Customer: &r.CustomerID,
		Old: map[string]any{"status": r.before()}, New: values,
	})
}

// before returns the status that a voided redemption had.
func (r Redemption) before() Status {
	if r.FulfilledAt != nil {
		return Fulfilled
	}
	return Pending
}

// Refund queues the return of a voided redemption's cost in the caller's transaction.
func Refund(tx *db.Tx, by core.Actor, r Redemption) error {
	unit, amount := ledger.Points, r.PointsSpent
	if r.StampsSpent > 0 {
		unit, amount = ledger.Stamps, r.StampsSpent
	}
	if amount == 0 {
		return nil
	}
	return ledger.Queue(tx, by, ledger.Entry{
		Customer: r.CustomerID, Unit: unit, Amount: amount, Kind: ledger.RedemptionRefund, Cause: &r.ID,
	})
}

// notPending returns why a redemption could not be fulfilled or voided.
func notPending(ctx context.Context, tx *db.Tx, id core.ID, err error) error {
	if !errors.Is(err, core.ErrNotFound) {
		return err
	}
	r, err := db.One[Redemption](ctx, tx, findRedemptionSQL, db.Args{"id": id})
	switch {
	case err != nil:
		return err
	case r.Status == Voided:
		return ErrVoided
	}
	return ErrAlreadyFulfilled
}

func logFulfilment(tx *db.Tx, by core.Actor, r Redemption) error {
	return audit.Write(tx, by, audit.Entry{
		Action: "redemption.fulfil", Subject: "redemption", ID: r.ID.String(), Name: r.RewardName, Customer: &r.CustomerID,
		Old: map[string]any{"status": Pending}, New: map[string]any{"status": Fulfilled},
	})
}
