package reports

import (
	"maps"
	"slices"
	"time"

	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
)

// ordinaryRows is how many sales of a day, and how many of its new customers, are listed each before the
// others are one row.
const ordinaryRows = 4

// activityDay is the events of a day, as they are listed.
type activityDay struct {
	date   string
	latest time.Time
	sum    *report.DayInBrief // nil: the day isn't summed up, so all of its events are listed
	events []report.Event

	sales, joined  int64 // listed
	points, stamps int64 // of the listed sales
	oldest         time.Time
}

// activityDays groups the latest events by day, the newest first.
func activityDays(by format.Reader, feed report.Feed) (list []*activityDay) {
	days := map[string]*activityDay{}
	for _, sum := range feed.Days {
		days[isoDate(sum.Date)] = &activityDay{date: isoDate(sum.Date), latest: sum.LastSaleAt, sum: &sum}
	}
	for _, e := range feed.Events {
		if e.Kind == report.Sold && e.Voided {
			continue // its void is listed
		}
		date := isoDate(e.At.In(by.Zone()))
		if days[date] == nil {
			days[date] = &activityDay{date: date, latest: e.At}
		}
		days[date].add(e)
	}
	for _, date := range slices.Backward(slices.Sorted(maps.Keys(days))) {
		list = append(list, days[date])
	}
	return list
}

// add lists an event. Sales and new customers are listed up to their limit if the sum of the day counts the others.
func (d *activityDay) add(e report.Event) {
	switch {
	case d.sum == nil:
	case e.Kind == report.Sold:
		if d.sales == ordinaryRows {
			return
		}
		d.sales++
		d.points, d.stamps, d.oldest = d.points+e.Points, d.stamps+e.Stamps, e.At
	case e.Kind == report.Joined:
		if d.joined == ordinaryRows {
			return
		}
		d.joined++
	}
	d.events = append(d.events, e)
}

// earlier is "10:12–14:05", when the sales that aren't listed were made.
func (d *activityDay) earlier(by format.Reader) string {
	until := d.sum.LastSaleAt
	if d.sales > 0 {
		until = d.oldest
	}
	return by.Clock(d.sum.FirstSaleAt) + "–" + by.Clock(until)
}
