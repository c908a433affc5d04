// Package billing keeps the invoices of tenants. An invoice gets its number when it is
// issued and never before, so that what was issued is numbered without a gap.
package billing

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Status of an invoice.
type Status string

// The five statuses.
const (
	Draft   Status = "draft"
	Issued  Status = "issued"
	Paid    Status = "paid"
	Overdue Status = "overdue"
	Void    Status = "void"
)

// Invoice is what a tenant is billed for a period (decisions §6).
type Invoice struct {
	ID          int64
	Number      *int64 // nil until it is issued
	TenantID    core.TenantID
	Status      Status
	Currency    string // the plan's
	Lines       []Line
	AmountCents int64 // of the lines
	TaxCents    int64
	TotalCents  int64
	PeriodStart time.Time // a day in the tenant's zone
	PeriodEnd   time.Time // likewise, included
	IssuedAt    *time.Time
	DueAt       *time.Time
	PaidAt      *time.Time
	CreatedAt   time.Time
}

// Line is one thing that is billed, as it is stored.
type Line struct {
	Description string `json:"description"`
	Quantity    int64  `json:"quantity"`
	UnitCents   int64  `json:"unit_cents"`
	AmountCents int64  `json:"amount_cents"`
}

// Service lists invoices.
type Service struct{ db *db.DB }

// NewService makes the service.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// Filter picks invoices. Fields that are nil pick all.
type Filter struct {
	TenantID *int64
	Status   *string
}

// List returns a page of the invoices that pass the filter, newest first. One round
// trip, of the same cost at any depth.
func (s *Service) List(ctx context.Context, f Filter, p core.Page) (core.List[Invoice], error) {
	check := core.NewCheck(p.Unreadable)
	if f.Status != nil {
		core.OneOf(check, "status", Status(*f.Status), Draft, Issued, Paid, Overdue, Void)
	}
	if err := check.Err(); err != nil {
		return core.List[Invoice]{}, err
	}
	statement, args := f.statement(p)
	invoices, err := db.PlatformAll[Invoice](ctx, s.db, statement, args)
	return core.NewList(p, invoices, Invoice.position), err
}

func (i Invoice) position() core.Cursor { return core.NumberCursor(i.CreatedAt, i.ID) }

// statement puts the list's SQL together from constants.
func (f Filter) statement(p core.Page) (statement string, args db.Args) {
	args = db.Args{"limit": p.Limit()}
	statement = listSQL
	if f.TenantID != nil {
		statement += whereTenant
		args["tenant"] = *f.TenantID
	}
	if f.Status != nil {
		statement += whereStatus
		args["status"] = *f.Status
	}
	if p.Cursor == nil {
		return statement + newestFirst, args
	}
	args["at"], args["id"] = p.Cursor.At, p.Cursor.Number()
	if p.Back() {
		return statement + whereNewer + oldestFirst, args
	}
	return statement + whereOlder + newestFirst, args
}
