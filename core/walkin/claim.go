package walkin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"time"
	"unicode/utf8"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
)

// Claimable is a sale on a till's display, for the customer who scans it.
type Claimable struct {
	ID               core.ID // of the PIN
	SpendAmountCents int64
	LocationName     *string
	Unit             ledger.Unit `db:"rule_type"`
	Award            int64       `db:"-"` // now, for a customer about whom nothing is known
	claimableSale
}

// claimableSale is what the award of a till's sale is computed by.
type claimableSale struct {
	TypeID         int64
	LocationID     *int64
	Items          []award.Item
	EarningVersion int64
	transaction.Rule
}

func (s *Service) readClaimable(ctx context.Context, t core.Tenant, sql string, args db.Args) (Claimable, error) {
	by := core.System(t, "claim page")
	c, err := db.One[Claimable](ctx, s.db.Tenant(by), sql, args)
	if err != nil {
		return Claimable{}, err
	}
	by.Tenant.EarningVersion = c.EarningVersion // the business of the page may be a cached one
	rules, err := s.sales.RulesNow(ctx, by)
	if err != nil {
		return Claimable{}, err
	}
	c.Award = transaction.Expect(rules, transaction.Type{ID: c.TypeID, RuleType: c.Unit, Rule: c.Rule}, transaction.Sale{
		SpendAmountCents: c.SpendAmountCents, LocationID: c.LocationID, Items: c.Items,
	}, by, s.db.Now()).Total
	return c, nil
}

// browserTaker returns what is stored of a browser's cookie.
func browserTaker(browser string) string {
	sum := sha256.Sum256([]byte(browser))
	return "browser " + hex.EncodeToString(sum[:16])
}

// PeekSale returns the sale of a till's QR code without taking it, because cameras and link previews also
// open URLs. It fails with ErrPIN if the sale can't be taken.
func (s *Service) PeekSale(ctx context.Context, t core.Tenant, code string) (Claimable, error) {
	hashes, err := s.hashes("code", t.ID, normaliseCode(code))
	if err != nil {
		return Claimable{}, err
	}
	c, err := s.readClaimable(ctx, t, peekSQL, db.Args{"hashes": hashes, "now": s.db.Now()})
	if errors.Is(err, core.ErrNotFound) {
		err = ErrPIN
	}
	return c, err
}

// TakeSale binds the sale that a till shows to a customer's browser, which has five minutes to claim it, or
// fails with ErrPIN.
func (s *Service) TakeSale(ctx context.Context, by core.Actor, browser string, k Key) error {
	_, err := s.take(ctx, by, fromTill, browserTaker(browser), k)
	return err
}

// Held returns the sale that a browser has taken and not claimed, or core.ErrNotFound.
func (s *Service) Held(ctx context.Context, t core.Tenant, browser string) (Claimable, error) {
	return s.readClaimable(ctx, t, heldSQL, db.Args{"taker": browserTaker(browser), "now": s.db.Now()})
}

// Details is what customers enter about themselves.
type Details struct {
	FirstName string
	LastName  string
	Phone     string
	Email     string

	Agreed bool   // to Terms
	Terms  string // the displayed text
	Offers string // the text of their consent to offers; "": no consent

	Malformed core.Fields // what the front end could not read
}

func (d Details) customer() customer.New {
	return customer.New{FirstName: d.FirstName, LastName: d.LastName, Phone: d.Phone, Email: d.Email, Malformed: d.Malformed}
}

// missing returns violations of the consent that customers give on these pages, and of their name.
func (d Details) missing() core.Fields {
	fields := core.Fields{}
	if !d.Agreed {
		fields.Add("agreed", core.Accepted)
	}
	for part, name := range map[string]string{"first_name": d.FirstName, "last_name": d.LastName} {
		if name != "" && !isName(name) {
			fields.Add(part, VisitorName)
		}
	}
	if utf8.RuneCountInString(d.FirstName+" "+d.LastName) > maxVisitorName {
		fields.Add("first_name", core.MaxLength(maxVisitorName))
	}
	return fields
}

// Claimed is the result of a claim. It contains nothing about an existing customer, because the person who
// typed the number may not be its owner.
type Claimed struct {
	Unit             ledger.Unit `db:"rule_type"`
	Award            int64
	SpendAmountCents int64
	New              bool   `db:"new_customer"`
	Card             *Card  `db:"-"` // of a new customer, while its first link is valid
	CardToken        string `db:"-"` // of a new customer
}

// Refusals of a claim.
var (
	// ErrInactive refuses the phone number of an inactive customer.
	ErrInactive = core.Refuse("card-inactive", "This card isn't active. Ask at the till.")
	// ErrSaleChanged refuses a sale whose type or location was closed after the till showed it.
	ErrSaleChanged = core.Refuse("sale-changed", "This sale can't be collected any more. Ask at the till.")
)

// Claim records the sale that a browser has taken, for the customer with this phone number or for a new one
// with these details. The same transaction completes the PIN, so a refused claim can be corrected. The sale
// belongs to the cashier who showed it.
func (s *Service) Claim(ctx context.Context, by core.Actor, browser string, d Details, once *core.Once[Claimed]) (core.Reply[Claimed], error) {
	by = withAuditName(by)
	d.Email = "" // it can be added on the card later
	c, err := db.In(ctx, s.db.Tenant(by), db.Once(ctx, by, once, func(tx *db.Tx) (Claimed, error) {
		return s.claim(ctx, tx, by, browser, d)
	}))
	return c, transaction.Refusal(err)
}

// shownSale is the sale of a PIN and the cashier who showed it.
type shownSale struct {
	ID core.ID
	Offer
	ActorID   string
	ActorName string
}

func (s *Service) claim(ctx context.Context, tx *db.Tx, by core.Actor, browser string, d Details) (Claimed, error) {
	p, err := db.One[shownSale](ctx, tx, claimSQL, db.Args{"taker": browserTaker(browser), "now": tx.Now})
	if errors.Is(err, core.ErrNotFound) {
		return Claimed{}, ErrPIN
	}
	if err != nil {
		return Claimed{}, err
	}
	who, err := customer.Enrol(ctx, tx, by, d.customer(), d.missing(), nil) // a plan's limit never refuses a sale
	if errors.Is(err, customer.ErrNoCountry) {
		return Claimed{}, ErrFull
	}
	if err != nil {
		return Claimed{}, err
	}
	if who.Status != customer.Active {
		return Claimed{}, ErrInactive
	}
	if who.Created {
		if err := s.agree(tx, by, who.Customer, d, customer.FromClaim); err != nil {
			return Claimed{}, err
		}
	}
	sale := p.Sale()
	sale.CustomerID = who.ID
	t, err := s.sales.RecordIn(ctx, tx, p.cashier(by), core.NewID(tx.Now), sale, core.NewCheck(nil))
	if core.IsKind(err, core.KindInvalid) {
		return Claimed{}, ErrSaleChanged // the customer entered none of these fields
	}
	if err != nil {
		return Claimed{}, err
	}
	err = db.Queue(tx, claimedSQL, db.Args{"id": p.ID, "transaction": t.ID, "customer": who.ID, "new": who.Created})
	if err != nil {
		return Claimed{}, err
	}
	claimed := Claimed{Unit: t.RuleType, Award: t.Award(), SpendAmountCents: t.SpendAmountCents, New: who.Created}
	return claimed, s.logAndSignal(tx, by, "pin.use", p.ID, map[string]any{
		"shown_by": fromTill, "customer": who.ID.String(), "transaction": t.ID.String(),
	})
}

// cashier returns the cashier who showed the sale. It becomes their last sale, which they may void.
func (p shownSale) cashier(by core.Actor) core.Actor {
	id, _ := strconv.ParseInt(p.ActorID, 10, 64) // it is always a number
	return core.Actor{
		Kind: core.ByStaff, ID: p.ActorID, Name: p.ActorName, StaffID: id, Tenant: by.Tenant,
		Address: by.Address, RequestID: by.RequestID,
	}
}

// agree stores a new customer's consent.
func (s *Service) agree(tx *db.Tx, by core.Actor, c customer.Customer, d Details, source customer.ConsentSource) error {
	by.ID, by.Name = c.ID.String(), c.FirstName+" "+c.LastName
	return customer.RecordConsent(tx, by, c.ID, customer.Consent{Terms: d.Terms, Offers: d.Offers, Source: source})
}

// claimShown is how long a browser can see its claim.
const claimShown = 10 * time.Minute

// lastClaim is a browser's claim and its customer.
type lastClaim struct {
	Claimed
	CustomerID core.ID
}

// LastClaim returns a browser's claim of the last ten minutes, or core.ErrNotFound.
func (s *Service) LastClaim(ctx context.Context, t core.Tenant, browser string) (Claimed, error) {
	by := core.System(t, "claim page")
	c, err := db.One[lastClaim](ctx, s.db.Tenant(by), lastClaimSQL, db.Args{"taker": browserTaker(browser), "since": s.db.Now().Add(-claimShown)})
	if err != nil || !c.New {
		return c.Claimed, err
	}
	card, err := s.card(ctx, by, c.CustomerID)
	if err != nil {
		return Claimed{}, err
	}
	if card.Status != customer.Active || card.LinkVersion != 0 { // replaced meanwhile: this browser may be a stranger's
		return c.Claimed, nil
	}
	c.Card = &card
	c.CardToken, err = s.CardToken(t.ID, card.Customer)
	return c.Claimed, err
}

// MailClaimed mails the customer of a browser's claim of the last ten minutes the link to their card, if their e-mail
// address is known. Like MailCard, it doesn't reveal whether it is. It fails with core.ErrNotFound without a claim.
func (s *Service) MailClaimed(ctx context.Context, by core.Actor, browser string) error {
	by = withAuditName(by)
	_, err := db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (bool, error) {
		claimed, err := db.One[lastClaim](ctx, tx, lastClaimSQL, db.Args{"taker": browserTaker(browser), "since": tx.Now.Add(-claimShown)})
		if err != nil {
			return false, err
		}
		c, err := customer.FindIn(ctx, tx, claimed.CustomerID)
		if errors.Is(err, core.ErrNotFound) { // merged meanwhile
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return s.mailCard(ctx, tx, by, c, false)
	})
	return err
}
