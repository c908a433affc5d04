package walkin

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/reward"
)

// Wallet is a customer with what they can use now and what is next.
type Wallet struct {
	customer.Customer
	Pending  []Pending             // redeemed before and not handed over yet, the oldest first, at most 50
	Rewards  []Offered             // active and in stock, the cheapest of each unit first, at most 50
	Vouchers []coupon.ShownVoucher // that can be redeemed, the first to expire first, at most 50
}

// Offered is a reward, and whether the customer has enough for it.
type Offered struct {
	ID         core.ID
	Name       string
	PointsCost *int64
	StampsCost *int64
	Affordable bool
}

// Pending is a redemption that waits to be fulfilled.
type Pending struct {
	ID         core.ID
	RewardName string
	CreatedAt  time.Time
}

// Price is what a reward costs, and in which unit.
func (o Offered) Price() (ledger.Unit, int64) {
	return reward.Reward{PointsCost: o.PointsCost, StampsCost: o.StampsCost}.Price()
}

// Balance is the customer's balance of a unit.
func (w Wallet) Balance(unit ledger.Unit) int64 {
	if unit == ledger.Stamps {
		return w.StampsBalance
	}
	return w.PointsBalance
}

// Next is the reward that the customer is closest to among those they can't afford yet, by
// the share of its cost that they have, and what is missing.
func (w Wallet) Next() (next Offered, missing int64, ok bool) {
	most := -1.0
	for _, o := range w.Rewards {
		unit, cost := o.Price()
		has := w.Balance(unit)
		share := float64(max(has, 0)) / float64(cost)
		if o.Affordable || share < most || share == most && cost-has >= missing {
			continue
		}
		next, missing, ok, most = o, cost-has, true, share
	}
	return next, missing, ok
}

// Actor is the customer as who acts on their own pages.
func (w Wallet) Actor(t core.Tenant, address, requestID string) core.Actor {
	return core.Actor{
		Kind: core.ByCustomer, ID: w.ID.String(), Name: w.FirstName + " " + w.LastName, Tenant: t,
		Address: address, RequestID: requestID,
	}
}

const (
	mostRewards  = 50
	mostVouchers = 50
	mostPending  = 50
)

// Customer returns a customer for the till, or core.ErrNotFound. One round trip.
func (s *Service) Customer(ctx context.Context, by core.Actor, id core.ID) (Wallet, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Wallet{}, err
	}
	return s.wallet(ctx, by, id)
}

// CustomerOfCard returns the customer of a card's own link, for the till: of a card that was
// printed, say. core.ErrNotFound for a link that isn't valid.
func (s *Service) CustomerOfCard(ctx context.Context, by core.Actor, token string) (Wallet, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Wallet{}, err
	}
	return s.open(ctx, by, token)
}

// OpenCard returns the customer of a card's link, or core.ErrNotFound for a link that this
// installation didn't make or that was revoked. One round trip.
func (s *Service) OpenCard(ctx context.Context, t core.Tenant, token string) (Wallet, error) {
	return s.open(ctx, core.System(t, "card page"), token)
}

func (s *Service) open(ctx context.Context, by core.Actor, token string) (Wallet, error) {
	id, err := link.ID(token)
	if err != nil {
		return Wallet{}, err
	}
	w, err := s.wallet(ctx, by, id)
	if err != nil {
		return Wallet{}, err
	}
	if err := s.links.Check(token, link.Card, by.Tenant.ID, id, w.LinkVersion); err != nil {
		return Wallet{}, err
	}
	return w, nil
}

// CardToken returns the token of a customer's card link.
func (s *Service) CardToken(t core.TenantID, c customer.Customer) (string, error) {
	return s.links.Token(link.Card, t, c.ID, c.LinkVersion)
}

// wallet reads a customer with rewards and vouchers. An inactive customer can use none.
func (s *Service) wallet(ctx context.Context, by core.Actor, id core.ID) (Wallet, error) {
	var w Wallet
	err := db.ReadTogether(ctx, s.db, by,
		db.OneInto(&w.Customer, findCustomerSQL, db.Args{"id": id}),
		db.AllInto(&w.Pending, pendingSQL, db.Args{"customer": id, "limit": mostPending}),
		db.AllInto(&w.Rewards, offeredSQL, db.Args{"customer": id, "limit": mostRewards}),
		db.AllInto(&w.Vouchers, usableVouchersSQL, db.Args{"customer": id, "now": s.db.Now(), "limit": mostVouchers}),
	)
	if err != nil {
		return Wallet{}, err
	}
	if w.Status != customer.Active {
		w.Rewards, w.Vouchers = nil, nil
	}
	return w, nil
}

// ShowCard shows a PIN on a customer's card, and replaces the one it showed before. Two round
// trips.
func (s *Service) ShowCard(ctx context.Context, by core.Actor, id core.ID) (Shown, error) {
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Shown, error) {
		return s.issue(ctx, tx, by, pin{direction: fromCard, issuer: cardIssuer(id), customer: &id})
	})
}

// TakenCard is a customer's PIN that a till holds.
type TakenCard struct {
	PIN            core.ID
	CustomerID     core.ID
	CompleteBefore time.Time
}

// TakeCard binds the PIN that a customer's card shows to a till, which has five minutes to
// complete a sale with it. ErrPIN for one that is wrong, used or expired. Two round trips.
func (s *Service) TakeCard(ctx context.Context, by core.Actor, till string, k Key) (TakenCard, error) {
	if err := by.Require(core.Cashier); err != nil {
		return TakenCard{}, err
	}
	p, err := s.take(ctx, by, fromCard, tillIssuer(till), k)
	if err != nil {
		return TakenCard{}, err
	}
	return TakenCard{PIN: p.ID, CustomerID: *p.CustomerID, CompleteBefore: p.CompleteBefore}, nil
}

// Recent is a customer who was served lately.
type Recent struct {
	ID        core.ID
	FirstName string
	LastName  string
	At        time.Time
}

const (
	recentTime = 3 * time.Hour
	mostRecent = 8
)

// Recent returns the customers who bought in the last three hours, the latest first, at most
// eight; of a location where that is given. One round trip.
func (s *Service) Recent(ctx context.Context, by core.Actor, location *int64) ([]Recent, error) {
	if err := by.Require(core.Cashier); err != nil {
		return nil, err
	}
	return db.ReadAll[Recent](ctx, s.db, by, recentSQL, db.Args{
		"since": core.FirstID(s.db.Now().Add(-recentTime)), "location": location, "limit": mostRecent,
	})
}

// FindCustomers returns active customers by a whole phone number or by its last four or more
// digits, those who were here last first, at most ten. One round trip.
func (s *Service) FindCustomers(ctx context.Context, by core.Actor, typed string) ([]customer.Customer, error) {
	if err := by.Require(core.Cashier); err != nil {
		return nil, err
	}
	key, digits, err := customer.PhoneSearch(typed, by.Tenant.Country)
	if err != nil {
		return nil, err
	}
	return db.ReadAll[customer.Customer](ctx, s.db, by, findByPhoneSQL, db.Args{"phone_key": key, "ending": digits, "limit": mostFound})
}

const mostFound = 10
