package format

import (
	"time"

	"example.com/loyalty/core/customer"
)

// Birthday is a day of birth, "21 May 1990" or "21 May"; "–" for none.
func Birthday(b *customer.Birthday) string {
	if b == nil {
		return "–"
	}
	year, month, day := b.Date()
	if year == 0 {
		return time.Date(2000, month, day, 0, 0, 0, 0, time.UTC).Format("2 Jan") // a year with all days
	}
	return calendarDate(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}
