package walkin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
)

// Claimable is a sale that a till shows, for the customer who scans it.
type Claimable struct {
	ID               core.ID // of the PIN
	SpendAmountCents int64
	LocationName     *string
	Unit             ledger.Unit
	Award            int64
}

type claimable struct {
	ID               core.ID
	SpendAmountCents int64
	LocationName     *string
	TypeID           int64
	RuleType         transaction.RuleType
	transaction.Rule
}

func (c claimable) shown() (Claimable, error) {
	award, err := transaction.Type{ID: c.TypeID, RuleType: c.RuleType, Rule: c.Rule}.Award(c.SpendAmountCents)
	return Claimable{ID: c.ID, SpendAmountCents: c.SpendAmountCents, LocationName: c.LocationName, Unit: c.RuleType, Award: award}, err
}

// taker is what is stored of a browser's cookie.
func taker(browser string) string {
	sum := sha256.Sum256([]byte(browser))
	return "browser " + hex.EncodeToString(sum[:16])
}

// PeekSale tells what a QR code of a till is for, and takes nothing: cameras and previews
// open addresses too. ErrPIN where it can't be taken any more. One round trip.
func (s *Service) PeekSale(ctx context.Context, t core.Tenant, code string) (Claimable, error) {
	hashes, err := s.hashes("code", t.ID, normaliseCode(code))
	if err != nil {
		return Claimable{}, err
	}
	found, err := db.ReadOne[claimable](ctx, s.db, core.System(t, "claim page"), peekSQL, db.Args{"hashes": hashes, "now": s.db.Now()})
	if errors.Is(err, core.ErrNotFound) {
		return Claimable{}, ErrPIN
	}
	if err != nil {
		return Claimable{}, err
	}
	return found.shown()
}

// TakeSale binds the sale that a till shows to a customer's browser, which has five minutes
// to say whose it is. ErrPIN for one that is wrong, used or expired. Two round trips.
func (s *Service) TakeSale(ctx context.Context, by core.Actor, browser string, k Key) error {
	_, err := s.take(ctx, by, fromTill, taker(browser), k)
	return err
}

// Held returns the sale that a browser has taken and not completed, or core.ErrNotFound. One
// round trip.
func (s *Service) Held(ctx context.Context, t core.Tenant, browser string) (Claimable, error) {
	found, err := db.ReadOne[claimable](ctx, s.db, core.System(t, "claim page"), heldSQL, db.Args{"taker": taker(browser), "now": s.db.Now()})
	if err != nil {
		return Claimable{}, err
	}
	return found.shown()
}

// Details are what customers enter about themselves.
type Details struct {
	FirstName *string
	LastName  *string
	Phone     *string
	Email     *string

	Agreed bool   // to Terms
	Terms  string // the words they were shown
	Offers string // the words they agreed to for offers; "": they don't want any

	Malformed core.Fields // what the front end could not read
}

func (d Details) customer() customer.New {
	return customer.New{FirstName: d.FirstName, LastName: d.LastName, Phone: d.Phone, Email: d.Email, Malformed: d.Malformed}
}

// missing is what a new customer must have agreed to.
func (d Details) missing() core.Fields {
	if d.Agreed {
		return nil
	}
	return core.Fields{"agreed": {core.Accepted}}
}

// Claimed is what came of a claim. Of a customer who existed before it tells nothing: who
// types a number isn't known to be its owner.
type Claimed struct {
	Unit             ledger.Unit
	Award            int64
	SpendAmountCents int64
	New              bool
	Card             *Card  // of a new customer
	CardToken        string // of a new customer
}

// Claim records the sale that a browser has taken, for the customer with that phone number;
// there being none, for a new one with these details. The PIN is completed by the
// transaction that records the sale, so a claim that is refused can be corrected. The sale is
// the cashier's who showed it. Four round trips for a known customer, five for a new one.
func (s *Service) Claim(ctx context.Context, by core.Actor, browser string, d Details) (Claimed, error) {
	by = withAuditName(by)
	d.Email = nil // points first; an e-mail address can be added on the card later
	c, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Claimed, error) {
		return s.claim(ctx, tx, by, browser, d)
	})
	return c, transaction.Refusal(err)
}

// shownSale is the sale of a PIN that is being claimed, and who showed it.
type shownSale struct {
	ID                core.ID
	TransactionTypeID int64
	SpendAmountCents  int64
	LocationID        *int64
	ActorID           string
	ActorName         string
}

func (s *Service) claim(ctx context.Context, tx *db.Tx, by core.Actor, browser string, d Details) (Claimed, error) {
	p, err := db.One[shownSale](ctx, tx, claimSQL, db.Args{"taker": taker(browser), "now": tx.Now})
	if errors.Is(err, core.ErrNotFound) {
		return Claimed{}, ErrPIN
	}
	if err != nil {
		return Claimed{}, err
	}
	who, err := customer.Enrol(ctx, tx, by, d.customer(), d.missing(), nil) // a plan never refuses a sale
	if err != nil {
		return Claimed{}, err
	}
	if who.Created {
		if err := s.agree(tx, by, who.Customer, d, customer.FromClaim); err != nil {
			return Claimed{}, err
		}
	}
	t, err := s.sales.RecordIn(ctx, tx, p.cashier(by), transaction.New{
		CustomerID: new(who.ID.String()), TransactionTypeID: &p.TransactionTypeID, SpendAmountCents: &p.SpendAmountCents,
		LocationID: p.LocationID, Source: transaction.POS,
	})
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

// cashier is who showed the sale: it is theirs, and the last one that they may void.
func (p shownSale) cashier(by core.Actor) core.Actor {
	id, _ := strconv.ParseInt(p.ActorID, 10, 64) // it was written from a number
	return core.Actor{
		Kind: core.ByStaff, ID: p.ActorID, Name: p.ActorName, StaffID: id, Tenant: by.Tenant,
		Address: by.Address, RequestID: by.RequestID,
	}
}

// agree notes what a new customer agreed to.
func (s *Service) agree(tx *db.Tx, by core.Actor, c customer.Customer, d Details, source customer.ConsentSource) error {
	by.ID, by.Name = c.ID.String(), c.FirstName+" "+c.LastName
	return customer.RecordConsent(tx, by, c.ID, customer.Consent{Terms: d.Terms, Offers: d.Offers, Source: source})
}

type lastClaim struct {
	RuleType         ledger.Unit
	Award            int64
	SpendAmountCents int64
	NewCustomer      bool
	CustomerID       core.ID
}

// claimShown is for how long a browser is shown what it claimed.
const claimShown = 10 * time.Minute

// LastClaim returns what a browser claimed within the last ten minutes, or core.ErrNotFound.
// One round trip, and another for a new customer.
func (s *Service) LastClaim(ctx context.Context, t core.Tenant, browser string) (Claimed, error) {
	by := core.System(t, "claim page")
	found, err := db.ReadOne[lastClaim](ctx, s.db, by, lastClaimSQL, db.Args{"taker": taker(browser), "since": s.db.Now().Add(-claimShown)})
	if err != nil {
		return Claimed{}, err
	}
	c := Claimed{Unit: found.RuleType, Award: found.Award, SpendAmountCents: found.SpendAmountCents, New: found.NewCustomer}
	if !c.New {
		return c, nil
	}
	w, err := s.card(ctx, by, found.CustomerID)
	if err != nil {
		return Claimed{}, err
	}
	c.Card = &w
	c.CardToken, err = s.CardToken(t.ID, w.Customer)
	return c, err
}
