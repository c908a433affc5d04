package reward

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// NamedRedemption is a redemption with the names of its customer, coupon and actor.
type NamedRedemption struct {
	Redemption
	CustomerName string
	CouponName   *string        // of a redemption from a voucher
	ActorKind    core.ActorKind // who created it
	ActorName    string
}

func (n NamedRedemption) position() core.Cursor { return core.Cursor{At: n.CreatedAt, ID: n.ID} }

// RedemptionFilter selects redemptions. A nil field matches all.
type RedemptionFilter struct {
	Status     *string // pending, fulfilled or voided
	CustomerID *string // a ULID
	RewardID   *string // a ULID
}

// ListRedemptions returns a page of the redemptions that match the filter, newest or oldest first.
func (s *Service) ListRedemptions(ctx context.Context, by core.Actor, f RedemptionFilter, sort core.Sort, p core.Page) (core.List[NamedRedemption], error) {
	check := core.NewCheck(p.Malformed)
	core.OneOf(check, "sort", sort, core.Newest, core.Oldest)
	args, err := f.args(check)
	if err != nil {
		return core.List[NamedRedemption]{}, err
	}
	return db.ListPage(ctx, s.db, by, redemptionLists[sort], args, p, NamedRedemption.position)
}

// Among returns those of the redemptions with the ids that match the filter.
func (s *Service) Among(ctx context.Context, by core.Actor, f RedemptionFilter, ids []core.ID) ([]NamedRedemption, error) {
	args, err := f.args(core.NewCheck(nil))
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	args["ids"] = ids
	sql, args := amongList.Statement(core.Page{}, args)
	return db.All[NamedRedemption](ctx, s.db.Tenant(by), sql, args)
}

func (f RedemptionFilter) args(check *core.Check) (db.Args, error) {
	args := db.Args{"status": f.Status}
	if f.Status != nil {
		core.OneOf(check, "status", Status(*f.Status), Pending, Fulfilled, Voided)
	}
	for _, reference := range []struct {
		arg, field string
		given      *string
	}{{"customer", "customer_ulid", f.CustomerID}, {"reward", "reward_ulid", f.RewardID}} {
		if given := check.OptionalText(reference.field, reference.given, 255); given != nil {
			id, err := core.ParseID(*given)
			if err != nil {
				check.Add(reference.field, core.InvalidChoice)
			}
			args[reference.arg] = id
		}
	}
	return args, check.Err()
}

// RedemptionDetail is a redemption with who ended it and its ledger entries.
type RedemptionDetail struct {
	NamedRedemption
	VoidReason   *string
	LocationName *string         // where it was fulfilled at the till; nil: unknown
	EndedByName  *string         // who fulfilled or voided it; nil: pending
	Entries      []ledger.Posted `db:"-"` // none for a redemption from a voucher
}

// RedemptionDetail returns a redemption in detail, or core.ErrNotFound.
func (s *Service) RedemptionDetail(ctx context.Context, by core.Actor, id core.ID) (RedemptionDetail, error) {
	var d RedemptionDetail
	err := db.Together(ctx, s.db.Tenant(by),
		db.OneInto(&d, redemptionDetailSQL, db.Args{
			"id": id, "subject_id": id.String(), "sees_tokens": by.SeesTokens(), "unnamed_token": core.UnnamedToken,
		}), ledger.ReadPosted(&d.Entries, id))
	return d, err
}
