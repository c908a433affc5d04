package walkin

import (
	"context"
	"errors"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/reward"
)

// Card is a customer with their pending redemptions, rewards and vouchers.
type Card struct {
	customer.Customer
	Pending  []Pending             // the oldest first, at most 50
	Rewards  []Offered             // active, in stock and not over, the cheapest of each unit first, at most 50
	Vouchers []coupon.ShownVoucher // that can be redeemed, unless the customer lacks their level; the first to expire first, at most 50
	Level    *level.OfCustomer     // with its newest change; nil: there are no levels
	Expiring []ledger.Ending       // with the days to show (ledger.Shown); nil if nothing ends at the business
}

// Offered is a reward, and whether the customer can afford it.
type Offered struct {
	ID         core.ID
	Name       string
	PointsCost *int64
	StampsCost *int64
	Picture    *string // its hash
	Affordable bool
	Barrier    *reward.Barrier `db:"-"` // why the customer can't have it, whatever they can afford; nil: they can

	reward.Terms
	Used int64 // how often the customer has redeemed it, if that is limited
}

// Ready reports whether the customer can redeem the reward now.
func (o Offered) Ready() bool { return o.Affordable && o.Barrier == nil }

// Pending is a pending redemption.
type Pending struct {
	ID         core.ID
	RewardName string
	CreatedAt  time.Time
}

// Price returns the unit and the cost of a reward.
func (o Offered) Price() (ledger.Unit, int64) {
	return reward.Reward{PointsCost: o.PointsCost, StampsCost: o.StampsCost}.Price()
}

// Balance returns the customer's balance of a unit.
func (c Card) Balance(unit ledger.Unit) int64 {
	if unit == ledger.Stamps {
		return c.StampsBalance
	}
	return c.PointsBalance
}

// Next returns the reward that only the customer's balance isn't enough for, the closest by the share of its cost, and how much
// is missing.
func (c Card) Next() (next Offered, missing int64, ok bool) {
	most := -1.0
	for _, o := range c.Rewards {
		unit, cost := o.Price()
		has := c.Balance(unit)
		share := float64(max(has, 0)) / float64(cost)
		if o.Affordable || o.Barrier != nil || share < most || share == most && cost-has >= missing {
			continue
		}
		next, missing, ok, most = o, cost-has, true, share
	}
	return next, missing, ok
}

// Actor returns the customer as the actor of their own pages.
func (c Card) Actor(t core.Tenant, address, requestID string) core.Actor {
	return core.Actor{
		Kind: core.ByCustomer, ID: c.ID.String(), Name: c.FirstName + " " + c.LastName, Tenant: t,
		Address: address, RequestID: requestID, NeedsActive: true,
	}
}

// maxListed is the length of each of a card's lists.
const maxListed = 50

// Customer returns a customer for the till, or core.ErrNotFound.
func (s *Service) Customer(ctx context.Context, by core.Actor, id core.ID) (Card, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Card{}, err
	}
	return s.card(ctx, by, id)
}

// CustomerOfCard returns the customer of a card's link for the till, such as on a printed card, or
// core.ErrNotFound for an invalid link.
func (s *Service) CustomerOfCard(ctx context.Context, by core.Actor, token string) (Card, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Card{}, err
	}
	return s.open(ctx, by, token)
}

// OpenCard returns the customer of a card's link, or core.ErrNotFound for an invalid link: link.ErrReplaced for one that
// was replaced.
func (s *Service) OpenCard(ctx context.Context, t core.Tenant, token string) (Card, error) {
	return s.open(ctx, core.System(t, "card page"), token)
}

func (s *Service) open(ctx context.Context, by core.Actor, token string) (Card, error) {
	id, err := link.ParseID(token)
	if err != nil {
		return Card{}, err
	}
	c, err := s.card(ctx, by, id)
	if errors.Is(err, core.ErrNotFound) {
		return s.openMerged(ctx, by, token, id)
	}
	if err != nil {
		return Card{}, err
	}
	if c.Erased {
		return Card{}, core.ErrNotFound
	}
	return c, s.links.Check(token, link.Card, by.Tenant.ID, id, c.LinkVersion)
}

// CardToken returns the token of a customer's card link.
func (s *Service) CardToken(t core.TenantID, c customer.Customer) (string, error) {
	return s.links.Token(link.Card, t, c.ID, c.LinkVersion)
}

// card reads a customer with rewards and vouchers. An inactive customer can use none.
func (s *Service) card(ctx context.Context, by core.Actor, id core.ID) (Card, error) {
	var c Card
	var endings []ledger.Ending
	today := core.DateOf(s.db.Now(), by.Tenant.TimeZone)
	readings := []db.Reading{
		customer.Reading(&c.Customer, id),
		db.AllInto(&c.Pending, pendingSQL, db.Args{"customer": id, "limit": maxListed}),
		db.AllInto(&c.Rewards, offeredSQL, db.Args{"customer": id, "today": today, "limit": maxListed}),
		db.AllInto(&c.Vouchers, usableVouchersSQL, db.Args{"customer": id, "now": s.db.Now(), "limit": maxListed}),
	}
	var held level.Reading
	readings = append(readings, held.Readings(id)...)
	if by.Tenant.Expires() {
		readings = append(readings, ledger.ReadEndings(&endings, id))
	}
	if err := db.Together(ctx, s.db.Tenant(by), readings...); err != nil {
		return Card{}, err
	}
	if c.Status != customer.Active {
		c.Rewards, c.Vouchers = nil, nil
	}
	c.Expiring = ledger.Shown(by.Tenant, endings)
	c.Level = held.OfCustomer(today)
	for i, r := range c.Rewards {
		c.Rewards[i].Barrier = r.Terms.Barrier(today, c.Level.Lacking(r.MinLevelID), r.Used)
	}
	for i, v := range c.Vouchers {
		c.Vouchers[i].Lacking = c.Level.Lacking(v.MinLevelID)
	}
	return c, nil
}

// ShowCard issues a PIN for a customer's card, and replaces the previous one. A card has twenty in five minutes.
func (s *Service) ShowCard(ctx context.Context, by core.Actor, id core.ID) (Shown, error) {
	return s.showCard(ctx, by, id, nil)
}

// RenewCard is ShowCard for a page that still shows the previous PIN. The renewals of one showing are one entry of the
// audit log, with their number, when it ends.
func (s *Service) RenewCard(ctx context.Context, by core.Actor, id, previous core.ID) (Shown, error) {
	return s.showCard(ctx, by, id, &previous)
}

func (s *Service) showCard(ctx context.Context, by core.Actor, id core.ID, previous *core.ID) (Shown, error) {
	card := count{s.shows, strconv.FormatInt(int64(by.Tenant.ID), 10) + " " + id.String()}
	if v := card.Take(card.key); !v.Allowed {
		return Shown{}, &core.Error{Kind: core.KindThrottled, Message: "Too many codes. Wait " + inWords(v.Wait) + ", then show a new one.", Wait: v.Wait}
	}
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (Shown, error) {
		return s.issue(ctx, tx, by, newPIN{direction: fromCard, issuer: cardIssuer(id), customer: &id, renews: previous})
	})
}

// TakenCard is a customer's PIN that a till has taken.
type TakenCard struct {
	PIN            core.ID
	CustomerID     core.ID
	CompleteBefore time.Time
}

// TakeCard binds the PIN on a customer's card to a till, which has five minutes to complete a sale, or fails
// with ErrPIN.
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

// Recent is a customer who was served recently.
type Recent struct {
	ID        core.ID
	FirstName string
	LastName  string
	At        time.Time
}

const (
	recentTime = 3 * time.Hour
	maxRecent  = 8
)

// Recent returns at most eight customers who bought in the last three hours, the latest first. location may
// be nil.
func (s *Service) Recent(ctx context.Context, by core.Actor, location *int64) ([]Recent, error) {
	if err := by.Require(core.Cashier); err != nil {
		return nil, err
	}
	return db.All[Recent](ctx, s.db.Tenant(by), recentSQL, db.Args{
		"since": core.FirstID(s.db.Now().Add(-recentTime)), "location": location, "limit": maxRecent,
	})
}

// ReplaceCard replaces the link to a customer's card (customer.ReplaceLinks).
func (s *Service) ReplaceCard(ctx context.Context, by core.Actor, id core.ID) error {
	_, err := customer.NewService(s.db).ReplaceLinks(ctx, by, id)
	return err
}

// FindCustomers finds customers for the till (customer.FindAtTill).
func (s *Service) FindCustomers(ctx context.Context, by core.Actor, typed string) (found []customer.Customer, more bool, err error) {
	return customer.NewService(s.db).FindAtTill(ctx, by, typed)
}
