package walkin

import (
	"context"
	"errors"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// Sale is a sale at the till with the rewards and vouchers that the customer uses.
type Sale struct {
	CustomerID core.ID
	LocationID *int64            // nil: unknown
	Sold       *transaction.Sale // its amount is before the discounts of Vouchers; nil: nothing was bought
	PIN        *core.ID          // a PIN that this till has taken, whose customer replaces CustomerID
	Pending    []core.ID         // earlier redemptions to fulfil
	Rewards    []core.ID         // to redeem and fulfil
	Vouchers   []core.ID         // to redeem; their rewards are fulfilled
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
func (s *Service) Complete(ctx context.Context, by core.Actor, till string, sale Sale, unread core.Fields, once *core.Once[Receipt]) (core.Reply[Receipt], error) {
	receipt, err := db.In(ctx, s.db.TenantAs(by, core.Cashier), db.Once(ctx, by, once, func(tx *db.Tx) (Receipt, error) {
		return s.complete(ctx, tx, by, till, sale, core.NewCheck(unread))
	}))
	return receipt, transaction.Refusal(err)
}

func (s *Service) complete(ctx context.Context, tx *db.Tx, by core.Actor, till string, sale Sale, check *core.Check) (Receipt, error) {
	if sale.Sold == nil && len(sale.Pending)+len(sale.Rewards)+len(sale.Vouchers) == 0 {
		return Receipt{}, errEmptySale
	}
	if sale.PIN != nil {
		id, err := s.useTakenPIN(ctx, tx, till, *sale.PIN)
		if err != nil {
			return Receipt{}, err
		}
		sale.CustomerID = id
	}
	r, use := Receipt{ID: core.NewID(tx.Now), CustomerID: sale.CustomerID}, reward.Use{Location: sale.LocationID}
	if sale.Sold != nil {
		use.Transaction = &r.ID
	}
	redeemed, err := redeemAll(ctx, tx, by, sale, r, use)
	if err != nil {
		return Receipt{}, err
	}
	if sale.Sold != nil {
		t, err := s.sales.RecordIn(ctx, tx, by, r.ID, sale.paid(redeemed), check)
		if err != nil {
			return Receipt{}, err
		}
		r.Sale = &t
	} else if err := check.Err(); err != nil {
		return Receipt{}, err
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
	id, err := db.One[core.ID](ctx, tx, completeSQL, db.Args{"id": pin, "taker": tillIssuer(till), "now": tx.Now})
	if errors.Is(err, core.ErrNotFound) {
		err = ErrPIN
	}
	return id, err
}

// paid returns what was sold, at what was paid after the vouchers' discounts. An amount that can't be recorded is left to its refusal.
func (sale Sale) paid(vouchers []coupon.Voucher) transaction.Sale {
	sold := *sale.Sold
	sold.CustomerID, sold.LocationID, sold.Source = sale.CustomerID, sale.LocationID, transaction.POS
	if sold.SpendAmountCents >= 0 && sold.SpendAmountCents <= transaction.MaxSpendCents {
		bill := coupon.BillFor(sold.SpendAmountCents, vouchers)
		sold.SpendAmountCents, sold.DiscountCents = bill.PaidCents, bill.OffCents()
		if bill.OffCents() > 0 {
			sold.Items = paidItems(sold.Items, bill.TotalCents, bill.PaidCents)
		}
	}
	return sold
}

// paidItems returns items with their share of what was paid.
func paidItems(items []award.Item, total, paid int64) []award.Item {
	items = slices.Clone(items)
	for i := range items {
		if amount := items[i].AmountCents; amount > 0 && amount <= total {
			items[i].AmountCents = award.Part(amount, paid, total)
		}
	}
	return items
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
	for _, id := range sortedUnique(sale.Rewards) {
		redeemed, err := reward.RedeemAndFulfil(ctx, tx, by, reward.RedeemRequest{CustomerID: r.CustomerID, RewardID: id}, use)
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
	TransactionTypeID int64
	SpendAmountCents  int64
	LocationID        *int64       // nil: unknown
	Items             []award.Item // what it is about, as far as it is known
}

// Sale is what the till records, without its customer.
func (o Offer) Sale() transaction.Sale {
	return transaction.Sale{
		TransactionTypeID: o.TransactionTypeID, SpendAmountCents: o.SpendAmountCents, LocationID: o.LocationID, Items: o.Items, Source: transaction.POS,
	}
}

// offer is a checked Offer; empty for a card's PIN.
type offer struct {
	typeID, spend, location *int64
	items                   []award.Item
	cashier                 string
}

// ShowSale issues the PIN of a sale that a customer's phone can claim, and replaces this till's previous one.
// It checks the type, location and amount.
func (s *Service) ShowSale(ctx context.Context, by core.Actor, till string, o Offer, unread core.Fields) (Shown, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Cashier), func(tx *db.Tx) (Shown, error) {
		return s.showSale(ctx, tx, by, till, o, core.NewCheck(unread))
	})
}

func (s *Service) showSale(ctx context.Context, tx *db.Tx, by core.Actor, till string, o Offer, check *core.Check) (Shown, error) {
	if err := s.sales.CheckIn(ctx, tx, by, o.Sale(), check); err != nil {
		return Shown{}, err
	}
	return s.issue(ctx, tx, by, newPIN{direction: fromTill, issuer: tillIssuer(till), offer: offer{
		typeID: &o.TransactionTypeID, spend: &o.SpendAmountCents, location: o.LocationID, items: o.Items, cashier: by.Name,
	}})
}

// ErrCompleted says that a PIN can't be replaced because a customer has claimed its sale.
var ErrCompleted = errors.New("walkin: the sale is complete")

// shownOffer is the sale of a PIN to be replaced.
type shownOffer struct {
	Status string
	Offer
}

// Renew replaces a PIN that this till shows by a new one for the same sale, even if a phone has taken it,
// because a sale must not be claimed twice. It fails with ErrCompleted if the sale was claimed, and with
// core.ErrNotFound for another till's PIN.
func (s *Service) Renew(ctx context.Context, by core.Actor, till string, pin core.ID) (Shown, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Cashier), func(tx *db.Tx) (Shown, error) {
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
		return s.showSale(ctx, tx, by, till, old.Offer, core.NewCheck(nil))
	})
}
