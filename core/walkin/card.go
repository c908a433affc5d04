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

// Card is a customer with what they can use now and what is next.
type Card struct {
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
func (w Card) Balance(unit ledger.Unit) int64 {
	if unit == ledger.Stamps {
		return w.StampsBalance
	}
	return w.PointsBalance
}

// Next is the reward that the customer is closest to among those they can't afford yet, by
// the share of its cost that they have, and what is missing.
func (w Card) Next() (next Offered, missing int64, ok bool) {
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
func (w Card) Actor(t core.Tenant, address, requestID string) core.Actor {
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
func (s *Service) Customer(ctx context.Context, by core.Actor, id core.ID) (Card, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Card{}, err
	}
	return s.card(ctx, by, id)
}

// CustomerOfCard returns the customer of a card's own link, for the till: of a card that was
// printed, say. core.ErrNotFound for a link that isn't valid.
func (s *Service) CustomerOfCard(ctx context.Context, by core.Actor, token string) (Card, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Card{}, err
	}
	return s.open(ctx, by, token)
}

// OpenCard returns the customer of a card's link, or core.ErrNotFound for a link that this
// installation didn't make or that was revoked. One round trip.
func (s *Service) OpenCard(ctx context.Context, t core.Tenant, token string) (Card, error) {
	return s.open(ctx, core.System(t, "card page"), token)
}

func (s *Service) open(ctx context.Context, by core.Actor, token string) (Card, error) {
	id, err := link.ParseID(token)
	if err != nil {
		return Card{}, err
	}
	w, err := s.card(ctx, by, id)
	if err != nil {
		return Card{}, err
	}
	if err := s.links.Check(token, link.Card, by.Tenant.ID, id, w.LinkVersion); err != nil {
		return Card{}, err
	}
	return w, nil
}

// CardToken returns the token of a customer's card link.
func (s *Service) CardToken(t core.TenantID, c customer.Customer) (string, error) {
	return s.links.Token(link.Card, t, c.ID, c.LinkVersion)
}

// card reads a customer with rewards and vouchers. An inactive customer can use none.
func (s *Service) card(ctx context.Context, by core.Actor, id core.ID) (Card, error) {
	var w Card
	err := db.ReadTogether(ctx, s.db, by,
		customer.Reading(&w.Customer, id),
		db.AllInto(&w.Pending, pendingSQL, db.Args{"customer": id, "limit": mostPending}),
		db.AllInto(&w.Rewards, offeredSQL, db.Args{"customer": id, "limit": mostRewards}),
		db.AllInto(&w.Vouchers, usableVouchersSQL, db.Args{"customer": id, "now": s.db.Now(), "limit": mostVouchers}),
	)
	if err != nil {
		return Card{}, err
	}
	if w.Status != customer.Active {
		w.Rewards, w.Vouchers = nil, nil
	}
	return w, nil
}

// Used is what a customer used with a sale.
type Used struct {
	Rewards  []RewardName
	Vouchers []coupon.ShownVoucher
}

// RewardName is a reward that was handed over.
type RewardName struct{ Name string }

// Used returns what these redemptions and vouchers of a customer were for; those of others
// are left out. One round trip.
func (s *Service) Used(ctx context.Context, by core.Actor, customer core.ID, redemptions, vouchers []core.ID) (u Used, err error) {
	if err := by.Require(core.Cashier); err != nil {
		return Used{}, err
	}
	if len(redemptions)+len(vouchers) == 0 {
		return Used{}, nil
	}
	err = db.ReadTogether(ctx, s.db, by,
		db.AllInto(&u.Rewards, redeemedRewardsSQL, db.Args{"customer": customer, "ids": redemptions}),
		db.AllInto(&u.Vouchers, vouchersSQL, db.Args{"customer": customer, "ids": vouchers}),
	)
	return u, err
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

// FindCustomers finds customers for the till (customer.FindByPhone).
func (s *Service) FindCustomers(ctx context.Context, by core.Actor, typed string) ([]customer.Customer, error) {
	return customer.NewService(s.db).FindByPhone(ctx, by, typed)
}
