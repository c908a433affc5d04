package promotion

import (
	"context"
	"errors"
	"strconv"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Limits are the caps of a business, and whether its tills ask what a sale is about.
type Limits struct {
	PointsDayCap   *int64 // what a customer earns on a local day; nil: no cap
	StampsDayCap   *int64
	TillCategories bool
}

// EditLimits describes a change of the limits: fields that are not set stay as they are.
type EditLimits struct {
	PointsDayCap   core.Optional[int64] // null: no cap
	StampsDayCap   core.Optional[int64]
	TillCategories core.Optional[bool]

	Malformed core.Fields
}

const (
	limitsSQL = `
	select points_day_cap, stamps_day_cap, till_categories
	from loyalty.tenant
	where id = @tenant_id`

	lockLimitsSQL = limitsSQL + `
	for no key update`

	setLimitsSQL = `
	select loyalty.set_earning_limits(@tenant_id, @points, @stamps, @till)`
)

// Limits returns the caps of the actor's business.
func (s *Service) Limits(ctx context.Context, by core.Actor) (Limits, error) {
	return db.One[Limits](ctx, s.db.Tenant(by), limitsSQL, nil)
}

// EditLimits changes the fields that are set.
func (s *Service) EditLimits(ctx context.Context, by core.Actor, e EditLimits) (Limits, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Limits, error) {
		old, err := db.One[Limits](ctx, tx, lockLimitsSQL, nil)
		if err != nil {
			return Limits{}, err
		}
		check := core.NewCheck(e.Malformed)
		l := Limits{
			PointsDayCap: e.PointsDayCap.Or(old.PointsDayCap), StampsDayCap: e.StampsDayCap.Or(old.StampsDayCap),
			TillCategories: core.OrZero(e.TillCategories.Or(&old.TillCategories)),
		}
		for field, most := range map[string]*int64{"points_day_cap": l.PointsDayCap, "stamps_day_cap": l.StampsDayCap} {
			if most != nil {
				check.Integer(field, most, 1, ledger.MaxAward)
			}
		}
		if err := check.Err(); err != nil {
			return Limits{}, err
		}
		return l, errors.Join(
			db.Queue(tx, setLimitsSQL, db.Args{"points": l.PointsDayCap, "stamps": l.StampsDayCap, "till": l.TillCategories}),
			RulesChanged(tx),
			audit.Write(tx, by, audit.Entry{
				Action: "earning.edit", Subject: "earning", ID: strconv.FormatInt(int64(by.Tenant.ID), 10), Name: by.Tenant.Name, Old: old.facts(), New: l.facts(),
			}),
		)
	})
}

const chipsSQL = `
	select c.name, m.code
	from loyalty.tenant n
	join loyalty.category c on c.tenant_id = @tenant_id and c.active
	join lateral (
		select code
		from loyalty.category_code
		where tenant_id = @tenant_id
			and category_id = c.id
		order by code
		limit 1
	) m on true
	where n.id = @tenant_id
		and n.till_categories
	order by c.name_key
	limit @most`

// Chip is a category that cashiers choose, with the code that stands for it.
type Chip struct{ Name, Code string }

// maxChips is how many categories a till shows.
const maxChips = 12

// Chips returns the categories that cashiers choose, by name: none unless the business wants tills to ask.
func (s *Service) Chips(ctx context.Context, by core.Actor) ([]Chip, error) {
	return db.All[Chip](ctx, s.db.Tenant(by), chipsSQL, db.Args{"most": maxChips})
}

// facts returns what the audit log says about limits.
func (l Limits) facts() map[string]any {
	return map[string]any{"points_day_cap": l.PointsDayCap, "stamps_day_cap": l.StampsDayCap, "till_categories": l.TillCategories}
}
