package admin

import (
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/web/page"
)

const customersExportPath = customersPath + "/export"

func (a *Admin) customerExportRoutes() []route {
	return []route{
		{method: get, path: customersExportPath + ".csv", least: core.Manager, handle: a.customersCSV, slow: true},
		{method: get, path: customersExportPath + ".xlsx", least: core.Manager, handle: a.customersXLSX, slow: true},
	}
}

// exported is the filter of a list of customers, and what the file of it is called. One
// that cannot be read is refused here: core would export everybody.
func (a *Admin) exported(c echo.Context) (f customer.Filter, name string, err error) {
	q := page.Query(c.QueryParams())
	f, name = customerFilter(q), "customers-"+isoDate(a.localToday(page.Actor(c)))
	if len(q.Malformed) > 0 {
		err = core.Invalid(q.Malformed)
	}
	return f, name, err
}

// The columns are called as an import knows them, and hold what it reads.
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
}

// exportCells are the cells of a customer but for the times, which CSV writes out.
func exportCells(r customer.Row) []any {
	email := ""
	if r.Email != nil {
		email = *r.Email
	}
	status := string(r.Status)
	if r.Erased {
		status = "erased"
	}
	return []any{r.ID.String(), r.FirstName, r.LastName, r.Phone, email, status, r.PointsBalance, r.StampsBalance}
}

// customersCSV is the list as a file, in the time of the business.
func (a *Admin) customersCSV(c echo.Context) error {
	by := page.Actor(c)
	f, name, err := a.exported(c)
	if err != nil {
		return err
	}
	header := make([]string, len(exportColumns))
	for i, column := range exportColumns {
		header[i] = column.Heading
	}
	written := func(at time.Time) string { return at.In(by.Tenant.TimeZone).Format(time.DateTime) }
	return a.CSV(c, name+".csv", header, func(row func(...any) error) error {
		return a.Customers.Export(c.Request().Context(), by, f, func(r customer.Row) error {
			visit := ""
			if r.LastVisit != nil {
				visit = written(*r.LastVisit)
			}
			return row(append(exportCells(r), written(r.CreatedAt), visit)...)
		})
	})
}

// customersXLSX is the same as a workbook.
func (a *Admin) customersXLSX(c echo.Context) error {
	by := page.Actor(c)
	f, name, err := a.exported(c)
	if err != nil {
		return err
	}
	return a.XLSX(c, name+".xlsx", "Customers", exportColumns, func(row func(...any) error) error {
		return a.Customers.Export(c.Request().Context(), by, f, func(r customer.Row) error {
			var visit time.Time
			if r.LastVisit != nil {
				visit = r.LastVisit.In(by.Tenant.TimeZone)
			}
			return row(append(exportCells(r), r.CreatedAt.In(by.Tenant.TimeZone), visit)...)
		})
	})
}
