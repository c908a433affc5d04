package report

import (
	"cmp"
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
)

// Visitor is a customer of an audience.
type Visitor struct {
	ID            core.ID
	FirstName     string
	LastName      string
	Phone         string
	Email         *string
	Status        string
	PointsBalance int64
	LastVisit     time.Time // the last completed sale; of a group, the midnight in UTC of its day
	SaleID        *core.ID  // of the last visit, unless it is of a group
	Visits        int64     // completed sales, as in customer.Profile; of a group, days with one in its year
	SpendCents    int64     // on completed sales, less refunds, as in customer.Profile; of a group, on those of its year
}

// Audience returns a page of the customers of an audience, the latest last visit first: of those who lapsed as of today, or of a group.
// Inactive customers are among them, whom sends skip. Merged ones are not. It refuses an unknown audience.
func (s *Service) Audience(ctx context.Context, by core.Actor, name daily.Audience, p core.Page) (core.List[Visitor], error) {
	if err := by.Require(core.Manager); err != nil {
		return core.List[Visitor]{}, err
	}
	if !name.Known() {
		return core.List[Visitor]{}, core.ErrNotFound
	}
	args := name.Args(s.db.Now(), by.Tenant.TimeZone)
	if name.Lapsed() > 0 {
		return db.ListPage(ctx, s.db, by, lapsedList, args, p, func(v Visitor) core.Cursor { return core.Cursor{ID: *v.SaleID} })
	}
	list := groupList
	if !daily.Group(name).Lately() {
		list = earlierGroupList
	}
	return db.ListPage(ctx, s.db, by, list, args, p, func(v Visitor) core.Cursor { return core.Cursor{At: v.LastVisit, ID: v.ID} })
}

// ExportAudience passes the customers of an audience to each, one by one, as they are when their page is read. An error of each ends it.
// The audit log has their number, also of an export that broke off.
func (s *Service) ExportAudience(ctx context.Context, by core.Actor, name daily.Audience, each func(Visitor) error) error {
	list := func(p core.Page) (core.List[Visitor], error) { return s.Audience(ctx, by, name, p) }
	if _, err := list(core.Page{Size: 1}); err != nil {
		return err
	}
	start := core.Cursor{At: s.db.Now(), ID: core.FirstID(daily.EndOfTime)}
	count, err := db.Each(start, list, each)
	// Logged also if the client is gone: it has what was passed so far.
	return cmp.Or(err, db.Run(context.WithoutCancel(ctx), s.db.Tenant(by), func(tx *db.Tx) error {
		return audit.Write(tx, by, audit.Entry{
			Action: "customer.export", Subject: "customer",
			New: map[string]any{"filter": map[string]any{"audience": name}, "count": count, "complete": err == nil},
		})
	}))
}

// A customer's last sale is found walking back from the day since when they didn't come: few of a day's customers never came again, but
// a page is found among the sales of a day or two. Customers who were merged into another one have no sales. The account has their figures, so
// that no page adds up sales.
var lapsedList = db.NewList(`
	select c.id, c.first_name, c.last_name, c.phone, c.email, c.status, a.points as points_balance, t.created_at as last_visit, t.id as sale_id,
		coalesce(a.visits, 0) as visits, least(coalesce(a.spent_cents, 0), 9223372036854775807)::bigint as spend_cents
	from (
		select t.id, t.customer_id, t.created_at
		from loyalty.transaction t
		where t.tenant_id = @tenant_id
			and t.id < @lapsed_id
			and t.status = 'completed'
			and not exists (
				select
				from loyalty.transaction later
				where later.tenant_id = @tenant_id
					and later.customer_id = t.customer_id
					and later.id > t.id
					and later.status = 'completed'
			) {position}
		{page}
	) t
	join loyalty.customer c on c.tenant_id = @tenant_id and c.id = t.customer_id
	join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = t.customer_id
	{order}`, db.Descending("t.id", "@id"), nil)

// Those who came lately and those who didn't are apart in the index, so a page doesn't read the others.
var (
	groupList        = db.NewList(selectGroup+`> k.lately_after {position} {page}`, latestVisitFirst, nil)
	earlierGroupList = db.NewList(selectGroup+`<= k.lately_after {position} {page}`, latestVisitFirst, nil)
	latestVisitFirst = db.Descending("y.last_day, y.customer_id", "@at, @id")
)

const selectGroup = `
	select c.id, c.first_name, c.last_name, c.phone, c.email, c.status, a.points as points_balance, y.last_day as last_visit, null::uuid as sale_id,
		y.visits, least(y.spend, 9223372036854775807)::bigint as spend_cents
	from (
		select as_of, as_of - 60 as lately_after, high
		from loyalty.year_counted
		where tenant_id = @tenant_id
		offset 0
	) k
	join loyalty.customer_year y on y.tenant_id = @tenant_id
	join loyalty.customer c on c.tenant_id = @tenant_id and c.id = y.customer_id and c.merged_into is null
	join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = y.customer_id
	where ` + daily.GroupOfYear + ` = @group::text
		and y.last_day `
