package transaction

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
)

// The limits of a sale's fields (decisions §2 and §6).
const (
	MaxSpendCents        = 1_000_000_000_000
	maxExternalReference = 100
	maxSearch            = 255
	maxItems             = 100
	maxCode              = 50
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
	Items             []award.Item // what of the amount is of which category, as far as it is known
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

// exceedsSpend refuses items whose amounts add up to more than the sale.
var exceedsSpend = core.Violation{Rule: "sum_within", Other: "spend_amount_cents"}

// check adds what is wrong with a sale before its references are looked up.
func (sale *Sale) check(check *core.Check, now time.Time) {
	check.Range("spend_amount_cents", sale.SpendAmountCents, 0, MaxSpendCents)
	sale.ExternalReference = check.OptionalText("external_reference", sale.ExternalReference, maxExternalReference)
	sale.Metadata = check.Metadata("metadata", sale.Metadata)
	sale.checkItems(check)
	switch at := core.OrZero(sale.OccurredAt); {
	case sale.OccurredAt == nil:
	case at.Before(now.Add(-RecordedWithin)):
		check.Add("occurred_at", tooLongAgo)
	case at.After(now.Add(clockDifference)):
		check.Add("occurred_at", notInFuture)
	}
}

// checkItems adds what is wrong with items. A code that no category has is right: a till must never fail for it.
func (sale *Sale) checkItems(check *core.Check) {
	switch {
	case len(sale.Items) == 0 || !check.OK("items"):
		return
	case len(sale.Items) > maxItems:
		check.Add("items", core.MaxItems(maxItems))
		return
	}
	var sum int64
	items := slices.Clone(sale.Items)
	for i := range items {
		field := "items." + strconv.Itoa(i)
		if !check.OK(field) {
			continue
		}
		items[i].Category = check.Text(field+".category", &items[i].Category, maxCode)
		check.Range(field+".amount_cents", items[i].AmountCents, 0, MaxSpendCents)
		sum += min(max(0, items[i].AmountCents), MaxSpendCents)
	}
	if sum > max(0, sale.SpendAmountCents)+sale.DiscountCents && check.OK("spend_amount_cents") {
		check.Add("items", exceedsSpend)
	}
	sale.Items = items
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
	if s.together == nil {
		return reply, false, nil
	}
	r := s.prepare(by, sale, unread, once)
	if r == nil {
		return reply, false, nil
	}
	reply, err = s.together(ctx, by.Tenant.ID, r)
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
	found, err := s.refer(ctx, tx, sale)
	if err != nil {
		return Transaction{}, err
	}
	kind := found.check(check, sale)
	customer.CheckBuyer(check, "customer_ulid", found.CustomerStatus)
	var made sold
	if kind.ID != 0 && check.OK("spend_amount_cents") && check.OK("items") {
		if made, err = sell(ctx, tx, check, found.rules, sale.input(by, kind, tx.Now), sale.CustomerID, found.account, tx.Now); err != nil {
			return Transaction{}, err
		}
	}
	if err := check.Err(); err != nil {
		return Transaction{}, err
	}
	t := sale.of(by, id, made.earned, tx.Now)
	if err := insert(tx, by, t, sale.DiscountCents, made); err != nil {
		return Transaction{}, err
	}
	if t.Award() > 0 {
		err = ledger.Queue(tx, by, ledger.Entry{
			Customer: t.CustomerID, Unit: t.RuleType, Amount: t.Award(), Kind: ledger.Earn, Cause: &t.ID, Earned: t.OccurredAt,
		})
	}
	if err == nil {
		s.codes.Note(tx.Tenant, made.earned.UnknownCodes, tx.Now)
	}
	return t, err
}

// of returns the sale with what it earns.
func (sale Sale) of(by core.Actor, id core.ID, earned award.Award, now time.Time) Transaction {
	t := Transaction{
		ID: id, RuleType: earned.Unit, SpendAmountCents: sale.SpendAmountCents, Status: Completed,
		CustomerID: sale.CustomerID, TransactionTypeID: sale.TransactionTypeID, Source: sale.Source, LocationID: sale.LocationID,
		ExternalReference: sale.ExternalReference, OccurredAt: sale.at(now), Metadata: sale.Metadata, CreatedAt: now,
		BaseAward: earned.Base, PromotionAward: earned.PromotionAward, LevelAward: earned.LevelAward,
		Capped: earned.CappedBy != award.NoCap, EligibleCents: earned.EligibleCents, Items: sale.Items,
	}
	if earned.Unit == ledger.Points {
		t.PointsAwarded = &earned.Total
	} else {
		t.StampsAwarded = &earned.Total
	}
	if earned.Promotion != nil {
		t.PromotionID = &earned.Promotion.ID
	}
	if earned.Level != nil {
		t.LevelID = &earned.Level.ID
	}
	if earned.Total > 0 {
		t.ExpiresOn = earned.Unit.Of(by.Tenant).LastDay(core.DateOf(t.OccurredAt, by.Tenant.TimeZone))
	}
	return t
}

// parts returns the parts of an award as they are stored, or nil if it is all base.
func (t Transaction) parts() *string {
	if t.BaseAward == t.Award() && t.PromotionID == nil && t.LevelID == nil && !t.Capped && t.EligibleCents == t.SpendAmountCents && len(t.Items) == 0 {
		return nil
	}
	parts := map[string]any{"base": t.BaseAward}
	if t.PromotionID != nil {
		parts["promotion"], parts["promotion_award"] = t.PromotionID, t.PromotionAward
	}
	if t.LevelID != nil {
		parts["level"], parts["level_award"] = t.LevelID, t.LevelAward
	}
	if t.Capped {
		parts["capped"] = true
	}
	if t.EligibleCents != t.SpendAmountCents {
		parts["eligible"] = t.EligibleCents
	}
	if len(t.Items) > 0 {
		parts["items"] = t.Items
	}
	text, _ := json.Marshal(parts) // texts and numbers can be marshalled
	return new(string(text))
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
func (s *Service) CheckIn(ctx context.Context, tx *db.Tx, by core.Actor, sale Sale, check *core.Check) error {
	sale.check(check, tx.Now)
	found, err := s.refer(ctx, tx, sale)
	if err != nil {
		return err
	}
	if kind := found.check(check, sale); kind.ID != 0 && check.OK("spend_amount_cents") && check.OK("items") {
		compute(check, found.rules, sale.input(by, kind, tx.Now), nil)
	}
	return check.Err()
}

// check returns the sale's type, and adds violations for an unusable type or location. A type that doesn't exist is zero.
func (found referred) check(check *core.Check, sale Sale) (kind Type) {
	if check.OK("transaction_type_id") && (found.ID == nil || !found.Active) {
		check.Add("transaction_type_id", core.InvalidChoice)
	}
	if sale.LocationID != nil && check.OK("location_id") && !found.LocationActive {
		check.Add("location_id", core.InvalidChoice)
	}
	if found.ID != nil && check.OK("transaction_type_id") {
		kind = found.kind()
	}
	return kind
}

func (found referred) kind() Type {
	if found.ID == nil {
		return Type{}
	}
	return Type{ID: *found.ID, RuleType: found.RuleType, Active: found.Active, Rule: found.Rule}
}

// insert queues the sale and its count.
func insert(tx *db.Tx, by core.Actor, t Transaction, discount int64, made sold) error {
	return errors.Join(
		db.Queue(tx, ledger.VisitsCountedSQL, nil),
		db.Queue(tx, insertSQL, db.Args{
			"id": t.ID, "customer": t.CustomerID, "type": t.TransactionTypeID, "rule_type": t.RuleType,
			"spend": t.SpendAmountCents, "discount": discount, "points": t.PointsAwarded, "stamps": t.StampsAwarded, "expires_on": t.ExpiresOn,
			"source": t.Source, "location": t.LocationID, "reference": t.ExternalReference,
			"occurred_at": t.occurredBefore(), "metadata": t.Metadata.Stored(), "parts": t.parts(),
			"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
		}),
		ledger.CountVisit(tx, by, t.CustomerID, t.OccurredAt, t.SpendAmountCents, made.standing),
		level.Queue(tx, by, t.CustomerID, &t.ID, made.changes))
}
