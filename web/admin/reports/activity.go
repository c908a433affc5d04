package reports

import (
	"maps"
	"net/url"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/panel"
)

// ordinaryRows is how many sales of a day, and how many of its new customers, are listed each before the
// others are folded into one row.
const ordinaryRows = 4

// activityView groups the latest events by day. Of the days that the feed sums up, most sales and new
// customers are one row.
func (h *Handlers) activityView(by core.Actor, feed report.Feed) views.Activity {
	now, zone := h.Now(), by.Tenant.TimeZone
	v := views.Activity{Path: links.Activity + "?" + url.Values{"mark": {feed.Mark}}.Encode()}
	days := map[string]*activityDay{}
	for _, sum := range feed.Days {
		date := panel.IsoDate(sum.Date)
		days[date] = &activityDay{date: date, sum: sum, summed: true, view: views.ActivityDay{Label: format.Day(sum.LastSaleAt, now, zone)}}
	}
	for _, e := range feed.Events {
		if e.Kind == report.Sold && e.Voided {
			continue // its void is listed
		}
		date := e.At.In(zone).Format(time.DateOnly)
		if days[date] == nil {
			days[date] = &activityDay{date: date, view: views.ActivityDay{Label: format.Day(e.At, now, zone)}}
		}
		days[date].add(e, by)
	}
	for _, date := range slices.Backward(slices.Sorted(maps.Keys(days))) {
		days[date].fold(by.Tenant)
		v.Days = append(v.Days, days[date].view)
	}
	return v
}

// activityDay is a day of the list while it is put together.
type activityDay struct {
	date   string
	view   views.ActivityDay
	sum    report.DayInBrief
	summed bool

	sales, joined  int64
	points, stamps int64 // of the listed sales
	oldest         time.Time
}

// add lists an event. Ordinary ones are listed up to their limit, if the day's sum counts the others.
func (d *activityDay) add(e report.Event, by core.Actor) {
	switch {
	case e.Kind == report.Sold && d.summed:
		if d.sales == ordinaryRows {
			return
		}
		d.sales++
		d.points, d.stamps, d.oldest = d.points+e.Points, d.stamps+e.Stamps, e.At
	case e.Kind == report.Joined && d.summed:
		if d.joined == ordinaryRows {
			return
		}
		d.joined++
	}
	d.view.Rows = append(d.view.Rows, eventRow(e, by))
}

// fold adds the day's total, and a row each for the sales and the new customers that aren't listed.
func (d *activityDay) fold(t core.Tenant) {
	if !d.summed {
		return
	}
	d.view.Total = format.Count(d.sum.TransactionsCount, "sale", "sales") + " · " + format.Money(d.sum.SpendTotalCents, t.Currency)
	if more := d.sum.TransactionsCount - d.sales; more > 0 {
		until := d.sum.LastSaleAt
		if d.sales > 0 {
			until = d.oldest
		}
		name := format.Count(more, "sale", "sales")
		if d.sales > 0 {
			name = format.Count(more, "more sale", "more sales")
		}
		row := views.ActivityRow{
			ID: "more-sales-" + d.date, Path: links.Transactions + "?from=" + d.date + "&to=" + d.date + "&status=completed", Name: name, Icon: "receipt",
			Words: format.Clock(d.sum.FirstSaleAt, t.TimeZone) + "–" + format.Clock(until, t.TimeZone),
		}
		row.Moved, row.Tone = movedInWords(d.sum.PointsAwarded-d.points, d.sum.StampsAwarded-d.stamps)
		d.view.Rows = append(d.view.Rows, row)
	}
	if more := d.sum.NewCustomers - d.joined; more > 0 {
		name := format.Count(more, "more customer", "more customers")
		if d.joined == 0 {
			name = format.Count(more, "customer", "customers")
		}
		d.view.Rows = append(d.view.Rows, views.ActivityRow{
			ID: "more-customers-" + d.date, Path: links.Customers + "?created_from=" + d.date + "&created_to=" + d.date, Name: name, Icon: "users", Words: "Joined", Moved: "New",
		})
	}
}

func eventRow(e report.Event, by core.Actor) views.ActivityRow {
	t := by.Tenant
	row := views.ActivityRow{
		ID: "event-" + string(e.Kind) + "-" + e.ID.String(), Path: links.Customer(e.CustomerID), Name: panel.FullName(e.FirstName, e.LastName),
		At: e.At.UTC().Format(time.RFC3339), Clock: format.Clock(e.At, t.TimeZone), Time: format.Time(e.At, t.TimeZone),
	}
	row.Moved, row.Tone = movedInWords(e.Points, e.Stamps)
	switch e.Kind {
	case report.Sold:
		row.Icon, row.Words = "receipt", format.Money(*e.SpendCents, t.Currency)
	case report.SaleVoided:
		row.Icon, row.Words = "receipt-refund", "Sale of "+format.Money(*e.SpendCents, t.Currency)+" voided"+doneBy(by, e)
	case report.Redeemed:
		row.Icon, row.Words = "gift", core.OrZero(e.About)
	case report.RedemptionVoided:
		row.Icon, row.Words = "gift", core.OrZero(e.About)+" voided"+doneBy(by, e)
	case report.VoucherRedeemed:
		row.Icon, row.Words = "ticket", "Voucher: "+core.OrZero(e.About)
	case report.Joined:
		row.Icon, row.Words, row.Moved = "user-plus", "Joined", "New"
	case report.Adjusted:
		row.Icon, row.Words = "adjustments", "Adjusted"+doneBy(by, e)
	case report.Imported:
		row.Icon, row.Path, row.Moved = "file-import", links.Import(e.ID), ""
		row.Name, row.Words = importedInWords(e), core.OrZero(e.About)+doneBy(by, e)
	}
	return row
}

// importedInWords is "195 customers imported, 18,915 points".
func importedInWords(e report.Event) string {
	words := panel.CustomerCount(e.Customers) + " imported"
	if e.Points > 0 {
		words += ", " + format.Count(e.Points, "point", "points")
	}
	if e.Stamps > 0 {
		words += ", " + format.Count(e.Stamps, "stamp", "stamps")
	}
	return words
}

// movedInWords is the change of a balance: "+8", "−10", "+1 stamp", "" for none.
func movedInWords(points, stamps int64) (string, ui.Trend) {
	var words string
	if points != 0 {
		words = format.Signed(points)
	}
	if stamps != 0 {
		if words != "" {
			words += " · "
		}
		words += format.Signed(stamps) + "\u00a0" + map[bool]string{true: "stamp", false: "stamps"}[stamps == 1 || stamps == -1]
	}
	if points > 0 || stamps > 0 {
		return words, ui.Up
	}
	return words, ui.Level
}

func doneBy(by core.Actor, e report.Event) string {
	if e.ActorName == nil || *e.ActorName == "" {
		return ""
	}
	return " by " + by.NameOf(core.OrZero(e.ActorKind), *e.ActorName)
}
