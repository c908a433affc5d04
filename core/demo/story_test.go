package demo

import (
	"reflect"
	"testing"
	"time"

	"github.com/nyaruka/phonenumbers"

	"example.com/loyalty/core/transaction"
)

func stockholm(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(timeZone)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// during a day, before opening, after closing, at a weekend, and where the clocks change.
func instants(t *testing.T) map[string]time.Time {
	t.Helper()
	zone := stockholm(t)
	return map[string]time.Time{
		"an afternoon":          time.Date(2026, 11, 20, 15, 40, 0, 0, zone),
		"the middle of a night": time.Date(2026, 11, 21, 3, 15, 0, 0, zone),
		"just opened":           time.Date(2026, 6, 8, 7, 31, 0, 0, zone),
		"a Sunday noon":         time.Date(2026, 6, 28, 12, 0, 0, 0, zone),
		"the clocks went back":  time.Date(2026, 10, 25, 17, 50, 0, 0, zone),
		"a leap day's evening":  time.Date(2028, 2, 29, 21, 0, 0, 0, zone),
	}
}

func TestTheStoryIsACafes(t *testing.T) {
	t.Parallel()
	for name, until := range instants(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tell(until, stockholm(t))
			names, phones, emails := map[string]bool{}, map[string]bool{}, map[string]bool{}
			sources, kinds := map[transaction.Source]int{}, map[kind]int{}
			var sales, voided, before int
			var last time.Time
			for _, g := range s.guests {
				names[g.first+" "+g.last] = true
				number, err := phonenumbers.Parse(g.phone, "SE")
				if err != nil || !phonenumbers.IsPossibleNumber(number) {
					t.Errorf("%s is no possible number: %v", g.phone, err)
				}
				phones[phonenumbers.Format(number, phonenumbers.E164)] = true
				if g.email != nil {
					emails[*g.email] = true
				}
				if g.joined.Before(until.AddDate(0, 0, -daysTold)) {
					before++
				}
				if g.joined.Before(s.opened) || !g.left.IsZero() && (g.left.Before(g.joined) || len(g.sales) > 0) {
					t.Errorf("%s %s joined at %v, left at %v and bought %d times", g.first, g.last, g.joined, g.left, len(g.sales))
				}
				previous := g.joined
				for _, x := range g.sales {
					sales++
					sources[x.source]++
					kinds[x.kind]++
					minutes := x.at.Hour()*60 + x.at.Minute()
					switch {
					case x.at.Location().String() != timeZone, minutes < opens, minutes >= 18*60:
						t.Errorf("sold at %v: the café is closed", x.at)
					case x.cents < 320 && x.voucher == nil || x.cents > largestBill:
						t.Errorf("a sale of %d cents", x.cents)
					case !x.at.After(previous) || !x.at.Before(until):
						t.Errorf("sold at %v, after %v, in a story until %v", x.at, previous, until)
					}
					previous = x.at
					if !x.voided.IsZero() {
						voided++
						if !x.voided.After(x.at) || !x.voided.Before(until) {
							t.Errorf("sold at %v, voided at %v", x.at, x.voided)
						}
						previous = x.voided
					}
					if x.at.After(last) {
						last = x.at
					}
				}
			}
			for what, n := range map[string]int{"names": len(names), "phones": len(phones)} {
				if n != len(s.guests) {
					t.Errorf("%d guests have %d %s", len(s.guests), n, what)
				}
			}
			for what, c := range map[string]struct{ n, least, most int }{
				"guests":               {len(s.guests), 390, 400},
				"of a time before":     {before, 290, 300},
				"with an e-mail":       {len(emails), 240, 320},
				"sales":                {sales, 5000, 7000},
				"voided":               {voided, 40, 150},
				"sales of coffee card": {kinds[coffeeCard], 700, 2000},
				"sales by API":         {sources[transaction.API], 400, 1500},
				"sales in the panel":   {sources[transaction.Panel], 100, 500},
				"sales at the till":    {sources[transaction.POS], 3500, 6000},
			} {
				if c.n < c.least || c.n > c.most {
					t.Errorf("%d %s, want %d to %d", c.n, what, c.least, c.most)
				}
			}
			if open := until.After(clock(until, opens+3)) && until.Before(clock(until, lastOrders)); open && until.Sub(last) > 5*time.Minute {
				t.Errorf("at %v the last sale was at %v", until, last)
			}
		})
	}
}

func TestTheSameInstantTellsTheSameStory(t *testing.T) {
	t.Parallel()
	until := instants(t)["an afternoon"]
	if !reflect.DeepEqual(tell(until, stockholm(t)), tell(until.UTC(), stockholm(t))) {
		t.Error("the story was told in two ways")
	}
}

func TestARegularDayIsBusyInTheMorningAndAtNoon(t *testing.T) {
	t.Parallel()
	hours, weekend, workdays := map[int]int{}, 0, 0
	for _, g := range tell(instants(t)["an afternoon"], stockholm(t)).guests {
		for _, x := range g.sales {
			if d := x.at.Weekday(); d == time.Saturday || d == time.Sunday {
				weekend++
				continue
			}
			workdays++
			hours[x.at.Hour()]++
		}
	}
	if hours[8] < 2*hours[10] || hours[12] < 2*hours[10] || hours[17] > hours[14] {
		t.Errorf("sales by hour of working days: %v", hours)
	}
	if perDay := workdays / 65; perDay < 60 || weekend/26 > perDay*3/4 {
		t.Errorf("%d sales on a working day, %d at the weekend", perDay, weekend/26)
	}
}
