package report

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
)

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	Sold             EventKind = "sale"
	SaleVoided       EventKind = "sale_voided"
	SaleRefunded     EventKind = "refund" // in part
	Redeemed         EventKind = "redemption"
	RedemptionVoided EventKind = "redemption_voided"
	VoucherRedeemed  EventKind = "voucher"
	Joined           EventKind = "customer"
	Adjusted         EventKind = "adjustment"
	Imported         EventKind = "import" // a file of customers
)

// Event is something that happened, with the data to describe it.
type Event struct {
	Kind       EventKind
	ID         core.ID // of the sale, the refund, the redemption, the voucher, the customer, the ledger entry, or the import
	At         time.Time
	CustomerID core.ID // zero of an import
	FirstName  string
	LastName   string
	Customers  int64   // whom an import added
	Points     int64   // the change of the customer's balance, or of all those of an import
	Stamps     int64   // likewise
	SpendCents *int64  // of a sale, or the amount of a refund
	About      *string // the name of the transaction type, reward, coupon or file; nil: none
	ActorKind  *core.ActorKind
	ActorName  *string // nil for a new customer
	Voided     bool    // a sale that was voided since
}

// DayInBrief is what a day amounts to, up to now. Sales are completed ones.
type DayInBrief struct {
	Date              time.Time `db:"-"` // midnight in UTC
	TransactionsCount int64
	SpendTotalCents   int64
	PointsAwarded     int64
	StampsAwarded     int64
	FirstSaleAt       time.Time
	LastSaleAt        time.Time
	NewCustomers      int64
}

// Feed is the latest events, newest first, the latest two days with sales, and a mark that changes with
// them.
type Feed struct {
	Events []Event
	Days   []DayInBrief
	Mark   string
}

const (
	maxEvents = 50
	daysBack  = 7 // in which days with sales are looked for
)

// Recent returns the latest events, for managers and owners. A caller that polls passes the mark of its
// events, and gets no events while nothing has changed. The mark covers the whole list, not just its
// latest event, because of two sales at once the earlier may be committed later.
func (s *Service) Recent(ctx context.Context, by core.Actor, limit int64, mark string) (Feed, error) {
	if err := by.Require(core.Manager); err != nil {
		return Feed{}, err
	}
	check := core.NewCheck(nil)
	check.Integer("limit", &limit, 1, maxEvents)
	if err := check.Err(); err != nil {
		return Feed{}, err
	}
	var f Feed
	var found []dayFound
	days := s.latestDays(by.Tenant.TimeZone)
	err := db.Together(ctx, s.db.Tenant(by),
		db.OneInto(&struct{ Set string }{}, planOnceSQL, s.planMode()),
		db.AllInto(&f.Events, recentSQL, db.Args{"limit": limit}),
		db.AllInto(&found, recentDaysSQL, days.args()))
	if err != nil {
		return Feed{}, err
	}
	for _, d := range found {
		d.Date = days.spans[d.Back].since
		f.Days = append(f.Days, d.DayInBrief)
	}
	if f.Mark, err = markOf(f); err != nil {
		return Feed{}, err
	}
	if f.Mark == mark {
		f.Events, f.Days = nil, nil
	}
	return f, s.addActors(ctx, by, f.Events)
}

// latestDays are today and the days before it, newest first.
func (s *Service) latestDays(zone *time.Location) (t timetable) {
	t.zone = zone
	today := core.DateOf(s.db.Now(), zone)
	for back := range daysBack {
		date := today.AddDate(0, 0, -back)
		t.add(inRange, back, Period{date, date}, date)
	}
	return t
}

// dayFound is a day, counted back from today.
type dayFound struct {
	Back int64
	DayInBrief
}

// auditActions maps kinds of events that may have no ledger entry to their actions in the audit log. The
// actor of an event with a ledger entry is in that entry.
var auditActions = map[EventKind]string{VoucherRedeemed: "voucher.redeem", SaleVoided: "transaction.void", RedemptionVoided: "redemption.void"}

type auditedActor struct {
	Action    string
	SubjectID string
	ActorKind core.ActorKind
	ActorName string
}

// addActors adds the actors that are only in the audit log.
func (s *Service) addActors(ctx context.Context, by core.Actor, events []Event) error {
	type auditKey struct{ action, subject string }
	withoutActor := map[auditKey]*Event{}
	var subjects []string
	for i, e := range events {
		if action, ok := auditActions[e.Kind]; ok && e.ActorName == nil {
			withoutActor[auditKey{action, e.ID.String()}] = &events[i]
			subjects = append(subjects, e.ID.String())
		}
	}
	if len(subjects) == 0 {
		return nil
	}
	found, err := db.All[auditedActor](ctx, s.db.Tenant(by), auditedActorsSQL, db.Args{"subjects": subjects})
	if err != nil {
		return err
	}
	for _, f := range found {
		if e := withoutActor[auditKey{f.Action, f.SubjectID}]; e != nil {
			e.ActorKind, e.ActorName = &f.ActorKind, &f.ActorName
		}
	}
	return nil
}

// Uses the index of subjects, and also returns other actions on them. A voucher may have been redeemed before: the
// last time counts.
const auditedActorsSQL = `
	select action, subject_id, actor_kind, actor_name
	from loyalty.audit_entry
	where tenant_id = @tenant_id
		and subject_kind in ('voucher', 'transaction', 'redemption')
		and subject_id = any(@subjects::text[])
	order by id`

func markOf(f Feed) (string, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return "", fmt.Errorf("report: mark of recent activity: %w", err)
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:12]), nil
}

// The latest events of all kinds are among the latest of each kind, which are read from the end of an
// index. Ledger entries other than adjustments belong to a sale, a redemption, a voucher or an import, or are expiries, of which
// there may be thousands on a day. A redemption without a cost is part of its voucher's event. A void may take back less than
// the award, since some was refunded or has expired.
//
// A feed has at most 6 sales and 6 new customers. A busy till would fill it with them, and the days say how many there were. Of other kinds
// it has at most maxEvents. These limits aren't arguments: planned once, PostgreSQL would expect a tenth of all records and read all vouchers.
const recentSQL = `
	with event as (
		(
			select 'sale' as kind, id, created_at as at, customer_id,
				coalesce(points_awarded, 0) as points, coalesce(stamps_awarded, 0) as stamps, spend_amount_cents as spend_cents,
				transaction_type_id, null::uuid as reward_id, null::uuid as coupon_id, actor_kind, actor_name, status = 'voided' as voided
			from loyalty.transaction
			where tenant_id = @tenant_id
			order by id desc
			limit 6
		) union all (
			select 'sale_voided', id, voided_at, customer_id, 0, 0, spend_amount_cents,
				transaction_type_id, null, null, null, null, false
			from loyalty.transaction
			where tenant_id = @tenant_id
				and status = 'voided'
			order by voided_at desc, id desc
			limit 50
		) union all (
			select 'refund', f.id, f.created_at, t.customer_id, -coalesce(f.points, 0), -coalesce(f.stamps, 0), f.amount_cents,
				t.transaction_type_id, null, null, f.actor_kind, f.actor_name, false
			from loyalty.refund f
			join loyalty.transaction t on t.tenant_id = f.tenant_id and t.id = f.transaction_id
			where f.tenant_id = @tenant_id
			order by f.id desc
			limit 50
		) union all (
			select 'redemption', id, created_at, customer_id, -points_spent, -stamps_spent, null, null, reward_id, null, actor_kind, actor_name, false
			from loyalty.redemption
			where tenant_id = @tenant_id
			order by id desc
			limit 50
		) union all (
			select 'redemption_voided', id, voided_at, customer_id, points_spent, stamps_spent, null, null, reward_id, null, null, null, false
			from loyalty.redemption
			where tenant_id = @tenant_id
				and status = 'voided'
			order by voided_at desc, id desc
			limit 50
		) union all (
			select 'voucher', id, redeemed_at, customer_id, 0, 0, null, null, null, coupon_id, null, null, false
			from loyalty.voucher
			where tenant_id = @tenant_id
				and status = 'redeemed'
			order by redeemed_at desc, id desc
			limit 50
		) union all (
			select 'customer', id, created_at, id, 0, 0, null, null, null, null, null, null, false
			from loyalty.customer
			where tenant_id = @tenant_id
				and merged_into is null
				and imported_at is null
			order by created_at desc, id desc
			limit 6
		) union all (
			select kind, id, created_at, customer_id,
				case when unit = 'points' then amount else 0 end, case when unit = 'stamps' then amount else 0 end, null,
				null, null, null, actor_kind, actor_name, false
			from loyalty.ledger_entry
			where tenant_id = @tenant_id
				and kind = 'adjustment'
			order by id desc
			limit 50
		)
	), imported as (
		select id, ended_at, created_count, opening_points, opening_stamps, file_name, actor_kind, actor_name
		from loyalty.customer_import
		where tenant_id = @tenant_id
			and status in ('done', 'cancelled')
			and created_count > 0
		order by ended_at desc, id desc
		limit 50
	), latest as (
		select *
		from (
			select event.*, 0::bigint as customers, null::text as file_name
			from event
			union all
			select 'import', id, ended_at, null, opening_points, opening_stamps, null, null, null, null, actor_kind, actor_name, false,
				created_count, file_name
			from imported
		) event
		where not (kind = 'redemption' and points = 0 and stamps = 0)
		order by at desc, id desc, kind
		limit @limit
	)
	select e.kind, e.id, e.at, coalesce(e.customer_id, '00000000-0000-0000-0000-000000000000') as customer_id,
		coalesce(c.first_name, '') as first_name, coalesce(c.last_name, '') as last_name, e.customers, e.spend_cents, e.voided,
		case e.kind when 'voucher' then case when l.unit = 'points' then l.amount else 0 end when 'sale_voided' then coalesce(b.points, 0) else e.points end as points,
		case e.kind when 'voucher' then case when l.unit = 'stamps' then l.amount else 0 end when 'sale_voided' then coalesce(b.stamps, 0) else e.stamps end as stamps,
		coalesce(t.name, r.name, k.name, e.file_name) as about,
		coalesce(e.actor_kind, l.actor_kind, g.actor_kind) as actor_kind,
		coalesce(e.actor_name, l.actor_name, g.actor_name) as actor_name
	from latest e
	left join loyalty.customer c on c.tenant_id = @tenant_id and c.id = e.customer_id
	left join loyalty.transaction_type t on t.tenant_id = @tenant_id and t.id = e.transaction_type_id
	left join loyalty.reward r on r.tenant_id = @tenant_id and r.id = e.reward_id
	left join loyalty.coupon k on k.tenant_id = @tenant_id and k.id = e.coupon_id
	left join loyalty.voucher v on e.kind = 'voucher' and v.tenant_id = @tenant_id and v.id = e.id
	left join loyalty.ledger_entry l on l.tenant_id = @tenant_id and l.cause = e.id and l.turn = coalesce(v.turn, 1)
		and l.kind = case when e.kind = 'sale_voided' then 'reversal' when e.kind = 'redemption_voided' then 'redemption_refund' when e.kind = 'voucher' then 'voucher' end
	left join lateral (
		select sum(amount) filter (where unit = 'points')::bigint as points, sum(amount) filter (where unit = 'stamps')::bigint as stamps
		from loyalty.ledger_entry
		where tenant_id = @tenant_id
			and cause = e.id
			and kind in ('reversal', 'expiry_return')
	) b on e.kind = 'sale_voided'
	left join loyalty.redemption g on g.tenant_id = @tenant_id and g.id = v.redemption_id
	order by e.at desc, e.id desc, e.kind`

// The latest two days with sales. A bucket is a day, counted back from today.
const recentDaysSQL = daily.Spans + `, sold as materialized (
		select bucket, sum(transactions) as transactions, sum(spend) as spend, sum(points) as points, sum(stamps) as stamps
		from (` + daily.SalesOfSpans + `
		) sale
		group by bucket
		having sum(transactions) > 0
		order by bucket
		limit 2
	), joined as materialized (
		select bucket, sum(customers) as customers
		from (` + daily.JoinedOfSpans + `
		) customer
		group by bucket
	)
	select sold.bucket as back, sold.transactions::bigint as transactions_count,
		least(sold.spend, 9223372036854775807)::bigint as spend_total_cents,
		least(sold.points, 9223372036854775807)::bigint as points_awarded,
		least(sold.stamps, 9223372036854775807)::bigint as stamps_awarded,
		ends.first_at as first_sale_at, ends.last_at as last_sale_at, coalesce(joined.customers, 0)::bigint as new_customers
	from sold
	cross join lateral (
		select min(earliest.created_at) as first_at, max(latest.created_at) as last_at
		from span
		cross join lateral (
			select created_at
			from loyalty.transaction
			where tenant_id = @tenant_id
				and id >= span.first_id
				and id < span.next_id
				and status = 'completed'
			order by id
			limit 1
		) earliest
		cross join lateral (
			select created_at
			from loyalty.transaction
			where tenant_id = @tenant_id
				and id >= span.first_id
				and id < span.next_id
				and status = 'completed'
			order by id desc
			limit 1
		) latest
		where span.bucket = sold.bucket
	) ends
	left join joined on joined.bucket = sold.bucket
	order by sold.bucket`
