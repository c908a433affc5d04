package panel

import (
	"time"

	"example.com/loyalty/core"
)

// LocalToday is today in the business's time zone, as midnight UTC like all days of ranges.
func (p *Panel) LocalToday(by core.Actor) time.Time {
	year, month, day := p.Now().In(by.Tenant.TimeZone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func IsoDate(day time.Time) string { return day.Format(time.DateOnly) }
