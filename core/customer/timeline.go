package customer

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Entry is a ledger entry of a customer with its cause.
type Entry struct {
	ID           core.ID
	Seq          int64 // 1, 2, 3 …
	Kind         ledger.Kind
	Unit         ledger.Unit
	Amount       int64 // signed
	BalanceAfter int64
	Cause        *core.ID // the sale, redemption or voucher
	Reason       *string  // of an adjustment

	TypeName         *string // of the sale, also of a voided one
	SpendAmountCents *int64  // of the sale
	LocationName     *string // of the sale; nil: unknown
	RewardName       *string // of the redemption, also of a voided one
	CouponName       *string // of the voucher

	ActorKind core.ActorKind
	ActorName string
	CreatedAt time.Time
}

// Timeline returns a page of a customer's ledger entries, newest first, or core.ErrNotFound.
func (s *Service) Timeline(ctx context.Context, by core.Actor, id core.ID, p core.Page) (core.List[Entry], error) {
	position := func(e Entry) core.Cursor { return core.NumberCursor(e.CreatedAt, e.Seq) }
	l, err := db.ListPage(ctx, s.db, by, timelineList, db.Args{"customer": id}, p, position)
	return db.OfExisting(ctx, s.db, by, l, err, findSQL, db.Args{"id": id})
}
