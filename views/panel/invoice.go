package panel

import (
	"time"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// InvoiceStatus is the status of an invoice, with the days left of an unpaid one.
func InvoiceStatus(i billing.Invoice, now time.Time) ui.Badge {
	switch i.Status {
	case billing.Issued:
		return ui.Badge{Label: InvoiceDue(i, now), Tone: ui.Notice}
	case billing.Overdue:
		return ui.Badge{Label: InvoiceDue(i, now), Tone: ui.Bad}
	case billing.Paid:
		return ui.Badge{Label: "Paid", Tone: ui.Good}
	case billing.Void:
		return ui.Badge{Label: "Void", Tone: ui.Neutral}
	case billing.Draft:
	}
	return ui.Badge{Label: "Draft", Tone: ui.Info}
}

// InvoiceDue says when an invoice is or was due, in days of the tenant: Due in 8 days, Due today, 3
// days overdue.
func InvoiceDue(i billing.Invoice, now time.Time) string {
	if i.DueAt == nil {
		return ""
	}
	switch days := daysBetween(now, *i.DueAt, i.Zone()); {
	case days < 0:
		return format.Count(-days, "day", "days") + " overdue"
	case days == 0:
		return "Due today"
	default:
		return "Due in " + format.Count(days, "day", "days")
	}
}

// daysBetween counts the calendar days of a zone between two instants.
func daysBetween(from, to time.Time, zone *time.Location) int64 {
	midnight := func(t time.Time) time.Time {
		year, month, day := t.In(zone).Date()
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	}
	return int64(midnight(to).Sub(midnight(from)) / (24 * time.Hour))
}
