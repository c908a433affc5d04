package walkin

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/link"
)

// PINs are deleted within an hour, so there are few.
const movePINsSQL = `
	update loyalty.pin
	set customer_id = case when status = 'used' then @kept::uuid else customer_id end,
		status = case when status in ('open', 'taken') then 'cancelled' else status end,
		ended_at = coalesce(ended_at, @now)
	where tenant_id = @tenant_id
		and customer_id = @merged`

// MovePINs queues the end of the open PINs of a customer who is being merged. The used ones move with their
// sales.
func MovePINs(tx *db.Tx, merged, kept core.ID) error {
	return db.Queue(tx, movePINsSQL, db.Args{"merged": merged, "kept": kept, "now": tx.Now})
}

// openMerged returns the card of the customer into whom a card's customer was merged, or core.ErrNotFound.
func (s *Service) openMerged(ctx context.Context, by core.Actor, token string, id core.ID) (Card, error) {
	merged, err := customer.FindMerged(ctx, s.db, by, id)
	if err != nil {
		return Card{}, err
	}
	checked := s.links.Check(token, link.Card, by.Tenant.ID, id, merged.LinkVersion)
	if checked != nil && !errors.Is(checked, link.ErrReplaced) {
		return Card{}, checked
	}
	c, err := s.card(ctx, by, merged.MergedInto)
	if err == nil && c.Erased {
		err = core.ErrNotFound
	}
	if err != nil {
		return Card{}, err
	}
	return c, checked
}
