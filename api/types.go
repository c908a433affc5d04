package api

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/transaction"
)

type typeResource struct {
	ID                   int64                `json:"id"`
	Name                 string               `json:"name"`
	RuleType             transaction.RuleType `json:"rule_type"`
	PointsPerUnit        int64                `json:"points_per_unit"`
	UnitCents            int64                `json:"unit_cents"`
	StampsPerTransaction int64                `json:"stamps_per_transaction"`
	MinSpendCents        int64                `json:"min_spend_cents"`
	MaxAward             *int64               `json:"max_award"` // null: no cap
	Active               bool                 `json:"active"`
}

func newTypeResource(t transaction.Type) typeResource {
	return typeResource{
		ID: t.ID, Name: t.Name, RuleType: t.RuleType, PointsPerUnit: t.PointsPerUnit, UnitCents: t.UnitCents,
		StampsPerTransaction: t.StampsPerTransaction, MinSpendCents: t.MinSpendCents, MaxAward: t.MaxAward, Active: t.Active,
	}
}

func (a *API) listTypes(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	p := q.page()
	l, err := a.Transactions.ListTypes(c.Request().Context(), actor(c), p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, newTypeResource)
}
