package demo

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// earlier is what earlier Fills came to.
type earlier struct {
	sales       map[string]recorded // by receipt
	redemptions map[core.ID][]paid  // of a customer, the first first
	sends       map[string]core.ID  // by form key
}

type recorded struct {
	ExternalReference string
	ID                core.ID
	Status            transaction.Status
}

// paid is a redemption that was paid for. It has no name of its own: the third of
// a customer is the third of the story's guest.
type paid struct {
	ID         core.ID
	CustomerID core.ID
	Status     reward.Status
}

type confirmed struct {
	ID      core.ID
	FormKey string
}

// recall asks what earlier Fills came to.
func (f *filling) recall(ctx context.Context) (earlier, error) {
	by := f.people[0]
	sales, salesErr := db.ReadAll[recorded](ctx, f.db, by, recordedSQL, nil)
	redemptions, redemptionsErr := db.ReadAll[paid](ctx, f.db, by, paidSQL, nil)
	sends, sendsErr := db.ReadAll[confirmed](ctx, f.db, by, confirmedSQL, nil)
	e := earlier{sales: map[string]recorded{}, redemptions: map[core.ID][]paid{}, sends: map[string]core.ID{}}
	for _, r := range sales {
		e.sales[r.ExternalReference] = r
	}
	for _, r := range redemptions {
		e.redemptions[r.CustomerID] = append(e.redemptions[r.CustomerID], r)
	}
	for _, s := range sends {
		e.sends[s.FormKey] = s.ID
	}
	return e, errors.Join(salesErr, redemptionsErr, sendsErr)
}
