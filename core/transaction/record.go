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

// Sale is a sale to be recorded.
type Sale struct {
	CustomerID        core.ID
	TransactionTypeID int64
	SpendAmountCents  int64      // what was paid
	DiscountCents     int64      // what vouchers took off before, at the till
	ExternalReference *string    // a receipt number, unique in the tenant; nil: none
	LocationID        *int64     // nil: unknown
	OccurredAt        *time.Time // when the customer bought, if it is recorded later; nil: now
	Metadata          core.Metadata
	Source            Source
}

const (
	// RecordedWithin is how long after a sale it can be recorded.
	RecordedWithin = 72 * time.Hour
	// clockDifference is how far a client's clock may be ahead. A sale of that future is one of now.
	clockDifference = time.Minute
)

// Rules of the field "occurred_at".
var (
	tooLongAgo  = core.Violation{Rule: "within_hours", Limit: int64(RecordedWithin / time.Hour)}
	notInFuture = core.Violation{Rule: "not_in_future"}
)

// check adds what is wrong with a sale before its references are looked up.
func (sale *Sale) check(check *core.Check, now time.Time) {
	check.Range("spend_amount_cents", sale.SpendAmountCents, 0, MaxSpendCents)
	sale.ExternalReference = check.OptionalText("external_reference", sale.ExternalReference, maxExternalReference)
	sale.Metadata = check.Metadata("metadata", sale.Metadata)
	switch at := core.OrZero(sale.OccurredAt); {
	case sale.OccurredAt == nil:
	case at.Before(now.Add(-RecordedWithin)):
		check.Add("occurred_at", tooLongAgo)
	case at.After(now.Add(clockDifference)):
		check.Add("occurred_at", notInFuture)
	}
}

// at returns when the customer bought, by which a sale is judged: the last day of its award, and when the customer was active.
func (sale Sale) at(now time.Time) time.Time {
	if sale.OccurredAt == nil || sale.OccurredAt.After(now) {
		return now
	}
	return *sale.OccurredAt
}

// Record records a sale and awards what its type earns. The award is stored with the sale, so a later
// change of the type doesn't affect it. unread is what the front end could not read. Sales that arrive together are recorded by one statement
// (recordAll); one that this leaves out is recorded or refused alone.
func (s *Service) Record(ctx context.Context, by core.Actor, sale Sale, unread core.Fields, once *core.Once[Transaction]) (core.Reply[Transaction], error) {
	if err := by.Require(core.Cashier); err != nil {
		return core.Reply[Transaction]{}, err
	}
	if reply, done, err := s.recordTogether(ctx, by, sale, unread, once); done {
		return reply, err
	}
	return s.recordAlone(ctx, by, sale, unread, once)
}

// recordTogether records a sale with others that arrive. If it isn't done, nothing was recorded, and the sale must be recorded or
// refused alone.
func (s *Service) recordTogether(ctx context.Context, by core.Actor, sale Sale, unread core.Fields, once *core.Once[Transaction]) (reply core.Reply[Transaction], done bool, err error) {
	r := s.prepare(by, sale, unread, once)
	if r == nil {
		return reply, false, nil
	}
	reply, err = s.together.Do(ctx, by.Tenant.ID, r)
	return reply, !isLeftOut(err), err
}

// recordAlone records or refuses a sale in a transaction of its own.
func (s *Service) recordAlone(ctx context.Context, by core.Actor, sale Sale, unread core.Fields, once *core.Once[Transaction]) (core.Reply[Transaction], error) {
	reply, err := db.In(ctx, s.db.Tenant(by), db.Once(ctx, by, once, func(tx *db.Tx) (Transaction, error) {
		return s.RecordIn(ctx, tx, by, core.NewID(tx.Now), sale, core.NewCheck(unread))
	}))
	if db.Violates(err, "transaction_external_reference") {
		return reply, s.referenceTaken(ctx, by, "transaction_ulid", saleOfReferenceSQL, *sale.ExternalReference)
	}
	return reply, Refusal(err)
}

// RecordIn is Record in the caller's transaction, which also checks the role: at the till, a sale is
// recorded together with the PIN that it completes and with rewards and vouchers, which name its ID before it
// is recorded. check has the caller's violations. The caller passes the commit's error to Refusal.
func (s *Service) RecordIn(ctx context.Context, tx *db.Tx, by core.Actor, id core.ID, sale Sale, check *core.Check) (Transaction, error) {
	sale.check(check, tx.Now)
	found, err := references(ctx, tx, sale)
	if err != nil {
		return Transaction{}, err
	}
	kind, award := found.earn(check, sale)
	if found.ID != nil {
		s.kinds.remember(tx.Tenant, kind)
	}
	customer.CheckBuyer(check, "customer_ulid", found.CustomerStatus)
	if err := check.Err(); err != nil {
		return Transaction{}, err
	}
	t := sale.of(by, kind, id, award, tx.Now)
	if err := insert(tx, by, t, sale.DiscountCents); err != nil {
		return Transaction{}, err
	}
	if award > 0 {
		err = ledger.Queue(tx, by, ledger.Entry{
			Customer: t.CustomerID, Unit: t.RuleType, Amount: award, Kind: ledger.Earn, Cause: &t.ID, Earned: t.OccurredAt,
		})
	}
	return t, err
}

// of returns the sale with what it earns by its type.
func (sale Sale) of(by core.Actor, kind Type, id core.ID, award int64, now time.Time) Transaction {
	t := Transaction{
		ID: id, RuleType: kind.RuleType, SpendAmountCents: sale.SpendAmountCents, Status: Completed,
		CustomerID: sale.CustomerID, TransactionTypeID: kind.ID, Source: sale.Source, LocationID: sale.LocationID,
		ExternalReference: sale.ExternalReference, OccurredAt: sale.at(now), Metadata: sale.Metadata, CreatedAt: now,
	}
	if kind.RuleType == ledger.Points {
		t.PointsAwarded = &award
	} else {
		t.StampsAwarded = &award
	}
	if award > 0 {
		t.ExpiresOn = kind.RuleType.Of(by.Tenant).LastDay(core.DateOf(t.OccurredAt, by.Tenant.TimeZone))
	}
	return t
}

// occurredBefore returns when the customer bought, or nil if the sale was recorded then.
func (t Transaction) occurredBefore() *time.Time {
	if t.OccurredAt.Equal(t.CreatedAt) {
		return nil
	}
	return &t.OccurredAt
}

// Refusal turns the database's errors about a sale into refusals, and returns every other error as it is.
func Refusal(err error) error {
	if db.Violates(err, "transaction_external_reference") {
		return errReferenceTaken()
	}
	return ledger.Refusal(err)
}

// errReferenceTaken refuses a receipt number that another record has, also a voided one.
func errReferenceTaken() *core.Error {
	taken := core.Invalid(core.Fields{"external_reference": {core.Duplicate}})
	taken.Code = "reference-taken"
	return taken
}

const saleOfReferenceSQL = `
	select id
	from loyalty.transaction
	where tenant_id = @tenant_id
		and external_reference = @reference`

// asReference returns a receipt number as it is stored.
func asReference(text string) string { return core.Trimmed(core.Composed(text)) }

// referenceTaken refuses a receipt number with the record that has it, which is looked up only now.
func (s *Service) referenceTaken(ctx context.Context, by core.Actor, member, sql, reference string) error {
	taken := errReferenceTaken()
	id, err := db.One[core.ID](ctx, s.db.Tenant(by), sql, db.Args{"reference": asReference(reference)})
	if err != nil {
		return err
	}
	taken.Existing = &core.Existing{Member: member, ID: id}
	return taken
}

// CheckIn checks the type, the location and the amount of a sale: for a sale that a till shows before
// its customer is known.
func (s *Service) CheckIn(ctx context.Context, tx *db.Tx, sale Sale, check *core.Check) error {
	sale.check(check, tx.Now)
	found, err := references(ctx, tx, sale)
	if err != nil {
		return err
	}
	found.earn(check, sale)
	return check.Err()
}

// references looks up a sale's type, customer and location. Another tenant's records count as missing.
func references(ctx context.Context, tx *db.Tx, sale Sale) (referred, error) {
	return db.One[referred](ctx, tx, referencesSQL, sale.references())
}

// references returns the arguments of what a sale refers to.
func (sale Sale) references() db.Args {
	return db.Args{"type": sale.TransactionTypeID, "customer": sale.CustomerID, "location": sale.LocationID}
}

// earn returns the sale's type and award, and adds violations for an unusable type or location and for
// an amount that would earn too much.
func (found referred) earn(check *core.Check, sale Sale) (kind Type, award int64) {
	if check.OK("transaction_type_id") && (found.ID == nil || !found.Active) {
		check.Add("transaction_type_id", core.InvalidChoice)
	}
	if sale.LocationID != nil && check.OK("location_id") && !found.LocationActive {
		check.Add("location_id", core.InvalidChoice)
	}
	if found.ID != nil {
		kind = Type{ID: *found.ID, RuleType: found.RuleType, Active: found.Active, Rule: found.Rule}
	}
	if check.OK("transaction_type_id") && check.OK("spend_amount_cents") {
		award = kind.award(check, sale.SpendAmountCents)
	}
	return kind, award
}

// insert queues the sale and its count.
func insert(tx *db.Tx, by core.Actor, t Transaction, discount int64) error {
	return errors.Join(
		db.Queue(tx, ledger.VisitsCountedSQL, nil),
		db.Queue(tx, insertSQL, db.Args{
			"id": t.ID, "customer": t.CustomerID, "type": t.TransactionTypeID, "rule_type": t.RuleType,
			"spend": t.SpendAmountCents, "discount": discount, "points": t.PointsAwarded, "stamps": t.StampsAwarded, "expires_on": t.ExpiresOn,
			"source": t.Source, "location": t.LocationID, "reference": t.ExternalReference,
			"occurred_at": t.occurredBefore(), "metadata": t.Metadata.Stored(),
			"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
		}),
		ledger.CountVisit(tx, by, t.CustomerID, t.OccurredAt, t.SpendAmountCents))
}
