package admin

import (
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

// Paths of the exports, without their extensions.
const (
	customersExportPath    = customersPath + "/export"
	transactionsExportPath = transactionsPath + "/export"
	redemptionsExportPath  = redemptionsPath + "/export"
	vouchersExport         = "/vouchers" // of a coupon
)

// exporters may export.
var exporters = route.Managers

// exportRoutes are the downloads of a list, below a path without extension.
func (a *Admin) exportRoutes(path string, find func(c echo.Context) (exportFile, error)) []route.Route {
	return []route.Route{
		route.Get(path+".csv", exporters, a.answerExport(find, a.csvFile)).AsFile(),
		route.Get(path+".xlsx", exporters, a.answerExport(find, a.xlsxFile)).AsFile(),
	}
}

// exportFile is a filtered list as a file. Times are the business's local times.
type exportFile struct {
	name, sheet string // the name without extension
	columns     []page.Column
	write       func(row rowWriter) error
}

type rowWriter = func(cells ...any) error

func (a *Admin) answerExport(find func(c echo.Context) (exportFile, error), answer func(echo.Context, exportFile) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		f, err := find(c)
		if err != nil {
			return err
		}
		return answer(c, f)
	}
}

func (a *Admin) csvFile(c echo.Context, f exportFile) error {
	header := make([]string, len(f.columns))
	for i, column := range f.columns {
		header[i] = column.Heading
	}
	return a.CSV(c, f.name+".csv", header, f.write)
}

func (a *Admin) xlsxFile(c echo.Context, f exportFile) error {
	return a.XLSX(c, f.name+".xlsx", f.sheet, f.columns, f.write)
}

// exportsOf links to the exports of a list with the filters of the page, for those who may export.
func exportsOf(c echo.Context, path string) *views.Exports {
	return exportsAt(c, path, c.Request().URL.RawQuery)
}

// exportsAt is exportsOf with a query of its own; nil: the role may not export.
func exportsAt(c echo.Context, path, query string) *views.Exports {
	if !page.Actor(c).Role.Includes(exporters.Role) {
		return nil
	}
	file := func(extension string) string {
		return page.With(&url.URL{Path: path + extension, RawQuery: query}, "cursor", "")
	}
	return &views.Exports{CSV: file(".csv"), XLSX: file(".xlsx"), Fragment: page.IsFragment(c)}
}

// localTime is an optional instant as a cell: local time, or empty.
func localTime(at *time.Time, zone *time.Location) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.In(zone)
}

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
}

func (a *Admin) exportCustomers(c echo.Context) (exportFile, error) {
	ctx, by, q := c.Request().Context(), page.Actor(c), page.Query(c.QueryParams())
	filter, zone := customerFilter(q), by.Tenant.TimeZone
	if len(q.Malformed) > 0 { // without the unreadable filter, core would export everyone
		return exportFile{}, core.Invalid(q.Malformed)
	}
	return exportFile{"customers-" + isoDate(a.localToday(by)), "Customers", customerColumns, func(row rowWriter) error {
		return a.Customers.Export(ctx, by, filter, func(r customer.Row) error {
			status := string(r.Status)
			if r.Erased {
				status = "erased"
			}
			return row(r.ID.String(), r.FirstName, r.LastName, r.Phone, orZero(r.Email), status, r.PointsBalance, r.StampsBalance,
				r.CreatedAt.In(zone), localTime(r.LastVisit, zone), strings.Join(r.Tags, ", "))
		})
	}}, nil
}

func (a *Admin) exportTransactions(c echo.Context) (exportFile, error) {
	ctx, by, q := c.Request().Context(), page.Actor(c), page.Query(c.QueryParams())
	filter, zone, currency := transactionFilter(q, by.Tenant.Currency), by.Tenant.TimeZone, by.Tenant.Currency
	if len(q.Malformed) > 0 {
		return exportFile{}, core.Invalid(q.Malformed)
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
	}
	return exportFile{"sales-" + isoDate(a.localToday(by)), "Sales", columns, func(row rowWriter) error {
		return a.Transactions.Export(ctx, by, filter, func(t transaction.Named) error {
			return row(t.ID.String(), t.CreatedAt.In(zone), customerLabel(t.CustomerName), t.CustomerID.String(),
				t.TypeName, page.MoneyCell{Cents: t.SpendAmountCents, Currency: currency}, orZero(t.PointsAwarded), orZero(t.StampsAwarded),
				string(t.Status), localTime(t.VoidedAt, zone), sources[t.Source], orZero(t.LocationName), orZero(t.ExternalReference), by.NameOf(t.ActorKind, t.ActorName))
		})
	}}, nil
}

func (a *Admin) exportRedemptions(c echo.Context) (exportFile, error) {
	ctx, by, q := c.Request().Context(), page.Actor(c), page.Query(c.QueryParams())
	filter, _ := redemptionFilter(q)
	zone := by.Tenant.TimeZone
	columns := []page.Column{
		{Heading: "ULID", Width: 30},
		{Heading: "Date", Width: 18},
		{Heading: "Customer", Width: 24},
		{Heading: "Customer ULID", Width: 30},
		{Heading: "Reward", Width: 24},
		{Heading: "Points spent"},
		{Heading: "Stamps spent"},
		{Heading: "Coupon", Width: 24},
		{Heading: "Status", Width: 12},
		{Heading: "Fulfilled at", Width: 18},
		{Heading: "Voided at", Width: 18},
		{Heading: "Recorded by", Width: 20},
	}
	return exportFile{"redemptions-" + isoDate(a.localToday(by)), "Redemptions", columns, func(row rowWriter) error {
		return a.Rewards.ExportRedemptions(ctx, by, filter, func(r reward.NamedRedemption) error {
			return row(r.ID.String(), r.CreatedAt.In(zone), customerLabel(r.CustomerName), r.CustomerID.String(),
				r.RewardName, r.PointsSpent, r.StampsSpent, orZero(r.CouponName),
				string(r.Status), localTime(r.FulfilledAt, zone), localTime(r.VoidedAt, zone), by.NameOf(r.ActorKind, r.ActorName))
		})
	}}, nil
}

var voucherColumns = []page.Column{
	{Heading: "Voucher code", Width: 30},
	{Heading: "Customer", Width: 24},
	{Heading: "Customer ULID", Width: 30},
	{Heading: "Status", Width: 12},
	{Heading: "Sent", Width: 18},
	{Heading: "Valid until", Width: 18},
	{Heading: "Redeemed at", Width: 18},
	{Heading: "E-mail", Width: 12},
}

// exportVouchers exports the vouchers of a coupon, or of the send in the address.
func (a *Admin) exportVouchers(c echo.Context) (exportFile, error) {
	found, err := a.couponOf(c)
	if err != nil {
		return exportFile{}, err
	}
	ctx, by := c.Request().Context(), page.Actor(c)
	var send *core.ID
	if given := c.QueryParam("send"); given != "" {
		id, err := core.ParseID(given)
		if err != nil {
			return exportFile{}, err
		}
		send = &id
	}
	zone := by.Tenant.TimeZone
	return exportFile{"vouchers-" + isoDate(a.localToday(by)), "Vouchers", voucherColumns, func(row rowWriter) error {
		return a.Coupons.ExportVouchers(ctx, by, found.ID, send, func(v coupon.SentVoucher) error {
			return row(v.ID.String(), customerLabel(v.CustomerName), v.CustomerID.String(), string(v.Status),
				v.CreatedAt.In(zone), localTime(v.ExpiresAt, zone), localTime(v.RedeemedAt, zone), orZero(v.MailStatus))
		})
	}}, nil
}

func (a *Admin) customerExportRoutes() []route.Route {
	return a.exportRoutes(customersExportPath, a.exportCustomers)
}

func (a *Admin) saleExportRoutes() []route.Route {
	return a.exportRoutes(transactionsExportPath, a.exportTransactions)
}

func (a *Admin) redemptionExportRoutes() []route.Route {
	return a.exportRoutes(redemptionsExportPath, a.exportRedemptions)
}

func (a *Admin) voucherExportRoutes() []route.Route {
	return a.exportRoutes(couponsPath+"/:ulid"+vouchersExport, a.exportVouchers)
}
