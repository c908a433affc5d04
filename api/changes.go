package api

import (
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/change"
	"example.com/loyalty/core/token"
	"example.com/loyalty/web/route"
)

type changeResource struct {
	Kind      change.Kind `json:"kind"`
	ULID      core.ID     `json:"ulid"`
	Change    change.What `json:"change"`
	KeptULID  *core.ID    `json:"kept_ulid"` // of a customer who was merged
	ChangedAt stamp       `json:"changed_at"`
}

func newChangeResource(c change.Change) changeResource {
	return changeResource{Kind: c.Kind, ULID: c.ID, Change: c.What, KeptULID: c.KeptID, ChangedAt: stamp(c.At())}
}

// changeReaders may read changes, each those of the records that they may read.
var changeReaders = route.Tokens(token.CustomersRead, token.TransactionsWrite, token.RewardsRead, token.CouponsRead)

// readableKinds returns the kinds of records that a caller may read.
func readableKinds(by token.Caller) []change.Kind {
	kinds := []change.Kind{}
	for _, readable := range []struct {
		kind    change.Kind
		ability token.Ability
	}{
		{change.Customers, token.CustomersRead},
		{change.Transactions, token.TransactionsWrite},
		{change.Redemptions, token.RewardsRead},
		{change.Vouchers, token.CouponsRead},
	} {
		if by.May(readable.ability) {
			kinds = append(kinds, readable.kind)
		}
	}
	return kinds
}

func (a *API) listChanges(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	by, _ := caller(c)
	kinds := readableKinds(by)
	if given := q.text("kind"); given != nil {
		kind := change.Kind(*given)
		switch {
		case !slices.Contains(change.Kinds, kind):
			q.unreadable.Add("kind", core.InvalidChoice)
		case !slices.Contains(kinds, kind):
			return core.ErrForbidden
		}
		kinds = []change.Kind{kind}
	}
	since := q.instant("since")
	p := q.page()
	l, err := a.Changes.List(c.Request().Context(), by.Actor, kinds, since, p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, newChangeResource)
}
