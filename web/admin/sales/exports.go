package sales

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/format"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

func (h *Handlers) exportTransactions(c echo.Context) (panel.ExportFile, error) {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	filter, zone, currency := transactionFilter(q, by.Tenant.Currency), by.Tenant.TimeZone, by.Tenant.Currency
	if len(q.Malformed) > 0 {
		return panel.ExportFile{}, core.Invalid(q.Malformed)
	}
	columns := []page.Column{
		{Heading: "ULID", Width: 30},
		{Heading: "Date", Width: 18},
		{Heading: "Customer", Width: 24},
		{Heading: "Customer ULID", Width: 30},
		{Heading: "Type", Width: 18},
		{Heading: "Spend (" + currency + ")", Width: 14},
		{Heading: "Points issued"},
		{Heading: "Stamps issued"},
		{Heading: "Status", Width: 12},
		{Heading: "Voided at", Width: 18},
		{Heading: "Source"},
		{Heading: "Location", Width: 18},
		{Heading: "Receipt number", Width: 18},
		{Heading: "Recorded by", Width: 20},
		{Heading: "Refunded (" + currency + ")", Width: 14},
		{Heading: "Points refunded"},
		{Heading: "Stamps refunded"},
		{Heading: "Bought at", Width: 18},
	}
	write := func(row panel.RowWriter) error {
		return h.Transactions.Export(ctx, by, filter, func(t transaction.Named) error {
			return row(t.ID.String(), t.CreatedAt.In(zone), format.StoredName(t.CustomerName), t.CustomerID.String(),
				t.TypeName, page.MoneyCell{Cents: t.SpendAmountCents, Currency: currency}, core.OrZero(t.PointsAwarded), core.OrZero(t.StampsAwarded),
				string(t.Status), panel.LocalTime(t.VoidedAt, zone), panelviews.Source(t.Source), core.OrZero(t.LocationName), core.OrZero(t.ExternalReference), by.NameOf(t.ActorKind, t.ActorName),
				page.MoneyCell{Cents: t.RefundedCents, Currency: currency}, refundedOf(t, ledger.Points), refundedOf(t, ledger.Stamps), t.OccurredAt.In(zone))
		})
	}
	return panel.ExportFile{Name: "sales-" + panel.IsoDate(h.LocalToday(by)), Sheet: "Sales", Columns: columns, Write: write}, nil
}

// refundedOf is what refunds took of a sale's award, in a column of one unit.
func refundedOf(t transaction.Named, unit ledger.Unit) int64 {
	if t.RuleType != unit {
		return 0
	}
	return t.RefundedAward
}
