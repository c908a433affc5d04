package report

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// EventKind says what happened.
type EventKind string

// What recent activity tells of.
const (
	Sold             EventKind = "sale"
	SaleVoided       EventKind = "sale_voided"
	Redeemed         EventKind = "redemption"
	RedemptionVoided EventKind = "redemption_voided"
	VoucherRedeemed  EventKind = "voucher"
	Joined           EventKind = "customer"
	Adjusted         EventKind = "adjustment"
)

// Event is one thing that happened, with what it takes to say it in words.
type Event struct {
	Kind       EventKind
	ID         core.ID // of the sale, the redemption, the voucher, the customer, or the ledger entry
	At         time.Time
	CustomerID core.ID
	FirstName  string
	LastName   string
	Points     int64   // by which the customer's balance moved
	Stamps     int64   // likewise
	SpendCents *int64  // of a sale
	About      *string // the name of the transaction type, the reward or the coupon; nil: none
	ActorKind  *core.ActorKind
	ActorName  *string // nil: of who joined, it is not told by whom
}

// Feed is what happened lately, newest first, and its mark: a list that is the
// same in every word has the same one.
type Feed struct {
	Events []Event
	Mark   string
}

const maxEvents = 50

// Recent returns the latest events, to managers and owners, at the same cost however
// much has happened. Somebody who looks again gives the mark of what they have: while
// that is still the latest, no events come back, and there is nothing to show anew.
// The whole list is compared and not just its end, since of two sales that are
// recorded at once the earlier may be committed later. One round trip, and a second for
// who did what of which the log alone tells.
func (s *Service) Recent(ctx context.Context, by core.Actor, limit int64, mark string) (Feed, error) {
	if err := by.Require(core.Manager); err != nil {
		return Feed{}, err
	}
	check := core.NewCheck(nil)
	check.Integer("limit", &limit, 1, maxEvents)
	if err := check.Err(); err != nil {
		return Feed{}, err
	}
	events, err := db.ReadAll[Event](ctx, s.db, by, recentSQL, db.Args{"limit": limit})
	if err != nil {
		return Feed{}, err
	}
	f := Feed{Events: events}
	if f.Mark, err = markOf(events); err != nil {
		return Feed{}, err
	}
	if f.Mark == mark {
		f.Events = nil
	}
	return f, s.addActors(ctx, by, f.Events)
}

// told are the acts that move no balance every time, and what the log calls them: where
// they moved one, the ledger says who it was.
var told = map[EventKind]string{VoucherRedeemed: "voucher.redeem", SaleVoided: "transaction.void", RedemptionVoided: "redemption.void"}

type signature struct {
	Action    string
	SubjectID string
	ActorKind core.ActorKind
	ActorName string
}

// addActors says who it was of events whose own records do not.
func (s *Service) addActors(ctx context.Context, by core.Actor, events []Event) error {
	type act struct{ action, subject string }
	unsigned := map[act]*Event{}
	var subjects []string
	for i, e := range events {
		if action, ok := told[e.Kind]; ok && e.ActorName == nil {
			unsigned[act{action, e.ID.String()}] = &events[i]
			subjects = append(subjects, e.ID.String())
		}
	}
	if len(subjects) == 0 {
		return nil
	}
	found, err := db.ReadAll[signature](ctx, s.db, by, signaturesSQL, db.Args{"subjects": subjects})
	if err != nil {
		return err
	}
	for _, f := range found {
		if e := unsigned[act{f.Action, f.SubjectID}]; e != nil {
			e.ActorKind, e.ActorName = &f.ActorKind, &f.ActorName
		}
	}
	return nil
}

// By the index of subjects; what else was done to these is passed over.
const signaturesSQL = `
	select action, subject_id, actor_kind, actor_name
	from loyalty.audit_entry
	where tenant_id = @tenant_id
		and subject_kind in ('voucher', 'transaction', 'redemption')
		and subject_id = any(@subjects::text[])`

func markOf(events []Event) (string, error) {
	text, err := json.Marshal(events)
	if err != nil {
		return "", fmt.Errorf("report: mark of recent activity: %w", err)
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:12]), nil
}

// Each kind has an index of its own, read from its end; the latest of all are among the
// latest of each. Of the ledger only adjustments are told: what else is in it moved for
// a sale, a redemption or a voucher of the same instant, and so none that is among the
// latest is pushed out by those. A redemption that cost nothing is its voucher's.
const recentSQL = `
	with event as (
		(
			select 'sale' as kind, id, created_at as at, customer_id,
				coalesce(points_awarded, 0) as points, coalesce(stamps_awarded, 0) as stamps, spend_amount_cents as spend_cents,
				transaction_type_id, null::uuid as reward_id, null::uuid as coupon_id, actor_kind, actor_name
			from loyalty.transaction
			where tenant_id = @tenant_id
			order by id desc
			limit @limit
		) union all (
			select 'sale_voided', id, voided_at, customer_id,
				-coalesce(points_awarded, 0), -coalesce(stamps_awarded, 0), spend_amount_cents,
				transaction_type_id, null, null, null, null
			from loyalty.transaction
			where tenant_id = @tenant_id
				and status = 'voided'
			order by voided_at desc, id desc
			limit @limit
		) union all (
			select 'redemption', id, created_at, customer_id, -points_spent, -stamps_spent, null, null, reward_id, null, actor_kind, actor_name
			from loyalty.redemption
			where tenant_id = @tenant_id
			order by id desc
			limit @limit
		) union all (
			select 'redemption_voided', id, voided_at, customer_id, points_spent, stamps_spent, null, null, reward_id, null, null, null
			from loyalty.redemption
			where tenant_id = @tenant_id
				and status = 'voided'
			order by voided_at desc, id desc
			limit @limit
		) union all (
			select 'voucher', id, redeemed_at, customer_id, 0, 0, null, null, null, coupon_id, null, null
			from loyalty.voucher
			where tenant_id = @tenant_id
				and status = 'redeemed'
			order by redeemed_at desc, id desc
			limit @limit
		) union all (
			select 'customer', id, created_at, id, 0, 0, null, null, null, null, null, null
			from loyalty.customer
			where tenant_id = @tenant_id
			order by created_at desc, id desc
			limit @limit
		) union all (
			select kind, id, created_at, customer_id,
				case unit when 'points' then amount else 0 end, case unit when 'stamps' then amount else 0 end, null,
				null, null, null, actor_kind, actor_name
			from (
				select *
				from loyalty.ledger_entry
				where tenant_id = @tenant_id
				order by id desc
				limit @limit
			) entry
			where kind = 'adjustment'
		)
	), latest as (
		select *
		from event
		where not (kind = 'redemption' and points = 0 and stamps = 0)
		order by at desc, id desc, kind
		limit @limit
	)
	select e.kind, e.id, e.at, e.customer_id, c.first_name, c.last_name, e.spend_cents,
		case e.kind when 'voucher' then case when l.unit = 'points' then l.amount else 0 end else e.points end as points,
		case e.kind when 'voucher' then case when l.unit = 'stamps' then l.amount else 0 end else e.stamps end as stamps,
		coalesce(t.name, r.name, k.name) as about,
		coalesce(e.actor_kind, l.actor_kind, g.actor_kind) as actor_kind,
		coalesce(e.actor_name, l.actor_name, g.actor_name) as actor_name
	from latest e
	join loyalty.customer c on c.tenant_id = @tenant_id and c.id = e.customer_id
	left join loyalty.transaction_type t on t.tenant_id = @tenant_id and t.id = e.transaction_type_id
	left join loyalty.reward r on r.tenant_id = @tenant_id and r.id = e.reward_id
	left join loyalty.coupon k on k.tenant_id = @tenant_id and k.id = e.coupon_id
	left join loyalty.ledger_entry l on l.tenant_id = @tenant_id and l.cause = e.id
		and l.kind = case e.kind when 'sale_voided' then 'reversal' when 'redemption_voided' then 'redemption_refund' when 'voucher' then 'voucher' end
	left join loyalty.voucher v on e.kind = 'voucher' and v.tenant_id = @tenant_id and v.id = e.id
	left join loyalty.redemption g on g.tenant_id = @tenant_id and g.id = v.redemption_id
	order by e.at desc, e.id desc, e.kind`
