package api

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
)

type invoiceResource struct {
	ID          int64          `json:"id"`
	Number      *int64         `json:"number"` // null until it is issued
	TenantID    core.TenantID  `json:"tenant_id"`
	Status      billing.Status `json:"status"`
	Currency    string         `json:"currency"`
	Lines       []lineResource `json:"lines"`
	AmountCents int64          `json:"amount_cents"`
	TaxCents    int64          `json:"tax_cents"`
	TotalCents  int64          `json:"total_cents"`
	PeriodStart day            `json:"period_start"`
	PeriodEnd   day            `json:"period_end"`
	IssuedAt    *stamp         `json:"issued_at"`
	DueAt       *stamp         `json:"due_at"`
	PaidAt      *stamp         `json:"paid_at"`
}

type lineResource struct {
	Description string `json:"description"`
	Quantity    int64  `json:"quantity"`
	UnitCents   int64  `json:"unit_cents"`
	AmountCents int64  `json:"amount_cents"`
}

func newInvoiceResource(i billing.Invoice) invoiceResource {
	lines := make([]lineResource, len(i.Lines))
	for n, l := range i.Lines {
		lines[n] = lineResource(l)
	}
	return invoiceResource{
		ID: i.ID, Number: i.Number, TenantID: i.TenantID, Status: i.Status, Currency: i.Currency, Lines: lines,
		AmountCents: i.AmountCents, TaxCents: i.TaxCents, TotalCents: i.TotalCents,
		PeriodStart: day(i.PeriodStart), PeriodEnd: day(i.PeriodEnd),
		IssuedAt: optionalStamp(i.IssuedAt), DueAt: optionalStamp(i.DueAt), PaidAt: optionalStamp(i.PaidAt),
	}
}

func (a *API) listInvoices(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	f := billing.Filter{TenantID: q.integer("tenant_id"), Status: q.text("status")}
	p := q.page()
	l, err := a.Billing.List(c.Request().Context(), actor(c), f, p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, newInvoiceResource)
}
