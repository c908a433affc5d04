package reward

import (
	"cmp"
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// ExportRedemptions passes the redemptions that match the filter to each, one by one, newest first: those
// that exist at the start, as they are when their page is read. An error of each ends it. The audit log has
// the number of redemptions, also of an export that broke off.
func (s *Service) ExportRedemptions(ctx context.Context, by core.Actor, f RedemptionFilter, each func(NamedRedemption) error) error {
	if err := by.Require(core.Manager); err != nil {
		return err
	}
	args, err := f.args(core.NewCheck(nil))
	if err != nil {
		return err
	}
	list := func(p core.Page) (core.List[NamedRedemption], error) {
		return db.ListPage(ctx, s.db, by, redemptionLists[core.Newest], args, p, NamedRedemption.position)
	}
	// IDs are in the order of time.
	count, err := db.Each(core.Cursor{ID: core.FirstID(s.db.Now().Add(time.Millisecond))}, list, each)
	return cmp.Or(err, s.logExport(context.WithoutCancel(ctx), by, f, count, err == nil))
}

func (s *Service) logExport(ctx context.Context, by core.Actor, f RedemptionFilter, count int64, complete bool) error {
	facts := map[string]any{}
	if f.Status != nil {
		facts["status"] = *f.Status
	}
	if f.RewardID != nil {
		facts["reward_ulid"] = *f.RewardID
	}
	if f.CustomerID != nil {
		facts["customer_ulid"] = true // the log outlives an erased customer
	}
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		return audit.Write(tx, by, audit.Entry{
			Action: "redemption.export", Subject: "redemption", New: map[string]any{"filter": facts, "count": count, "complete": complete},
		})
	})
}
