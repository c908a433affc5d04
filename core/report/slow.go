package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
)

// Of SlowHours.
const (
	slowDays    = 28 // that are counted: whole weeks, the last one ending yesterday
	slowLength  = 3  // hours
	slowShown   = 3  // weekdays
	slowAtLeast = 50 // sales, below which hours say nothing
)

// SlowHour is a time of the week at which a business is open and sells little.
type SlowHour struct {
	Weekday  int // 0: Monday
	From, To int // hours
	Sales    int64
}

// SlowHours are the quietest times of the last four weeks, each on a weekday of its own, the quietest first.
type SlowHours struct {
	Period
	Total int64 // sales
	Slow  []SlowHour
}

// SlowHours finds the quietest three hours in a row of each weekday, between the first and the last hour with sales on it.
func (s *Service) SlowHours(ctx context.Context, by core.Actor) (SlowHours, error) {
	yesterday := core.DateOf(s.db.Now(), by.Tenant.TimeZone).AddDate(0, 0, -1)
	h, err := s.Hours(ctx, by, Selection{Range: Range{From: new(yesterday.AddDate(0, 0, 1-slowDays)), To: &yesterday}})
	if err != nil {
		return SlowHours{}, err
	}
	slow := SlowHours{Period: h.Period, Total: h.Total.TransactionsCount}
	if slow.Total < slowAtLeast {
		return slow, nil
	}
	var sold [7][24]int64
	for _, cell := range h.Cells {
		if cell.Weekday != nil && cell.Hour != nil {
			sold[*cell.Weekday][*cell.Hour] = cell.TransactionsCount
		}
	}
	for day, hours := range sold {
		if quietest, open := quietestOf(hours); open {
			quietest.Weekday = day
			slow.Slow = append(slow.Slow, quietest)
		}
	}
	slices.SortStableFunc(slow.Slow, func(a, b SlowHour) int { return cmp.Compare(a.Sales, b.Sales) })
	slow.Slow = slow.Slow[:min(len(slow.Slow), slowShown)]
	return slow, nil
}

// quietestOf returns the quietest hours of a day, or false if the business is open for too short a time to have any.
func quietestOf(hours [24]int64) (quietest SlowHour, open bool) {
	first := slices.IndexFunc(hours[:], func(n int64) bool { return n > 0 })
	last := len(hours) - 1
	for last > first && hours[last] == 0 {
		last--
	}
	if first < 0 || last-first+1 <= slowLength {
		return SlowHour{}, false
	}
	for from := first; from+slowLength-1 <= last; from++ {
		var sales int64
		for _, n := range hours[from : from+slowLength] {
			sales += n
		}
		if !open || sales < quietest.Sales {
			quietest, open = SlowHour{From: from, To: from + slowLength, Sales: sales}, true
		}
	}
	return quietest, open
}

// Day returns the weekday as the standard library has it.
func (h SlowHour) Day() time.Weekday { return time.Weekday((h.Weekday + 1) % 7) }
