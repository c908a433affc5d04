package customer

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Expiring returns what a customer has of each last day, the soonest first, points before stamps, or core.ErrNotFound. The
// amounts of a unit add up to its balance, or to nothing below zero.
func (s *Service) Expiring(ctx context.Context, by core.Actor, id core.ID) ([]ledger.Ending, error) {
	var c Customer
	var endings []ledger.Ending
	err := db.Together(ctx, s.db.Tenant(by), Reading(&c, id), ledger.ReadEndings(&endings, id))
	return ledger.Shown(by.Tenant, endings), err
}

// LedgerEntry is a change of a customer's balance, as it is recorded.
type LedgerEntry struct {
	ID  core.ID
	Seq int64 // 1, 2, 3 …
	ledger.Posted
	TransactionID *core.ID   // the sale of an award, its reversal or its refund
	ExpiresOn     *time.Time // the last day of what was added, or the day that ended; nil: none
}

var ledgerList = db.NewList(`
	select e.id, e.seq, e.kind, e.unit, e.amount, e.balance_after, coalesce(t.id, f.transaction_id) as transaction_id,
		nullif(e.expires_on, 'infinity') as expires_on, e.created_at
	from loyalty.customer c
	join loyalty.ledger_entry e on e.tenant_id = c.tenant_id and e.customer_id = c.id
	left join loyalty.transaction t on e.kind in ('earn', 'reversal', 'expiry_return') and t.tenant_id = e.tenant_id and t.id = e.cause
	left join loyalty.refund f on e.kind in ('refund', 'expiry_return') and f.tenant_id = e.tenant_id and f.id = e.cause
	where c.tenant_id = @tenant_id
		and c.id = @customer
		and c.merged_into is null {position}
	{page}`, db.Descending("e.seq", "@number"), nil)

// LedgerEntries returns a page of the changes of a customer's balances, newest first, or core.ErrNotFound.
func (s *Service) LedgerEntries(ctx context.Context, by core.Actor, id core.ID, p core.Page) (core.List[LedgerEntry], error) {
	position := func(e LedgerEntry) core.Cursor { return core.NumberCursor(e.CreatedAt, e.Seq) }
	l, err := db.ListPage(ctx, s.db, by, ledgerList, db.Args{"customer": id}, p, position)
	return db.OfExisting(ctx, s.db, by, l, err, findSQL, db.Args{"id": id})
}
