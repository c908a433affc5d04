package audit

import (
	"context"
	"strconv"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Record is what it takes to say in words what a line tells of.
type Record struct {
	Name         string   // of a redemption: its reward's; of a voucher: its coupon's; of a sale: ""
	CustomerID   *core.ID // whose sale, redemption or voucher it is
	CustomerName string
	SpendCents   *int64 // of a sale
}

// name finds the records of lines. One round trip, and none without lines.
func (s *Service) name(ctx context.Context, by core.Actor, lines []Line) error {
	var ids []core.ID
	var numbers []int64
	for _, l := range lines {
		if id, err := core.ParseID(l.SubjectID); err == nil {
			ids = append(ids, id)
		} else if number, err := strconv.ParseInt(l.SubjectID, 10, 64); err == nil {
			numbers = append(numbers, number)
		}
	}
	if len(ids) == 0 && len(numbers) == 0 {
		return nil
	}
	rows, err := db.ReadAll[recordRow](ctx, s.db, by, recordsSQL, db.Args{"ids": ids, "numbers": numbers})
	if err != nil {
		return err
	}
	type subject struct{ kind, id string }
	records := map[subject]*Record{}
	for i, r := range rows {
		records[subject{r.Kind, r.id()}] = &rows[i].Record
	}
	for i, l := range lines {
		lines[i].Record = records[subject{l.Subject, l.SubjectID}]
	}
	return nil
}

type recordRow struct {
	Kind   string
	ID     *core.ID // either this
	Number *int64   // or that
	Record
}

func (r recordRow) id() string {
	if r.ID != nil {
		return r.ID.String()
	}
	return strconv.FormatInt(*r.Number, 10)
}

// Of somebody who was erased both names are the same word.
const customerName = `case when c.phone_key is null then c.first_name else c.first_name || ' ' || c.last_name end`

// A page names few records, each of them found by its key: every id is looked for in
// every table, and what is found in another one than the line's is passed over.
const recordsSQL = `
	select 'customer' as kind, c.id, null::bigint as number, ` + customerName + ` as name,
		null::uuid as customer_id, '' as customer_name, null::bigint as spend_cents
	from loyalty.customer c
	where c.tenant_id = @tenant_id
		and c.id = any(@ids::uuid[])
	union all
	select 'import', id, null, file_name, null, '', null
	from loyalty.customer_import
	where tenant_id = @tenant_id
		and id = any(@ids::uuid[])
	union all
	select 'transaction', t.id, null, '', c.id, ` + customerName + `, t.spend_amount_cents
	from loyalty.transaction t
	join loyalty.customer c on c.tenant_id = @tenant_id and c.id = t.customer_id
	where t.tenant_id = @tenant_id
		and t.id = any(@ids::uuid[])
	union all
	select 'reward', id, null, name, null, '', null
	from loyalty.reward
	where tenant_id = @tenant_id
		and id = any(@ids::uuid[])
	union all
	select 'redemption', r.id, null, w.name, c.id, ` + customerName + `, null
	from loyalty.redemption r
	join loyalty.reward w on w.tenant_id = @tenant_id and w.id = r.reward_id
	join loyalty.customer c on c.tenant_id = @tenant_id and c.id = r.customer_id
	where r.tenant_id = @tenant_id
		and r.id = any(@ids::uuid[])
	union all
	select 'coupon', id, null, name, null, '', null
	from loyalty.coupon
	where tenant_id = @tenant_id
		and id = any(@ids::uuid[])
	union all
	select 'voucher', v.id, null, k.name, c.id, ` + customerName + `, null
	from loyalty.voucher v
	join loyalty.coupon k on k.tenant_id = @tenant_id and k.id = v.coupon_id
	join loyalty.customer c on c.tenant_id = @tenant_id and c.id = v.customer_id
	where v.tenant_id = @tenant_id
		and v.id = any(@ids::uuid[])
	union all
	select 'transaction_type', null, id, name, null, '', null
	from loyalty.transaction_type
	where tenant_id = @tenant_id
		and id = any(@numbers::bigint[])
	union all
	select 'location', null, id, name, null, '', null
	from loyalty.location
	where tenant_id = @tenant_id
		and id = any(@numbers::bigint[])
	union all
	select 'staff', null, id, name, null, '', null
	from loyalty.staff
	where tenant_id = @tenant_id
		and id = any(@numbers::bigint[])
	union all
	select 'token', null, id, name, null, '', null
	from loyalty.token
	where tenant_id = @tenant_id
		and id = any(@numbers::bigint[])`

// Someone is somebody a filter can pick.
type Someone struct {
	Actor string // as in Filter
	Name  string
}

// People returns whom a filter can offer: the staff, whether they still work here or
// not, and the tokens that are in use, each by name. Others who act are found in the
// lines that name them. One round trip.
func (s *Service) People(ctx context.Context, by core.Actor) ([]Someone, error) {
	if err := by.Require(core.Manager); err != nil {
		return nil, err
	}
	return db.ReadAll[Someone](ctx, s.db, by, peopleSQL, nil)
}

const peopleSQL = `
	select actor, name
	from (
		select 'staff' as kind, 'staff:' || id as actor, name
		from loyalty.staff
		where tenant_id = @tenant_id
		union all
		select 'token', 'token:' || t.id, t.name
		from loyalty.staff s
		join loyalty.token t on t.staff_id = s.id
		where s.tenant_id = @tenant_id
			and t.tenant_id = @tenant_id
			and t.revoked_at is null
	) someone
	order by kind, name, actor`
