package customers

import (
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// The headings are those that an import recognises.
var customerColumns = []page.Column{
	{Heading: "ULID", Width: 30},
	{Heading: "First name", Width: 20},
	{Heading: "Last name", Width: 20},
	{Heading: "Phone", Width: 20},
	{Heading: "E-mail", Width: 30},
	{Heading: "Status"},
	{Heading: "Points", Width: 12},
	{Heading: "Stamps", Width: 12},
	{Heading: "Customer since", Width: 18},
	{Heading: "Last visit", Width: 18},
	{Heading: "Tags", Width: 24},
	{Heading: "External ID", Width: 20},
	{Heading: "Birthday", Width: 12},
}

func (h *Handlers) exportCustomers(c echo.Context) (panel.ExportFile, error) {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	filter, zone := customerFilter(q), by.Tenant.TimeZone
	if len(q.Malformed) > 0 { // without the unreadable filter, core would export everyone
		return panel.ExportFile{}, core.Invalid(q.Malformed)
	}
	write := func(row panel.RowWriter) error {
		return h.Customers.Export(ctx, by, filter, func(r customer.Row) error {
			status := string(r.Status)
			if r.Erased {
				status = "erased"
			}
			return row(r.ID.String(), r.FirstName, r.LastName, r.Phone, core.OrZero(r.Email), status, r.PointsBalance, r.StampsBalance,
				r.CreatedAt.In(zone), panel.LocalTime(r.LastVisit, zone), strings.Join(r.Tags, ", "), core.OrZero(r.ExternalID), string(core.OrZero(r.Birthday)))
		})
	}
	return panel.ExportFile{Name: "customers-" + panel.IsoDate(h.LocalToday(by)), Sheet: "Customers", Columns: customerColumns, Write: write}, nil
}
