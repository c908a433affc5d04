package award_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
)

// levels are Member, Silver from 100, Gold from 300 and Black from 1000, by a programme's year that begins on a day.
func levels(month time.Month, day int) award.Levels {
	return award.Levels{
		LevelRules: award.LevelRules{Basis: award.BySpend, Period: award.ByYear, Month: month, Day: day, Drops: true},
		All: []award.Level{
			{ID: 1, Name: "Member", Percent: 100},
			{ID: 2, Name: "Silver", Rank: 1, Threshold: 100, Percent: 100},
			{ID: 3, Name: "Gold", Rank: 2, Threshold: 300, Percent: 100},
			{ID: 4, Name: "Black", Rank: 3, Threshold: 1000, Percent: 100},
		},
	}
}

// A programme's year begins on any day, also 29 February, which is the 28th in other years.
func TestYearsOfAProgramme(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		begins, day string
		year        int
		ends        string
	}{
		{"2026-01-01", "2026-01-01", 2026, "2026-12-31"},
		{"2026-01-01", "2026-12-31", 2026, "2026-12-31"},
		{"2026-07-15", "2026-07-14", 2025, "2026-07-14"},
		{"2026-07-15", "2026-07-15", 2026, "2027-07-14"},
		{"2028-02-29", "2027-02-27", 2026, "2027-02-27"},
		{"2028-02-29", "2027-02-28", 2027, "2028-02-28"},
		{"2028-02-29", "2028-02-28", 2027, "2028-02-28"},
		{"2028-02-29", "2028-02-29", 2028, "2029-02-27"},
	} {
		_, month, day := date(c.begins).Date()
		l := levels(month, day)
		if year := l.YearOf(date(c.day)); year != c.year || !l.EndOf(year).Equal(date(c.ends)) {
			t.Errorf("from %s, %s is of %d, which ends on %s", c.begins, c.day, year, l.EndOf(year).Format(time.DateOnly))
		}
	}
}

// life is a customer's sales, and what levels make of them.
type life struct {
	award.Levels
	ledger.Standing
	changes []award.Dated
}

func (c *life) add(day time.Time, changes []award.Change) {
	for _, change := range changes {
		c.changes = append([]award.Dated{{Change: change, On: day}}, c.changes...)
	}
}

func (c *life) settle(today string) {
	s, changes := c.Settle(c.Standing, date(today))
	c.Standing = s
	c.add(date(today), changes)
}

func (c *life) sell(today string, amount int64) {
	c.settle(today)
	s, changes := c.Sell(c.Standing, date(today), date(today), amount)
	c.Standing = s
	c.add(date(today), changes)
}

func (c *life) undo(today, sold string, amount int64) {
	c.settle(today)
	s, changes := c.Undo(c.Standing, date(sold), date(today), amount, c.changes)
	c.Standing = s
	c.add(date(today), changes)
}

// told are the changes, the oldest first.
func (c *life) told() (told []string) {
	name := func(id *int64) string {
		if level := c.Find(id); level != nil {
			return level.Name
		}
		return "Member"
	}
	for _, change := range c.changes {
		until := "for good"
		if change.Until != nil {
			until = change.Until.Format(time.DateOnly)
		}
		told = append([]string{fmt.Sprintf("%s: %s %s, %s", change.On.Format(time.DateOnly), name(change.To), change.Reason, until)}, told...)
	}
	return told
}

// Rising, keeping and dropping, and what a void undoes.
func TestLevels(t *testing.T) {
	t.Parallel()
	for name, story := range map[string]struct {
		live func(*life)
		want []string
	}{
		"a sale may skip a level": {
			func(c *life) { c.sell("2026-05-01", 400) },
			[]string{"2026-05-01: Gold reached, 2027-12-31"},
		},
		"the last year's sum keeps it until the end of this one": {
			func(c *life) { c.sell("2026-05-01", 300); c.sell("2027-05-01", 300); c.settle("2028-01-01") },
			[]string{"2026-05-01: Gold reached, 2027-12-31", "2028-01-01: Gold kept, 2028-12-31"},
		},
		"what this year has earned already keeps it until the end of the next one": {
			func(c *life) { c.sell("2026-05-01", 300); c.settle("2027-12-31"); c.sell("2028-01-03", 300) },
			[]string{"2026-05-01: Gold reached, 2027-12-31", "2028-01-03: Member dropped, for good", "2028-01-03: Gold reached, 2029-12-31"},
		},
		"it falls to what the last year's sum reaches": {
			func(c *life) { c.sell("2026-05-01", 300); c.sell("2027-05-01", 100); c.settle("2028-01-01") },
			[]string{"2026-05-01: Gold reached, 2027-12-31", "2028-01-01: Silver dropped, 2028-12-31"},
		},
		"two years late": {
			func(c *life) { c.sell("2026-05-01", 300); c.sell("2027-05-01", 500); c.settle("2030-03-01") },
			[]string{"2026-05-01: Gold reached, 2027-12-31", "2030-03-01: Member dropped, for good"},
		},
		"a void of the sale that reached it": {
			func(c *life) {
				c.sell("2026-05-01", 99)
				c.sell("2026-06-01", 1)
				c.undo("2026-06-02", "2026-06-01", 1)
			},
			[]string{"2026-06-01: Silver reached, 2027-12-31", "2026-06-02: Member void, for good"},
		},
		"a void of an earlier one": {
			func(c *life) {
				c.sell("2026-05-01", 99)
				c.sell("2026-06-01", 250)
				c.undo("2026-06-02", "2026-05-01", 99)
			},
			[]string{"2026-06-01: Gold reached, 2027-12-31", "2026-06-02: Silver void, 2027-12-31"},
		},
		"a void that leaves what is reached": {
			func(c *life) {
				c.sell("2026-05-01", 150)
				c.sell("2026-06-01", 20)
				c.undo("2026-06-02", "2026-06-01", 20)
			},
			[]string{"2026-05-01: Silver reached, 2027-12-31"},
		},
		"a void returns what the customer had before, if it hasn't ended": {
			func(c *life) {
				c.sell("2026-05-01", 100)
				c.sell("2027-05-01", 300)
				c.undo("2027-05-02", "2027-05-01", 300)
			},
			[]string{"2026-05-01: Silver reached, 2027-12-31", "2027-05-01: Gold reached, 2028-12-31", "2027-05-02: Silver void, 2027-12-31"},
		},
		"a void of a sale of the last year leaves it until its day": {
			func(c *life) {
				c.sell("2026-05-01", 100)
				c.undo("2027-05-02", "2026-05-01", 100)
				c.settle("2028-01-01")
			},
			[]string{"2026-05-01: Silver reached, 2027-12-31", "2028-01-01: Member dropped, for good"},
		},
		"a void of two steps at once": {
			func(c *life) {
				c.sell("2026-05-01", 100)
				c.sell("2026-06-01", 200)
				c.undo("2026-06-02", "2026-05-01", 100)
				c.undo("2026-06-02", "2026-06-01", 200)
			},
			[]string{
				"2026-05-01: Silver reached, 2027-12-31", "2026-06-01: Gold reached, 2027-12-31",
				"2026-06-02: Silver void, 2027-12-31", "2026-06-02: Member void, for good",
			},
		},
		"a lower threshold": {
			func(c *life) { c.sell("2026-05-01", 99); c.All[1].Threshold = 90; c.settle("2026-05-02") },
			[]string{"2026-05-02: Silver rules, 2027-12-31"},
		},
		"a higher threshold takes nothing before its day": {
			func(c *life) {
				c.sell("2026-05-01", 100)
				c.All[1].Threshold = 200
				c.sell("2027-12-31", 1)
				c.settle("2028-01-01")
			},
			[]string{"2026-05-01: Silver reached, 2027-12-31", "2028-01-01: Member dropped, for good"},
		},
		"a retired level stays until its day": {
			func(c *life) {
				c.sell("2026-05-01", 300)
				c.sell("2027-05-01", 300)
				c.All[2].Retired = true
				c.sell("2027-06-01", 1)
				c.settle("2028-01-01")
			},
			[]string{"2026-05-01: Gold reached, 2027-12-31", "2028-01-01: Silver dropped, 2028-12-31"},
		},
		"nothing drops": {
			func(c *life) { c.Drops = false; c.sell("2026-05-01", 300); c.settle("2040-01-01") },
			[]string{"2026-05-01: Gold reached, for good"},
		},
		"of all time": {
			func(c *life) {
				c.Period = award.AllTime
				c.sell("2020-05-01", 60)
				c.sell("2026-05-01", 60)
				c.settle("2040-01-01")
			},
			[]string{"2026-05-01: Silver reached, for good"},
		},
		"lower by hand, until a sale reaches another level": {
			func(c *life) {
				c.sell("2026-05-01", 300)
				s, change := c.Give(c.Standing, &c.All[0], award.ByHand, new(date("2026-12-31")))
				c.Standing = s
				c.add(date("2026-05-02"), []award.Change{change})
				c.sell("2026-05-03", 100)
				c.sell("2026-05-04", 600)
			},
			[]string{"2026-05-01: Gold reached, 2027-12-31", "2026-05-02: Member hand, 2026-12-31", "2026-05-04: Black reached, 2027-12-31"},
		},
		"lower by hand, until its day": {
			func(c *life) {
				c.sell("2026-05-01", 300)
				s, change := c.Give(c.Standing, &c.All[1], award.ByHand, new(date("2026-06-30")))
				c.Standing = s
				c.add(date("2026-05-02"), []award.Change{change})
				c.settle("2026-06-30")
				c.settle("2026-07-01")
			},
			[]string{"2026-05-01: Gold reached, 2027-12-31", "2026-05-02: Silver hand, 2026-06-30", "2026-07-01: Gold kept, 2027-12-31"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &life{Levels: levels(time.January, 1)}
			story.live(c)
			if diff := cmp.Diff(story.want, c.told()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// However late the job of a day is: sales before it and after it leave the same level, and the sums are those of the sales.
func TestTheJobMayBeLate(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 40))
	for round := range 300 {
		l := levels(time.Month(1+random.IntN(12)), 1+random.IntN(31))
		daily, lazy := &life{Levels: l}, &life{Levels: l}
		type sale struct {
			day    time.Time
			amount int64
		}
		var sales []sale
		today := date("2026-01-01")
		for range 12 {
			for next := today.AddDate(0, 0, random.IntN(200)); today.Before(next); {
				today = today.AddDate(0, 0, 1)
				daily.settle(today.Format(time.DateOnly))
			}
			text := today.Format(time.DateOnly)
			if len(sales) > 0 && random.IntN(4) == 0 {
				i := random.IntN(len(sales))
				for _, c := range []*life{daily, lazy} {
					c.undo(text, sales[i].day.Format(time.DateOnly), sales[i].amount)
				}
				sales = append(sales[:i], sales[i+1:]...)
			} else {
				s := sale{today, random.Int64N(400)}
				for _, c := range []*life{daily, lazy} {
					c.sell(text, s.amount)
				}
				sales = append(sales, s)
			}
			if !same(daily.LevelID, lazy.LevelID) {
				t.Fatalf("round %d, %s: with the job %v, without %v", round, text, daily.told(), lazy.told())
			}
			year := l.YearOf(today)
			var sum, before int64
			for _, s := range sales {
				switch l.YearOf(s.day) {
				case year:
					sum += s.amount
				case year - 1:
					before += s.amount
				}
			}
			if *lazy.LevelYear != year || lazy.LevelSum != sum || lazy.LevelSumBefore != before {
				t.Fatalf("round %d, %s: %+v, want %d and %d of %d", round, text, lazy.Standing, sum, before, year)
			}
			if reached := l.Reached(max(sum, before)); reached != nil && (lazy.LevelID == nil || *lazy.LevelID < reached.ID) {
				t.Fatalf("round %d, %s: %v is below %s", round, text, lazy.told(), reached.Name)
			}
		}
	}
}

func same(a, b *int64) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// "€ 80 to Gold", and whether this year has earned the level again.
func TestProgress(t *testing.T) {
	t.Parallel()
	c := &life{Levels: levels(time.January, 1)}
	if p := c.Progress(c.Standing, date("2026-01-01")); p.Level.Name != "Member" || p.Until != nil || p.Next.Name != "Silver" || p.Sum != 0 || p.Keeps {
		t.Errorf("a new customer: %+v", p)
	}
	c.sell("2026-05-01", 320)
	if p := c.Progress(c.Standing, date("2027-03-01")); p.Level.Name != "Gold" || !p.Until.Equal(date("2027-12-31")) || p.Next.Name != "Black" || p.Sum != 0 || p.Keeps {
		t.Errorf("in the year after: %+v", p)
	}
	c.sell("2027-05-01", 300)
	if p := c.Progress(c.Standing, date("2027-05-01")); p.Sum != 300 || !p.Keeps {
		t.Errorf("earned again: %+v", p)
	}
	if p := c.Progress(c.Standing, date("2028-01-01")); p.Level.Name != "Gold" || !p.Until.Equal(date("2028-12-31")) {
		t.Errorf("before the job of the day: %+v", p)
	}
	if p := (award.Levels{}).Progress(c.Standing, date("2028-01-01")); p != nil {
		t.Errorf("without levels: %+v", p)
	}
}
