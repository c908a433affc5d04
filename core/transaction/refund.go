package transaction

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

var (
	// ErrRefundIsVoid refuses a refund of a whole sale at once: a void also takes back its visit.
	ErrRefundIsVoid = core.Refuse("refund-is-void", "A refund of the whole sale is a void. Void this transaction instead.")
	// ErrRefundNotAllowed refuses a cashier's refund as ErrVoidNotAllowed refuses their void.
	ErrRefundNotAllowed = core.Refuse("refund-not-allowed", "You can refund only your own last sale, within 10 minutes. A manager can refund this one.")
)

// Refund is a part of a sale's spend that was paid back, and what it took of the award.
type Refund struct {
	ID                core.ID
	TransactionID     core.ID
	AmountCents       int64
	Points            *int64 // null where the sale earned stamps
	Stamps            *int64 // null where the sale earned points
	ExternalReference *string
	Reason            *string // nil: none was asked, as in the API
	ActorKind         core.ActorKind
	ActorName         string
	CreatedAt         time.Time
}

// Award returns what the refund took of the sale's award, in its unit.
func (r Refund) Award() int64 { return core.OrZero(r.Points) + core.OrZero(r.Stamps) }

// Unit returns the unit of the award.
func (r Refund) Unit() ledger.Unit {
	if r.Stamps != nil {
		return ledger.Stamps
	}
	return ledger.Points
}

// RefundRequest is a refund to be made.
type RefundRequest struct {
	AmountCents       int64
	ExternalReference *string // unique among the refunds of the tenant; nil: none
	Reason            *string // nil: none is asked
}

func (r *RefundRequest) check(check *core.Check) {
	check.Range("amount_cents", r.AmountCents, 1, MaxSpendCents)
	r.ExternalReference = check.OptionalText("external_reference", r.ExternalReference, maxExternalReference)
	if r.Reason != nil {
		r.Reason = new(check.Text("reason", r.Reason, MaxVoidReason))
	}
}

// LeftCents returns what can still be refunded.
func (t Transaction) LeftCents() int64 { return t.SpendAmountCents - t.RefundedCents }

// LeftAward returns what refunds have left of the award, in its unit.
func (t Transaction) LeftAward() int64 { return t.Award() - t.RefundedAward }

// TakenBy returns what a refund takes of the award. The customer keeps the award's share of what isn't refunded, rounded down,
// so that all parts together take exactly the award. An amount that can't be refunded takes nothing.
func (t Transaction) TakenBy(amountCents int64) int64 {
	unpaid := t.LeftCents() - amountCents
	if amountCents <= 0 || unpaid < 0 {
		return 0
	}
	return t.LeftAward() - award.Part(t.Award(), unpaid, t.SpendAmountCents)
}

// refundable is a sale with whether the actor may refund it.
type refundable struct {
	remembered
	MayRefund bool
}

// Refunds and a void of one sale wait for each other here, so each sees what is left.
const lockSQL = `
	select ` + columns + `, @voids_any::boolean or coalesce(id = ` + LastSale + `, false) as may_refund, ` + isRemembered + `
	from loyalty.transaction
	where tenant_id = @tenant_id
		and id = @id
	for no key update`

const refundSQL = `
	update loyalty.transaction
	set refunded_cents = @cents,
		refunded_award = @award
	where tenant_id = @tenant_id
		and id = @id`

const insertRefundSQL = `
	insert into loyalty.refund (tenant_id, id, transaction_id, amount_cents, points, stamps,
		external_reference, reason, actor_kind, actor_id, actor_name, created_at)
	values (@tenant_id, @id, @transaction, @amount, @points, @stamps,
		@reference, @reason, @actor_kind, @actor_id, @actor_name, @now)`

const refundColumns = `id, transaction_id, amount_cents, points, stamps, external_reference, reason, actor_kind, actor_name, created_at`

const refundsSQL = `
	select ` + refundColumns + `
	from loyalty.refund
	where tenant_id = @tenant_id
		and transaction_id = @id
	order by id`

const refundOfReferenceSQL = `
	select id
	from loyalty.refund
	where tenant_id = @tenant_id
		and external_reference = @reference`

// Refund pays back a part of a sale, and takes back that part of its award even if that takes the balance below zero. The
// sale stays completed. Parts may add up to the whole, but the whole at once is a void (ErrRefundIsVoid). Who may void a sale
// may refund it. unread is what the front end could not read.
func (s *Service) Refund(ctx context.Context, by core.Actor, id core.ID, r RefundRequest, unread core.Fields, once *core.Once[Refund]) (core.Reply[Refund], error) {
	reply, err := db.In(ctx, s.db.TenantAs(by, core.Cashier), db.Once(ctx, by, once, func(tx *db.Tx) (Refund, error) {
		return refund(ctx, tx, by, id, r, core.NewCheck(unread))
	}))
	if db.Violates(err, "refund_external_reference") {
		return reply, s.referenceTaken(ctx, by, "refund_ulid", refundOfReferenceSQL, *r.ExternalReference)
	}
	return reply, ledger.Refusal(err)
}

func refund(ctx context.Context, tx *db.Tx, by core.Actor, id core.ID, r RefundRequest, check *core.Check) (Refund, error) {
	args := db.Args{"id": id}
	AddVoidArgs(by, tx.Now, args)
	t, err := db.One[refundable](ctx, tx, lockSQL, args)
	if err != nil {
		return Refund{}, err
	}
	r.check(check)
	if check.OK("amount_cents") && t.Status == Completed {
		check.Range("amount_cents", r.AmountCents, 1, t.LeftCents())
	}
	switch err := check.Err(); {
	case err != nil:
		return Refund{}, err
	case t.Status == Voided:
		return Refund{}, ErrAlreadyVoided
	case !t.MayRefund:
		return Refund{}, ErrRefundNotAllowed
	case r.AmountCents == t.SpendAmountCents:
		return Refund{}, ErrRefundIsVoid
	}
	made := t.refund(by, core.NewID(tx.Now), r, tx.Now)
	return made, made.write(ctx, tx, by, t.remembered)
}

// refund returns a refund of a part of the sale.
func (t Transaction) refund(by core.Actor, id core.ID, r RefundRequest, now time.Time) Refund {
	made := Refund{
		ID: id, TransactionID: t.ID, AmountCents: r.AmountCents, ExternalReference: r.ExternalReference, Reason: r.Reason,
		ActorKind: by.Kind, ActorName: by.Name, CreatedAt: now,
	}
	taken := t.TakenBy(r.AmountCents)
	if t.RuleType == ledger.Stamps {
		made.Stamps = &taken
	} else {
		made.Points = &taken
	}
	return made
}

// write queues a refund with what it changes. The sale is locked, and the balance comes last.
func (r Refund) write(ctx context.Context, tx *db.Tx, by core.Actor, sale remembered) error {
	t, back := sale.Transaction, r.Award()
	err := errors.Join(
		db.Queue(tx, refundSQL, db.Args{"id": t.ID, "cents": t.RefundedCents + r.AmountCents, "award": t.RefundedAward + back}),
		db.Queue(tx, insertRefundSQL, db.Args{
			"id": r.ID, "transaction": t.ID, "amount": r.AmountCents, "points": r.Points, "stamps": r.Stamps,
			"reference": r.ExternalReference, "reason": r.Reason,
			"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
		}),
		daily.Mark(tx, t.CreatedAt),
		sale.takeBack(ctx, tx, by, taken{cents: r.AmountCents, award: back}),
		audit.Write(tx, by, audit.Entry{
			Action: "transaction.refund", Subject: "transaction", ID: t.ID.String(), Customer: &t.CustomerID,
			Old: map[string]any{"refunded_cents": t.RefundedCents, "spend_amount_cents": t.SpendAmountCents}, New: r.auditValues(t),
		}))
	if err != nil || back == 0 {
		return err
	}
	return ledger.Queue(tx, by, ledger.Entry{
		Customer: t.CustomerID, Unit: t.RuleType, Amount: -back, Kind: ledger.Refunded, Cause: &r.ID, Sale: &t.ID,
	})
}

func (r Refund) auditValues(t Transaction) map[string]any {
	values := map[string]any{
		"refunded_cents": t.RefundedCents + r.AmountCents, "spend_amount_cents": t.SpendAmountCents, "amount_cents": r.AmountCents,
	}
	if r.Reason != nil {
		values["reason"] = *r.Reason
	}
	return values
}
