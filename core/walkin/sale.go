package walkin

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// Sale is what a till completes in one go: a sale, and the rewards and vouchers that the
// customer uses with it.
type Sale struct {
	transaction.New           // without SpendAmountCents there is no sale; Source is POS
	PIN             *core.ID  // one that this till has taken: the sale is its customer's, whatever CustomerID says
	Pending         []core.ID // redemptions that were made before: fulfilled
	Rewards         []core.ID // redeemed and fulfilled
	Vouchers        []core.ID // redeemed; a reward that one gives is fulfilled
}

// Receipt is what came of a Sale.
type Receipt struct {
	CustomerID  core.ID
	Sale        *transaction.Transaction // nil: only rewards or vouchers were redeemed
	Redemptions []core.ID
	Vouchers    []core.ID
}

// errNothing refuses a sale of nothing.
var errNothing = core.Invalid(core.Fields{"spend_amount_cents": {core.Required}})

// errNotTheirRedemption refuses a redemption of another customer.
var errNotTheirRedemption = core.Invalid(core.Fields{"redemption_ulid": {core.InvalidChoice}})

// errNotTheirs refuses a voucher of another customer.
var errNotTheirs = core.Invalid(core.Fields{"voucher_ulid": {core.InvalidChoice}})

// Complete records a sale at the till, with the rewards and vouchers that are used with it,
// in one transaction: all of it happens, or none, and then the till may correct and try
// again. A PIN completes one sale, within five minutes of being taken; ErrPIN otherwise. What
// transaction.Record, reward.Redeem and coupon.Redeem refuse is refused here alike.
//
// Vouchers and rewards come first and the sale last: what a sale earns can't be spent on it.
// They are taken in the order of their ids, so that two tills wait for each other and seldom
// block each other; where they do, one of them runs again.
func (s *Service) Complete(ctx context.Context, by core.Actor, till string, sale Sale) (Receipt, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Receipt{}, err
	}
	receipt, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Receipt, error) {
		return s.complete(ctx, tx, by, till, sale)
	})
	return receipt, transaction.Refusal(err)
}

func (s *Service) complete(ctx context.Context, tx *db.Tx, by core.Actor, till string, sale Sale) (Receipt, error) {
	if sale.SpendAmountCents == nil && len(sale.Malformed) == 0 && len(sale.Pending)+len(sale.Rewards)+len(sale.Vouchers) == 0 {
		return Receipt{}, errNothing
	}
	if sale.PIN != nil {
		id, err := s.useTakenPIN(ctx, tx, till, *sale.PIN)
		if err != nil {
			return Receipt{}, err
		}
		sale.CustomerID = new(id.String())
	}
	check := core.NewCheck(nil)
	r := Receipt{CustomerID: check.Reference("customer_ulid", sale.CustomerID)}
	if err := check.Err(); err != nil {
		return Receipt{}, err
	}
	if err := s.redeemAll(ctx, tx, by, sale, &r); err != nil {
		return Receipt{}, err
	}
	if sale.SpendAmountCents != nil || len(sale.Malformed) > 0 {
		sale.Source = transaction.POS
		t, err := s.sales.RecordIn(ctx, tx, by, sale.New)
		if err != nil {
			return Receipt{}, err
		}
		r.Sale = &t
	}
	if sale.PIN == nil {
		return r, nil
	}
	facts := map[string]any{"shown_by": fromCard, "customer": r.CustomerID.String()}
	if r.Sale != nil {
		facts["transaction"] = r.Sale.ID.String()
		if err := db.Queue(tx, completedSQL, db.Args{"id": *sale.PIN, "transaction": r.Sale.ID}); err != nil {
			return Receipt{}, err
		}
	}
	return r, s.logAndSignal(tx, by, "pin.use", *sale.PIN, facts)
}

// useTakenPIN marks a PIN that this till has taken as used, and returns its customer.
func (s *Service) useTakenPIN(ctx context.Context, tx *db.Tx, till string, pin core.ID) (core.ID, error) {
	id, err := db.Value[core.ID](ctx, tx, completeSQL, db.Args{"id": pin, "taker": tillIssuer(till), "now": tx.Now})
	if errors.Is(err, core.ErrNotFound) {
		err = ErrPIN
	}
	return id, err
}

// redeemAll redeems the vouchers and rewards of a sale.
func (s *Service) redeemAll(ctx context.Context, tx *db.Tx, by core.Actor, sale Sale, r *Receipt) error {
	for _, id := range sorted(sale.Vouchers) {
		v, granted, err := coupon.RedeemIn(ctx, tx, by, id)
		switch {
		case errors.Is(err, core.ErrNotFound), err == nil && v.CustomerID != r.CustomerID:
			return errNotTheirs
		case err != nil:
			return err
		}
		if granted != nil {
			if err := reward.FulfilNew(tx, by, *granted); err != nil {
				return err
			}
		}
		r.Vouchers = append(r.Vouchers, v.ID)
	}
	for _, id := range sorted(sale.Pending) {
		fulfilled, err := reward.FulfilIn(ctx, tx, by, id)
		switch {
		case errors.Is(err, core.ErrNotFound), err == nil && fulfilled.CustomerID != r.CustomerID:
			return errNotTheirRedemption
		case err != nil:
			return err
		}
		r.Redemptions = append(r.Redemptions, id)
	}
	customerID := r.CustomerID.String()
	for _, id := range sorted(sale.Rewards) {
		redeemed, err := reward.RedeemAndFulfil(ctx, tx, by, reward.RedeemRequest{CustomerID: &customerID, RewardID: new(id.String())})
		if err != nil {
			return err
		}
		r.Redemptions = append(r.Redemptions, redeemed.ID)
	}
	return nil
}

// Offer describes the sale that a till shows a PIN for.
type Offer struct {
	TransactionTypeID *int64
	SpendAmountCents  *int64
	LocationID        *int64 // may be missing

	Malformed core.Fields // what the front end could not read
}

// offer is an Offer that passed; zero for a card's PIN.
type offer struct {
	typeID, spend, location *int64
	cashier                 string
}

// ShowSale shows the PIN of a sale that a customer's phone may claim, and replaces the one
// that this till showed before. Type, location and amount are checked as for a sale. Three
// round trips.
func (s *Service) ShowSale(ctx context.Context, by core.Actor, till string, o Offer) (Shown, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Shown{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Shown, error) {
		return s.showSale(ctx, tx, by, till, o)
	})
}

func (s *Service) showSale(ctx context.Context, tx *db.Tx, by core.Actor, till string, o Offer) (Shown, error) {
	err := s.sales.CheckIn(ctx, tx, transaction.New{
		TransactionTypeID: o.TransactionTypeID, SpendAmountCents: o.SpendAmountCents, LocationID: o.LocationID, Malformed: o.Malformed,
	})
	if err != nil {
		return Shown{}, err
	}
	return s.issue(ctx, tx, by, pin{direction: fromTill, issuer: tillIssuer(till), offer: offer{
		typeID: o.TransactionTypeID, spend: o.SpendAmountCents, location: o.LocationID, cashier: by.Name,
	}})
}

// ErrCompleted says that a PIN can't be replaced: a customer has collected its sale.
var ErrCompleted = errors.New("walkin: the sale is complete")

// shownOffer is the sale of a PIN that is to be replaced.
type shownOffer struct {
	Status            string
	TransactionTypeID *int64
	SpendAmountCents  *int64
	LocationID        *int64
}

// Renew shows another PIN for the sale of one that this till shows, and takes that one back,
// also from a phone that has taken it: one sale must not be collected twice. ErrCompleted
// where it was collected meanwhile, core.ErrNotFound for a PIN of another till. Four round
// trips.
func (s *Service) Renew(ctx context.Context, by core.Actor, till string, pin core.ID) (Shown, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Shown{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Shown, error) {
		old, err := db.One[shownOffer](ctx, tx, lockShownSQL, db.Args{"id": pin, "issuer": tillIssuer(till)})
		if err != nil {
			return Shown{}, err
		}
		if old.Status == "used" {
			return Shown{}, ErrCompleted
		}
		if err := db.Queue(tx, replaceOneSQL, db.Args{"id": pin, "now": tx.Now}); err != nil {
			return Shown{}, err
		}
		live.Notify(tx, Topic(tx.Tenant, pin))
		return s.showSale(ctx, tx, by, till, Offer{
			TransactionTypeID: old.TransactionTypeID, SpendAmountCents: old.SpendAmountCents, LocationID: old.LocationID,
		})
	})
}
