package privacy

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
)

// part is a kind of records about a customer: a list in the document.
type part struct {
	name, sql string
	column    string // by which it is ordered; a page begins after the last value of the previous one
	start     any    // lower than every value
}

// The columns are named as in the document. It has the kind of actors, but not their names, which are
// other people's personal data.
var parts = []part{
	{"ledger_entries", ledgerEntriesSQL, "seq", int64(0)},
	{"merged_customers", mergedSQL, "ulid", core.ID{}},
	{"merged_ledger_entries", mergedEntriesSQL, "ulid", core.ID{}},
	{"transactions", transactionsSQL, "ulid", core.ID{}},
	{"refunds", refundsSQL, "ulid", core.ID{}},
	{"redemptions", redemptionsSQL, "ulid", core.ID{}},
	{"level_changes", levelChangesSQL, "number", int32(0)},
	{"vouchers", vouchersSQL, "ulid", core.ID{}},
	{"mails", mailsSQL, "ulid", core.ID{}},
	{"consents", consentsSQL, "kind", ""},
	{"log", logSQL, "ulid", core.ID{}},
}

const customerSQL = `
	select c.id as ulid, c.first_name, c.last_name, c.phone, c.email, c.status, a.points as points_balance, a.stamps as stamps_balance,
		c.created_at, c.updated_at, c.unsubscribed_at, c.note, c.external_id, ` + customer.BirthdayColumn + `, coalesce(c.metadata, '{}') as metadata,
		l.name as level, to_char(a.level_until, 'YYYY-MM-DD') as level_until,
		array(select g.tag from loyalty.customer_tag g where g.tenant_id = @tenant_id and g.customer_id = c.id order by g.key) as tags,
		array(select f.text from loyalty.customer_key f where f.tenant_id = @tenant_id and f.customer_id = c.id order by f.created_at, f.kind desc, f.key) as also_found_by
	from loyalty.customer c
	join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
	left join loyalty.level l on l.tenant_id = @tenant_id and l.id = a.level_id
	where c.tenant_id = @tenant_id
		and c.id = @customer`

// lastDay is a column of entries and sales; null: none.
const lastDay = `to_char(nullif(expires_on, 'infinity'), 'YYYY-MM-DD') as expires_on`

const ledgerEntriesSQL = `
	select id as ulid, seq, created_at, kind, unit, amount, balance_after, cause, reason, ` + lastDay + `, actor_kind as by
	from loyalty.ledger_entry
	where tenant_id = @tenant_id
		and customer_id = @customer
		and seq > @after
	order by seq
	limit @limit`

const mergedSQL = `
	select c.id as ulid, m.first_name, m.last_name, m.points as points_moved, m.stamps as stamps_moved, m.created_at as merged_at,
		m.actor_kind as by
	from loyalty.customer c
	join loyalty.customer_merge m on m.tenant_id = c.tenant_id and m.merged_id = c.id
	where c.tenant_id = @tenant_id
		and c.merged_into = @customer
		and c.id > @after
	order by c.id
	limit @limit`

// From before a merge, while the duplicate had a ledger of its own.
const mergedEntriesSQL = `
	select e.id as ulid, e.customer_id as customer_ulid, e.seq, e.created_at, e.kind, e.unit, e.amount, e.balance_after, e.cause, e.reason,
		` + lastDay + `, e.actor_kind as by
	from loyalty.ledger_entry e
	where e.tenant_id = @tenant_id
		and e.customer_id in (
			select id
			from loyalty.customer
			where tenant_id = @tenant_id
				and merged_into = @customer
		)
		and e.id > @after
	order by e.id
	limit @limit`

const transactionsSQL = `
	select t.id as ulid, t.created_at, coalesce(t.occurred_at, t.created_at) as occurred_at, t.status, t.voided_at, k.name as transaction_type, l.name as location, t.spend_amount_cents,
		t.discount_cents, t.points_awarded, t.stamps_awarded, ` + lastDay + `,
		t.refunded_cents, t.source, t.external_reference, t.metadata, coalesce(t.items, '[]') as items, t.actor_kind as by
	from loyalty.transaction t
	join loyalty.transaction_type k on k.tenant_id = t.tenant_id and k.id = t.transaction_type_id
	left join loyalty.location l on l.tenant_id = t.tenant_id and l.id = t.location_id
	where t.tenant_id = @tenant_id
		and t.customer_id = @customer
		and t.id > @after
	order by t.id
	limit @limit`

const refundsSQL = `
	select r.id as ulid, r.transaction_id as transaction_ulid, r.created_at, r.amount_cents, r.points as points_refunded, r.stamps as stamps_refunded,
		r.external_reference, r.reason, r.actor_kind as by
	from loyalty.transaction t
	join loyalty.refund r on r.tenant_id = t.tenant_id and r.transaction_id = t.id
	where t.tenant_id = @tenant_id
		and t.customer_id = @customer
		and r.id > @after
	order by r.id
	limit @limit`

const redemptionsSQL = `
	select r.id as ulid, r.created_at, r.status, r.fulfilled_at, r.voided_at, w.name as reward, r.points_spent, r.stamps_spent,
		r.transaction_id as transaction_ulid, l.name as location, r.actor_kind as by
	from loyalty.redemption r
	join loyalty.reward w on w.tenant_id = r.tenant_id and w.id = r.reward_id
	left join loyalty.location l on l.tenant_id = r.tenant_id and l.id = r.location_id
	where r.tenant_id = @tenant_id
		and r.customer_id = @customer
		and r.id > @after
	order by r.id
	limit @limit`

// A level that isn't named is the first one.
const levelChangesSQL = `
	select c.id as ulid, c.seq as number, c.created_at, f.name as from_level, t.name as to_level, c.reason, to_char(c.until, 'YYYY-MM-DD') as until, c.note,
		c.actor_kind as by
	from loyalty.level_change c
	left join loyalty.level f on f.tenant_id = @tenant_id and f.id = c.from_level
	left join loyalty.level t on t.tenant_id = @tenant_id and t.id = c.to_level
	where c.tenant_id = @tenant_id
		and c.customer_id = @customer
		and c.seq > @after
	order by c.seq
	limit @limit`

const vouchersSQL = `
	select v.id as ulid, v.created_at, p.name as coupon, p.description,
		case when v.status = 'pending' and v.expires_at <= @now then 'expired' else v.status end as status,
		v.expires_at, v.redeemed_at, v.restored_at, v.transaction_id as transaction_ulid, m.status as mail_status, m.done_at as mailed_at
	from loyalty.voucher v
	join loyalty.coupon p on p.tenant_id = v.tenant_id and p.id = v.coupon_id
	left join loyalty.voucher_mail m on m.tenant_id = v.tenant_id and m.voucher_id = v.id
	where v.tenant_id = @tenant_id
		and v.customer_id = @customer
		and v.id > @after
	order by v.id
	limit @limit`

const mailsSQL = `
	select id as ulid, created_at, recipient, subject
	from loyalty.mail
	where tenant_id = @tenant_id
		and recipient = any(@addresses::text[])
		and id > @after
	order by id
	limit @limit`

const consentsSQL = `
	select kind, text, source, given_at
	from loyalty.consent
	where tenant_id = @tenant_id
		and customer_id = @customer
		and kind > @after
	order by kind
	limit @limit`

const logSQL = `
	select id as ulid, created_at, action, old, new, actor_kind as by
	from loyalty.audit_entry
	where tenant_id = @tenant_id
		and subject_kind = 'customer'
		and subject_id = any (@ulids::text[])
		and id > @after
	order by id
	limit @limit`

// WriteData writes everything that is stored about a customer as a JSON document (Articles 15 and 20 of
// the GDPR), and the download into the audit log. If the customer doesn't exist, it writes nothing and
// returns core.ErrNotFound. It reads page by page, without a common snapshot.
func (s *Service) WriteData(ctx context.Context, by core.Actor, id core.ID, w io.Writer) error {
	var everyone []core.ID
	addresses, err := db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (known []string, err error) {
		if _, err := customer.FindIn(ctx, tx, id); err != nil {
			return nil, err
		}
		if everyone, err = withMerged(ctx, tx, id); err != nil {
			return nil, err
		}
		if known, err = findAddresses(ctx, tx, id, everyone); err != nil {
			return nil, err
		}
		return known, audit.Write(tx, by, audit.Entry{Action: "customer.download", Subject: "customer", ID: id.String()})
	})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	about := db.Args{"customer": id, "ulids": ulids(everyone), "addresses": addresses, "now": s.db.Now()}
	record, err := s.records(ctx, by, customerSQL, about)
	if err != nil || len(record) == 0 {
		return err
	}
	text, err := json.Marshal(record[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "{\n\"customer\": %s", text)
	for _, p := range parts {
		if err := s.writePart(ctx, out, by, p, about); err != nil {
			return err
		}
	}
	fmt.Fprint(out, "\n}\n")
	return out.Flush()
}

const pageSize = 1_000

// writePart writes a part, page by page.
func (s *Service) writePart(ctx context.Context, out *bufio.Writer, by core.Actor, p part, about db.Args) error {
	fmt.Fprintf(out, ",\n%q: [", p.name)
	about["after"], about["limit"] = p.start, pageSize
	separator := "\n"
	for more := true; more; {
		page, err := s.records(ctx, by, p.sql, about)
		if err != nil {
			return err
		}
		for _, record := range page {
			text, err := json.Marshal(record)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s%s", separator, text)
			about["after"], separator = record[p.column], ",\n"
		}
		more = len(page) == pageSize
	}
	_, err := out.WriteString("]")
	return err
}

// records reads rows as maps, with the arguments that the statement uses.
func (s *Service) records(ctx context.Context, by core.Actor, sql string, args db.Args) ([]map[string]any, error) {
	used := db.Args{}
	for name, value := range args {
		if strings.Contains(sql, "@"+name) {
			used[name] = value
		}
	}
	rows, err := db.All[map[string]any](ctx, s.db.Tenant(by), sql, used)
	for _, row := range rows {
		for name, value := range row {
			if id, ok := value.([16]byte); ok {
				row[name] = core.ID(id)
			}
		}
	}
	return rows, err
}
