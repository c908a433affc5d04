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
	Reason       *string  // of an adjustment or an opening balance

	Voided        bool   // the sale or redemption was voided later, or the voucher valid again
	BalanceVoided *int64 // the balance after the void, if nothing happened in between: it has no entry of its own
	Voidable      bool   // the actor may void the sale

	SaleID           *core.ID   // of a refund; the cause of others is the sale itself
	TypeName         *string    // of the sale, also of a voided one
	SpendAmountCents *int64     // of the sale
	RefundedCents    *int64     // of a refund
	Returned         *int64     // of a void or a refund: what had expired of the award, and was returned before
	ExpiresOn        *time.Time // the last day of what was added, or the day that ended; nil: none
	LocationName     *string    // of the sale or redemption; nil: unknown
	RewardName       *string    // of the redemption, also of a voided one
	CouponName       *string    // of the voucher, also of its reversal

	MergedID   *core.ID // of a merge into this customer: the duplicate
	MergedName *string

	ActorKind core.ActorKind
	ActorName string
	CreatedAt time.Time
}

// Net is the change of the balance together with what was returned before.
func (e Entry) Net() int64 { return e.Amount + core.OrZero(e.Returned) }

// Happening is a kind of event on a timeline.
type Happening string

// The kinds of events.
const (
	Sales       Happening = "sales"
	Redemptions Happening = "redemptions"
	Vouchers    Happening = "vouchers"
	Adjustments Happening = "adjustments"
	Expiries    Happening = "expiry"
)

// TimelineFilter selects entries. A nil field selects all.
type TimelineFilter struct {
	Events *string    // a Happening
	Since  *time.Time // an instant
}

// An entry with its cause: the sale's type and spend, the redeemed reward, the voucher's coupon. A void
// that directly follows what it voids is folded into that entry; another one has its own, because the
// balances between them include what was voided. What is returned of an expired award is folded into the void or refund that
// deducts the award. Each table is looked up by columns of the rows before it, because of the policies (docs/architecture/isolation.md).
const selectEntry = `
	select e.id, e.seq, e.kind, e.unit, e.amount, e.balance_after, e.cause, e.reason,
		e.kind in ('earn', 'redemption') and coalesce(t.status, r.status) = 'voided' or e.kind = 'voucher' and coalesce(v.turn > e.turn, false) as voided, n.balance_after as balance_voided,
		e.kind = 'earn' and t.status = 'completed' and @voids_any::boolean as voidable,
		f.transaction_id as sale_id, k.name as type_name, t.spend_amount_cents, f.amount_cents as refunded_cents, x.amount as returned,
		nullif(e.expires_on, 'infinity') as expires_on, l.name as location_name, w.name as reward_name, p.name as coupon_name,
		m.merged_id, m.first_name || ' ' || m.last_name as merged_name,
		e.actor_kind, e.actor_name, e.created_at
	from loyalty.ledger_entry e
	cross join lateral (
		select e.seq - 1 as before, e.seq + 1 as after
		offset 0
	) beside
	left join loyalty.ledger_entry n on n.tenant_id = e.tenant_id and n.customer_id = e.customer_id and n.seq = beside.after and n.cause = e.cause and n.turn = e.turn and n.kind <> 'expiry_return'
	left join loyalty.ledger_entry x on x.tenant_id = e.tenant_id and x.customer_id = e.customer_id and x.seq = beside.before and x.cause = e.cause and x.turn = e.turn and x.kind = 'expiry_return'
	left join loyalty.refund f on e.kind = 'refund' and f.tenant_id = e.tenant_id and f.id = e.cause
	cross join lateral (
		select coalesce(f.transaction_id, e.cause) as id
		offset 0
	) s
	left join loyalty.transaction t on e.kind in ('earn', 'reversal', 'refund') and t.tenant_id = e.tenant_id and t.id = s.id
	left join loyalty.transaction_type k on k.tenant_id = t.tenant_id and k.id = t.transaction_type_id
	left join loyalty.redemption r on e.kind in ('redemption', 'redemption_refund') and r.tenant_id = e.tenant_id and r.id = e.cause
	cross join lateral (
		select coalesce(t.location_id, r.location_id) as id
		offset 0
	) o
	left join loyalty.location l on l.tenant_id = e.tenant_id and l.id = o.id
	left join loyalty.reward w on w.tenant_id = r.tenant_id and w.id = r.reward_id
	left join loyalty.voucher v on e.kind in ('voucher', 'reversal') and v.tenant_id = e.tenant_id and v.id = e.cause
	left join loyalty.coupon p on p.tenant_id = v.tenant_id and p.id = v.coupon_id
	left join loyalty.customer_merge m on m.tenant_id = e.tenant_id and m.id = e.merge_id and m.kept_id = e.customer_id
	where e.tenant_id = @tenant_id
		and e.customer_id = @customer
		and e.kind <> 'expiry_return'
		and not exists (
			select
			from loyalty.ledger_entry b
			where b.tenant_id = @tenant_id
				and b.customer_id = @customer
				and b.seq = beside.before
				and b.cause = e.cause
				and b.turn = e.turn
				and b.kind <> 'expiry_return'
		)`

var timelineList = db.NewList(selectEntry+` {filters} {position}
	{page}`, db.Descending("e.seq", "@number"), db.Filters{
	"sales":       "e.kind in ('earn', 'reversal', 'refund') and v.id is null",
	"redemptions": "e.kind in ('redemption', 'redemption_refund')",
	"vouchers":    "e.kind in ('voucher', 'reversal') and v.id is not null",
	"adjustments": "e.kind in ('adjustment', 'merge', 'opening')",
	"expiry":      "e.kind = 'expiry'",
	"since":       "e.created_at >= @since",
})

// Timeline returns a page of the customer's entries that match the filter, newest first, or
// core.ErrNotFound.
func (s *Service) Timeline(ctx context.Context, by core.Actor, id core.ID, f TimelineFilter, p core.Page) (core.List[Entry], error) {
	check := core.NewCheck(p.Malformed)
	args := db.Args{"customer": id, "since": f.Since, "voids_any": by.Require(core.Manager) == nil}
	if f.Events != nil {
		core.OneOf(check, "events", Happening(*f.Events), Sales, Redemptions, Vouchers, Adjustments, Expiries)
		args[*f.Events] = true
	}
	var l core.List[Entry]
	err := check.Err()
	if err == nil {
		position := func(e Entry) core.Cursor { return core.NumberCursor(e.CreatedAt, e.Seq) }
		l, err = db.ListPage(ctx, s.db, by, timelineList, args, p, position)
	}
	return db.OfExisting(ctx, s.db, by, l, err, findSQL, db.Args{"id": id})
}

// An ID contains its created_at, so the index in the order of IDs finds the days.
const spendByDaySQL = `
	select to_char(created_at at time zone @zone::text, 'YYYY-MM-DD') as day,
		least(sum(spend_amount_cents), 9223372036854775807)::bigint as cents
	from loyalty.transaction
	where tenant_id = @tenant_id
		and customer_id = @customer
		and id >= @first
		and id < @after
		and status = 'completed'
	group by day`

// SpendByDay returns what a customer spent on each local day from the day of one instant to that of
// another, by day (2006-01-02). Days without a completed sale are missing.
func (s *Service) SpendByDay(ctx context.Context, by core.Actor, id core.ID, from, to time.Time) (map[string]int64, error) {
	zone := by.Tenant.TimeZone
	from, to = from.In(zone), to.In(zone)
	rows, err := db.All[struct {
		Day   string
		Cents int64
	}](ctx, s.db.Tenant(by), spendByDaySQL, db.Args{
		"customer": id, "zone": zone.String(),
		"first": core.FirstID(core.StartOfDay(from.Year(), from.Month(), from.Day(), zone)),
		"after": core.FirstID(core.StartOfDay(to.Year(), to.Month(), to.Day()+1, zone)),
	})
	spent := make(map[string]int64, len(rows))
	for _, r := range rows {
		spent[r.Day] = r.Cents
	}
	return spent, err
}
