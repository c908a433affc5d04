package api

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/transaction"
)

// typeResource is a transaction type without its rule, which isn't exposed (specification §2).
type typeResource struct {
	ID       int64                `json:"id"`
	Name     string               `json:"name"`
	RuleType transaction.RuleType `json:"rule_type"`
	Active   bool                 `json:"active"`
}

func newTypeResource(t transaction.Type) typeResource {
	return typeResource{ID: t.ID, Name: t.Name, RuleType: t.RuleType, Active: t.Active}
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
