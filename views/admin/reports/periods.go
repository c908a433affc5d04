package reports

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
)

// Period is a range of days with a name.
type Period struct {
	Name, Label, short string
	Days               func(today time.Time) report.Period
}

// Periods are the choices of the dashboard and the reports. The second one is the default.
var Periods = slices.Concat(rolling, ofCalendar)

// rolling are the periods of as many days each day.
var rolling = []Period{
	{"7-days", "Last 7 days", "7 days", lastDays(7)},
	{"30-days", "Last 30 days", "30 days", lastDays(30)},
	{"90-days", "Last 90 days", "90 days", lastDays(90)},
}

// ofCalendar are the periods of the calendar.
var ofCalendar = []Period{
	{"this-month", "This month", "This month", func(today time.Time) report.Period {
		return report.Period{From: firstOfMonth(today), To: today}
	}},
	{"last-month", "Last month", "Last month", func(today time.Time) report.Period {
		first := firstOfMonth(today)
		return report.Period{From: first.AddDate(0, -1, 0), To: first.AddDate(0, 0, -1)}
	}},
	{"this-year", "This year", "This year", func(today time.Time) report.Period {
		return report.Period{From: time.Date(today.Year(), 1, 1, 0, 0, 0, 0, time.UTC), To: today}
	}},
}

// periodOf returns the name of the period that a range of days is, or "". Several may have the same days, such as 30 days on 30
// November: those of the calendar come first, as in what they are compared with (report.Period.Earlier).
func periodOf(days *report.Period, today time.Time) string {
	for _, p := range slices.Concat(ofCalendar, rolling) {
		if of := p.Days(today); days != nil && days.From.Equal(of.From) && days.To.Equal(of.To) {
			return p.Name
		}
	}
	return ""
}

func lastDays(days int) func(time.Time) report.Period {
	return func(today time.Time) report.Period {
		return report.Period{From: today.AddDate(0, 0, 1-days), To: today}
	}
}

func firstOfMonth(day time.Time) time.Time { return day.AddDate(0, 0, 1-day.Day()) }

// comparedWith says with which days those of a period are compared. Today's figures are compared with part of an earlier day.
func comparedWith(against, period report.Period, today time.Time) string {
	words := format.Period(against.From, against.To)
	if today.Before(period.From) || today.After(period.To) {
		return words
	}
	return words + ", up to this time of day"
}

// shortDays writes a range of days without the year, unless it is another one: 1–29 Sep, September.
func shortDays(p report.Period, year int) string {
	return strings.TrimSuffix(format.Period(p.From, p.To), " "+strconv.Itoa(year))
}

func isoDate(day time.Time) string { return day.Format(time.DateOnly) }
