package format

import "time"

// Today is the day on which the reader reads, as midnight UTC like all days of ranges.
func (r Reader) Today() time.Time {
	year, month, day := r.Now.In(r.Zone()).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
