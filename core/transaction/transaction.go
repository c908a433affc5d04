// Package transaction records and voids sales, and keeps their types with the earning rules. A sale's
// award goes through the ledger in the same database transaction.
package transaction

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/promotion"
)

// Status of a sale.
type Status string

// A sale is completed when it is recorded, and may be voided once.
const (
	Completed Status = "completed"
	Voided    Status = "voided"
)

// Source is where a sale was entered.
type Source string

// The sources.
const (
	API   Source = "api"
	POS   Source = "pos"
	Panel Source = "panel"
)

// Transaction is a sale (specification §2).
type Transaction struct {
	ID                core.ID
	RuleType          ledger.Unit
	SpendAmountCents  int64
	PointsAwarded     *int64 // null where the type gives stamps
	StampsAwarded     *int64 // null where the type gives points
	Status            Status
	VoidedAt          *time.Time
	CustomerID        core.ID
	TransactionTypeID int64
	Source            Source
	LocationID        *int64
	ExternalReference *string
	OccurredAt        time.Time // when the customer bought
	Metadata          core.Metadata
	CreatedAt         time.Time // when the sale was recorded

	ExpiresOn     *time.Time // the last local day of the award; nil: none by a rule
	RefundedCents int64
	RefundedAward int64 // what refunds took of the award, in its unit

	// The parts of the award, in its unit.
	BaseAward      int64 // by the rule of the type
	PromotionID    *int64
	PromotionAward int64
	LevelID        *int64
	LevelAward     int64
	Capped         bool         // a cap reduced the sum of the parts
	EligibleCents  int64        // the spend without what earns nothing
	Items          []award.Item // as they were sent
}

// Award returns what the sale earned, in its unit.
func (t Transaction) Award() int64 {
	if t.RuleType == ledger.Stamps {
		return *t.StampsAwarded
	}
	return *t.PointsAwarded
}

// Service records, voids and finds sales.
type Service struct {
	db       *db.DB
	finder   *db.Finder[Transaction]
	together db.Combined[*ready, core.Reply[Transaction]] // nil: each sale is recorded alone
	books    *books
	codes    *promotion.Codes
}

// NewService makes the service.
func NewService(d *db.DB) *Service {
	s := &Service{db: d, finder: db.NewFinder(d, findSQL, findAllSQL, func(t Transaction) core.ID { return t.ID }), books: &books{}, codes: promotion.NewCodes(d)}
	s.together = db.NewCombiner(db.MaxTogether, s.recordAll).Apart(func(r *ready) []any { return r.apart }).Do
	return s
}

// At returns the service at another time, for sales that are dated in the past. They come one by one, which takes less time without
// batches. It has the same rules, and notes codes in the same place.
func (s *Service) At(instant time.Time) *Service {
	past := NewService(s.db.At(instant))
	past.together, past.books, past.codes = nil, s.books, s.codes
	return past
}

// Codes returns the note of codes that no category has.
func (s *Service) Codes() *promotion.Codes { return s.codes }

// Find returns a sale, or core.ErrNotFound.
func (s *Service) Find(ctx context.Context, by core.Actor, id core.ID) (Transaction, error) {
	return s.finder.Find(ctx, by, id)
}

// ListByCustomer returns a page of a customer's sales, newest first, or core.ErrNotFound if the customer
// doesn't exist.
func (s *Service) ListByCustomer(ctx context.Context, by core.Actor, customer core.ID, p core.Page) (core.List[Transaction], error) {
	l, err := db.ListPage(ctx, s.db, by, customerSaleList, db.Args{"customer": customer}, p, Transaction.position)
	return db.OfExisting(ctx, s.db, by, l, err, customerSQL, db.Args{"customer": customer})
}

func (t Transaction) position() core.Cursor { return core.Cursor{At: t.CreatedAt, ID: t.ID} }
