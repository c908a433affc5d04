package transaction

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// The limits of a sale's fields (decisions §2 and §6).
const (
	MaxSpendCents        = 1_000_000_000_000
	maxExternalReference = 100
	maxSearch            = 255
)

// New describes a sale to be recorded.
type New struct {
	CustomerID        *string // a ULID
	TransactionTypeID *int64
	SpendAmountCents  *int64  // what was paid
	DiscountCents     int64   // what vouchers took off before, at the till
	ExternalReference *string // a receipt number, unique in the tenant; optional
	LocationID        *int64  // optional
	Source            Source

	Malformed core.Fields // what the front end could not read
}

// input is a parsed New, before its references are looked up.
type input struct {
	customer  core.ID
	typeID    int64
	spend     int64
	reference *string
	location  *int64
}

func (n New) read(check *core.Check) input {
	in := n.readOffer(check)
	in.customer = check.Reference("customer_ulid", n.CustomerID)
	in.reference = check.OptionalText("external_reference", n.ExternalReference, maxExternalReference)
	return in
}

// readOffer reads the parts of a sale that don't depend on its customer.
func (n New) readOffer(check *core.Check) input {
	return input{
		typeID:   check.Integer("transaction_type_id", n.TransactionTypeID, minInt64, maxInt64),
		spend:    check.Integer("spend_amount_cents", n.SpendAmountCents, 0, MaxSpendCents),
		location: n.LocationID,
	}
}

const (
	maxInt64 = 1<<63 - 1
	minInt64 = -1 << 63
)

// Record records a sale and awards what its type earns. The award is stored with the sale, so a later
// change of the type doesn't affect it. Sales that arrive together are recorded by one statement; one that
// this leaves out is recorded or refused alone.
func (s *Service) Record(ctx context.Context, by core.Actor, n New) (Transaction, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Transaction{}, err
	}
	if t, recorded, err := s.recordTogether(ctx, by, n); recorded || err != nil {
		return t, err
	}
	return s.recordAlone(ctx, by, n)
}

// recordAlone records or refuses a sale in a transaction of its own.
func (s *Service) recordAlone(ctx context.Context, by core.Actor, n New) (Transaction, error) {
	t, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Transaction, error) {
		return s.RecordIn(ctx, tx, by, core.NewID(tx.Now), n)
	})
	return t, Refusal(err)
}

// RecordIn is Record in the caller's transaction, which also checks the role: at the till, a sale is
// recorded together with the PIN that it completes and with rewards and vouchers, which name its ID before it
// is recorded. The caller passes the commit's error to Refusal.
func (s *Service) RecordIn(ctx context.Context, tx *db.Tx, by core.Actor, id core.ID, n New) (Transaction, error) {
	check := core.NewCheck(n.Malformed)
	in := n.read(check)
	found, err := references(ctx, tx, in)
	if err != nil {
		return Transaction{}, err
	}
	kind, award := found.earn(check, in)
	if found.ID != nil {
		s.kinds.remember(tx.Tenant, kind)
	}
	customer.CheckBuyer(check, "customer_ulid", found.CustomerStatus)
	if err := check.Err(); err != nil {
		return Transaction{}, err
	}
	t := in.sale(id, kind, award, n.Source, tx.Now)
	if err := insert(tx, by, t, n.DiscountCents); err != nil {
		return Transaction{}, err
	}
	if award > 0 {
		err = ledger.Queue(tx, by, ledger.Entry{
			Customer: t.CustomerID, Unit: t.RuleType, Amount: award, Kind: ledger.Earn, Cause: &t.ID,
		})
	}
	return t, err
}

// sale returns the sale of a type.
func (in input) sale(id core.ID, kind Type, award int64, source Source, now time.Time) Transaction {
	t := Transaction{
		ID: id, RuleType: kind.RuleType, SpendAmountCents: in.spend, Status: Completed,
		CustomerID: in.customer, TransactionTypeID: kind.ID, Source: source, LocationID: in.location,
		ExternalReference: in.reference, CreatedAt: now,
	}
	if kind.RuleType == ledger.Points {
		t.PointsAwarded = &award
	} else {
		t.StampsAwarded = &award
	}
	return t
}

// Refusal turns the database's errors about a sale into refusals, and returns every other error as it is.
func Refusal(err error) error {
	if db.Violates(err, "transaction_external_reference") {
		return core.Invalid(core.Fields{"external_reference": {core.Duplicate}})
	}
	return ledger.Refusal(err)
}

// CheckIn checks the type, the location and the amount of a sale: for a sale that a till shows before
// its customer is known.
func (s *Service) CheckIn(ctx context.Context, tx *db.Tx, n New) error {
	check := core.NewCheck(n.Malformed)
	in := n.readOffer(check)
	found, err := references(ctx, tx, in)
	if err != nil {
		return err
	}
	found.earn(check, in)
	return check.Err()
}

// references looks up a sale's type, customer and location. Another tenant's records count as missing.
func references(ctx context.Context, tx *db.Tx, in input) (referred, error) {
	return db.One[referred](ctx, tx, referencesSQL, db.Args{"type": in.typeID, "customer": in.customer, "location": in.location})
}

// earn returns the sale's type and award, and adds violations for an unusable type or location and for
// an amount that would earn too much.
func (found referred) earn(check *core.Check, in input) (kind Type, award int64) {
	if check.OK("transaction_type_id") && (found.ID == nil || !found.Active) {
		check.Add("transaction_type_id", core.InvalidChoice)
	}
	if in.location != nil && check.OK("location_id") && !found.LocationActive {
		check.Add("location_id", core.InvalidChoice)
	}
	if found.ID != nil {
		kind = Type{ID: *found.ID, RuleType: found.RuleType, Active: found.Active, Rule: found.Rule}
	}
	if check.OK("transaction_type_id") && check.OK("spend_amount_cents") {
		award = kind.award(check, in.spend)
	}
	return kind, award
}

// insert queues the sale and its count.
func insert(tx *db.Tx, by core.Actor, t Transaction, discount int64) error {
	return errors.Join(
		db.Queue(tx, ledger.VisitsCountedSQL, nil),
		db.Queue(tx, insertSQL, db.Args{
			"id": t.ID, "customer": t.CustomerID, "type": t.TransactionTypeID, "rule_type": t.RuleType,
			"spend": t.SpendAmountCents, "discount": discount, "points": t.PointsAwarded, "stamps": t.StampsAwarded,
			"source": t.Source, "location": t.LocationID, "reference": t.ExternalReference,
			"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
		}),
		ledger.CountVisit(tx, t.CustomerID, 1, t.SpendAmountCents))
}
