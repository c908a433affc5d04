package award_test

import (
	"encoding/json"
	"testing"
	"time"

	"example.com/loyalty/core/award"
)

func instant(t *testing.T, zone, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	place, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	return at.In(place)
}

func date(text string) time.Time {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return day
}

func clock(t *testing.T, text string) award.Clock {
	t.Helper()
	c, err := award.ParseClock(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// "A window 22:00–02:00 belongs to the day on which it begins; empty to is the end of the day; an hour that is skipped by DST doesn't
// exist, one that occurs twice counts twice." 2026-06-02 is a Tuesday.
func TestWindows(t *testing.T) {
	t.Parallel()
	const tuesday, sunday = award.Weekday(2), award.Weekday(7)
	for name, c := range map[string]struct {
		day      award.Weekday
		from, to string // to "": the end of the day
		zone     string
		at       string
		within   bool
	}{
		"before it":                         {tuesday, "16:00", "18:00", "Europe/Stockholm", "2026-06-02T15:59:59.999+02:00", false},
		"its first instant":                 {tuesday, "16:00", "18:00", "Europe/Stockholm", "2026-06-02T16:00:00+02:00", true},
		"its last instant":                  {tuesday, "16:00", "18:00", "Europe/Stockholm", "2026-06-02T17:59:59.999+02:00", true},
		"its end":                           {tuesday, "16:00", "18:00", "Europe/Stockholm", "2026-06-02T18:00:00+02:00", false},
		"another day":                       {tuesday, "16:00", "18:00", "Europe/Stockholm", "2026-06-03T17:00:00+02:00", false},
		"the business's day, not the UTC":   {tuesday, "00:00", "02:00", "Europe/Stockholm", "2026-06-01T22:30:00Z", true},
		"over midnight, the evening":        {tuesday, "22:00", "02:00", "Europe/Lisbon", "2026-06-02T23:59:59.999+01:00", true},
		"over midnight, the night":          {tuesday, "22:00", "02:00", "Europe/Lisbon", "2026-06-03T01:59:59+01:00", true},
		"over midnight, the night before":   {tuesday, "22:00", "02:00", "Europe/Lisbon", "2026-06-02T01:00:00+01:00", false},
		"over midnight, its end":            {tuesday, "22:00", "02:00", "Europe/Lisbon", "2026-06-03T02:00:00+01:00", false},
		"until the end of the day":          {tuesday, "22:00", "", "Europe/Lisbon", "2026-06-02T23:59:59.999+01:00", true},
		"not after the end of the day":      {tuesday, "22:00", "", "Europe/Lisbon", "2026-06-03T00:00:00+01:00", false},
		"clocks go forward over its hour":   {sunday, "02:15", "03:00", "Europe/Stockholm", "2026-03-29T01:00:00Z", false},
		"clocks go forward within it":       {sunday, "01:30", "03:30", "Europe/Stockholm", "2026-03-29T01:29:00Z", true},
		"an hour that occurs, once":         {sunday, "02:00", "03:00", "Europe/Stockholm", "2026-10-25T00:30:00Z", true},
		"an hour that occurs, twice":        {sunday, "02:00", "03:00", "Europe/Stockholm", "2026-10-25T01:30:00Z", true},
		"after an hour that occurs twice":   {sunday, "02:00", "03:00", "Europe/Stockholm", "2026-10-25T02:00:00Z", false},
		"a day without a midnight (Beirut)": {sunday, "00:00", "01:30", "Asia/Beirut", "2026-03-28T22:10:00Z", true},
		"midnight twice (Santiago)":         {award.Weekday(6), "23:30", "23:45", "America/Santiago", "2026-04-05T03:40:00Z", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := award.Window{Days: []award.Weekday{c.day}, From: clock(t, c.from)}
			if c.to != "" {
				w.To = clock(t, c.to)
			}
			p := award.Promotion{StartsOn: date("2026-01-01"), Windows: []award.Window{w}}
			at := instant(t, c.zone, c.at)
			if got := p.IsOn(at); got != c.within {
				t.Errorf("%v: %v, want %v", at, got, c.within)
			}
		})
	}
}

// A window over midnight is on if the day on which it begins is one of the promotion's days.
func TestDaysOfAPromotion(t *testing.T) {
	t.Parallel()
	p := award.Promotion{
		StartsOn: date("2026-06-02"), EndsOn: new(date("2026-06-03")),
		Windows: []award.Window{{Days: []award.Weekday{1, 2, 3, 4}, From: 22 * 60, To: 2 * 60}},
	}
	for at, want := range map[string]bool{
		"2026-06-02T01:00:00Z": false, "2026-06-02T23:00:00Z": true, "2026-06-03T01:00:00Z": true, "2026-06-03T23:00:00Z": true,
		"2026-06-04T01:00:00Z": true, "2026-06-04T02:00:00Z": false, "2026-06-04T23:00:00Z": false,
	} {
		if got := p.IsOn(instant(t, "UTC", at)); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
	p.Windows = nil
	for at, want := range map[string]bool{"2026-06-01T23:59:59Z": false, "2026-06-02T00:00:00Z": true, "2026-06-03T23:59:59Z": true, "2026-06-04T00:00:00Z": false} {
		if got := p.IsOn(instant(t, "UTC", at)); got != want {
			t.Errorf("all day, %s: %v", at, got)
		}
	}
}

// "Double points until 18:00": a till is told when the window of now ends.
func TestEndOfAWindow(t *testing.T) {
	t.Parallel()
	all := []award.Weekday{1, 2, 3, 4, 5, 6, 7}
	p := award.Promotion{StartsOn: date("2026-06-01"), Windows: []award.Window{{all, 16 * 60, 18 * 60}, {all, 17 * 60, 19*60 + 30}, {all, 22 * 60, 2 * 60}, {all, 12 * 60, 0}}}
	p.Windows = p.Windows[:3]
	for at, want := range map[string]string{"16:30": "18:00", "17:30": "19:30", "23:00": "02:00", "01:00": "02:00", "12:00": ""} {
		until, within := p.EndOfWindow(instant(t, "UTC", "2026-06-03T"+at+":00Z"))
		if got := until.String(); within != (want != "") || within && got != want {
			t.Errorf("%s: %s %v, want %q", at, got, within, want)
		}
	}
}

func TestClocksInJSON(t *testing.T) {
	t.Parallel()
	var w award.Window
	if err := json.Unmarshal([]byte(`{"days": [7], "from": "09:05", "to": "24:00"}`), &w); err != nil || w.From != 9*60+5 || w.To != award.EndOfDay {
		t.Errorf("read %+v, %v", w, err)
	}
	if text, err := json.Marshal(w); err != nil || string(text) != `{"days":[7],"from":"09:05","to":"24:00"}` {
		t.Errorf("wrote %s, %v", text, err)
	}
	for _, wrong := range []string{"", "9", "24:01", "25:00", "12:60", "noon"} {
		if c, err := award.ParseClock(wrong); err == nil {
			t.Errorf("%q is %v", wrong, c)
		}
	}
}
