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

// Sale is a sale at the till with the rewards and vouchers that the customer uses.
type Sale struct {
	transaction.New           // SpendAmountCents is before the discounts of Vouchers; without it, there is no sale
	PIN             *core.ID  // a PIN that this till has taken, whose customer replaces CustomerID
	Pending         []core.ID // earlier redemptions to fulfil
	Rewards         []core.ID // to redeem and fulfil
	Vouchers        []core.ID // to redeem; their rewards are fulfilled
}

// Receipt is the result of a Sale.
type Receipt struct {
	ID         core.ID // of the checkout
	CustomerID core.ID
	Sale       *transaction.Transaction // nil: only rewards or vouchers were redeemed
}

// Refusals of a sale at the till.
var (
	errEmptySale        = core.Invalid(core.Fields{"spend_amount_cents": {core.Required}})
	errOthersRedemption = core.Invalid(core.Fields{"redemption_ulid": {core.InvalidChoice}})
	errOthersVoucher    = core.Invalid(core.Fields{"voucher_ulid": {core.InvalidChoice}})
)

// Complete records a sale at the till and redeems rewards and vouchers, in one transaction. After a refusal,
// the till can correct the sale and try again. A PIN completes one sale, within five minutes after it was
// taken; otherwise Complete fails with ErrPIN. It has the refusals of transaction.Record, reward.Redeem and
// coupon.Redeem.
//
// The sale comes last, because its award can't be spent on it, and because it is recorded at what is paid after the
// vouchers' discounts (coupon.BillFor). Vouchers and rewards come in order of their
// IDs, so that two tills rarely deadlock; if they do, one of them runs again.
func (s *Service) Complete(ctx context.Context, by core.Actor, till string, sale Sale) (Receipt, error) {
	receipt, err := db.InTenantAs(ctx, s.db, by, core.Cashier, func(tx *db.Tx) (Receipt, error) {
		return s.complete(ctx, tx, by, till, sale)
	})
	return receipt, transaction.Refusal(err)
}

func (s *Service) complete(ctx context.Context, tx *db.Tx, by core.Actor, till string, sale Sale) (Receipt, error) {
	if sale.SpendAmountCents == nil && len(sale.Malformed) == 0 && len(sale.Pending)+len(sale.Rewards)+len(sale.Vouchers) == 0 {
		return Receipt{}, errEmptySale
	}
	if sale.PIN != nil {
		id, err := s.useTakenPIN(ctx, tx, till, *sale.PIN)
		if err != nil {
			return Receipt{}, err
		}
		sale.CustomerID = new(id.String())
	}
	check := core.NewCheck(nil)
	r := Receipt{ID: core.NewID(tx.Now), CustomerID: check.Reference("customer_ulid", sale.CustomerID)}
	if err := check.Err(); err != nil {
		return Receipt{}, err
	}
	use, withSale := reward.Use{Location: sale.LocationID}, sale.SpendAmountCents != nil || len(sale.Malformed) > 0
	if withSale {
		use.Transaction = &r.ID
	}
	redeemed, err := redeemAll(ctx, tx, by, sale, r, use)
	if err != nil {
		return Receipt{}, err
	}
	if withSale {
		sale.Source = transaction.POS
		sale.discount(redeemed)
		t, err := s.sales.RecordIn(ctx, tx, by, r.ID, sale.New)
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

// discount takes the vouchers' discounts off the amount. An amount that can't be recorded is left to its refusal.
func (sale *Sale) discount(vouchers []coupon.Voucher) {
	spend := sale.SpendAmountCents
	if spend == nil || *spend < 0 || *spend > transaction.MaxSpendCents {
		return
	}
	bill := coupon.BillFor(*spend, vouchers)
	sale.SpendAmountCents, sale.DiscountCents = &bill.PaidCents, bill.OffCents()
}

// redeemAll redeems the vouchers and rewards of a sale, and writes them as the items of its checkout. It returns the
// vouchers.
func redeemAll(ctx context.Context, tx *db.Tx, by core.Actor, sale Sale, r Receipt, use reward.Use) (vouchers []coupon.Voucher, err error) {
	items := items{checkout: r.ID, by: by}
	for _, id := range sortedUnique(sale.Vouchers) {
		v, granted, err := coupon.RedeemIn(ctx, tx, by, id, use.Transaction)
		switch {
		case errors.Is(err, core.ErrNotFound), err == nil && v.CustomerID != r.CustomerID:
			return nil, errOthersVoucher
		case err != nil:
			return nil, err
		}
		if granted != nil {
			if err := reward.FulfilNew(tx, by, *granted, use); err != nil {
				return nil, err
			}
		}
		if err := items.add(tx, usedVoucher, v.RedemptionID, &v.ID); err != nil {
			return nil, err
		}
		vouchers = append(vouchers, v)
	}
	for _, id := range sortedUnique(sale.Pending) {
		fulfilled, err := reward.FulfilIn(ctx, tx, by, id, use)
		switch {
		case errors.Is(err, core.ErrNotFound), err == nil && fulfilled.CustomerID != r.CustomerID:
			return nil, errOthersRedemption
		case err != nil:
			return nil, err
		}
		if err := items.add(tx, usedPending, &id, nil); err != nil {
			return nil, err
		}
	}
	customerID := r.CustomerID.String()
	for _, id := range sortedUnique(sale.Rewards) {
		redeemed, err := reward.RedeemAndFulfil(ctx, tx, by, reward.RedeemRequest{CustomerID: &customerID, RewardID: new(id.String())}, use)
		if err != nil {
			return nil, err
		}
		if err := items.add(tx, usedReward, &redeemed.ID, nil); err != nil {
			return nil, err
		}
	}
	return vouchers, nil
}

// Offer describes a sale that a till shows with a PIN.
type Offer struct {
	TransactionTypeID *int64
	SpendAmountCents  *int64
	LocationID        *int64 // optional

	Malformed core.Fields // what the front end could not read
}

// offer is a checked Offer; empty for a card's PIN.
type offer struct {
	typeID, spend, location *int64
	cashier                 string
}

// ShowSale issues the PIN of a sale that a customer's phone can claim, and replaces this till's previous one.
// It checks the type, location and amount.
func (s *Service) ShowSale(ctx context.Context, by core.Actor, till string, o Offer) (Shown, error) {
	return db.InTenantAs(ctx, s.db, by, core.Cashier, func(tx *db.Tx) (Shown, error) {
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
	return s.issue(ctx, tx, by, newPIN{direction: fromTill, issuer: tillIssuer(till), offer: offer{
		typeID: o.TransactionTypeID, spend: o.SpendAmountCents, location: o.LocationID, cashier: by.Name,
	}})
}

// ErrCompleted says that a PIN can't be replaced because a customer has claimed its sale.
var ErrCompleted = errors.New("walkin: the sale is complete")

// shownOffer is the sale of a PIN to be replaced.
type shownOffer struct {
	Status            string
	TransactionTypeID *int64
	SpendAmountCents  *int64
	LocationID        *int64
}

// Renew replaces a PIN that this till shows by a new one for the same sale, even if a phone has taken it,
// because a sale must not be claimed twice. It fails with ErrCompleted if the sale was claimed, and with
// core.ErrNotFound for another till's PIN.
func (s *Service) Renew(ctx context.Context, by core.Actor, till string, pin core.ID) (Shown, error) {
	return db.InTenantAs(ctx, s.db, by, core.Cashier, func(tx *db.Tx) (Shown, error) {
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
