package admin

import (
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/web/page"
)

const customersExportPath = customersPath + "/export"

func (a *Admin) customerExportRoutes() []route {
	return []route{
		{method: get, path: customersExportPath + ".csv", least: core.Manager, handle: a.exportCustomers(a.customersCSV), slow: true},
		{method: get, path: customersExportPath + ".xlsx", least: core.Manager, handle: a.exportCustomers(a.customersXLSX), slow: true},
	}
}

// The headings are those that an import recognises.
var exportColumns = []page.Column{
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
}

type rowWriter = func(cells ...any) error

// exportCustomers answers with the filtered list as a file. Times are the business's local times.
func (a *Admin) exportCustomers(answer func(c echo.Context, name string, write func(rowWriter) error) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		by, q := page.Actor(c), page.Query(c.QueryParams())
		filter := customerFilter(q)
		if len(q.Malformed) > 0 { // without the unreadable filter, core would export everyone
			return core.Invalid(q.Malformed)
		}
		return answer(c, "customers-"+isoDate(a.localToday(by)), func(row rowWriter) error {
			return a.Customers.Export(c.Request().Context(), by, filter, func(r customer.Row) error {
				status := string(r.Status)
				if r.Erased {
					status = "erased"
				}
				var visit time.Time
				if r.LastVisit != nil {
					visit = r.LastVisit.In(by.Tenant.TimeZone)
				}
				return row(r.ID.String(), r.FirstName, r.LastName, r.Phone, orZero(r.Email), status, r.PointsBalance, r.StampsBalance,
					r.CreatedAt.In(by.Tenant.TimeZone), visit, strings.Join(r.Tags, ", "))
			})
		})
	}
}

func (a *Admin) customersCSV(c echo.Context, name string, write func(rowWriter) error) error {
	header := make([]string, len(exportColumns))
	for i, column := range exportColumns {
		header[i] = column.Heading
	}
	return a.CSV(c, name+".csv", header, write)
}

func (a *Admin) customersXLSX(c echo.Context, name string, write func(rowWriter) error) error {
	return a.XLSX(c, name+".xlsx", "Customers", exportColumns, write)
}
