package award

import (
	"fmt"
	"slices"
	"time"
)

// Window is a time of the week: on each of its days from a time of day to another one, as clocks show them. One that ends
// before it begins ends on the day after. An hour that clocks skip is in no window, and one that they show twice counts twice.
type Window struct {
	Days []Weekday `json:"days"`
	From Clock     `json:"from"`
	To   Clock     `json:"to"` // not in the window; 0: the end of the day
}

// Weekday is a day of the week by ISO 8601: Monday is 1, Sunday is 7.
type Weekday int

// WeekdayOf returns the day of the week of a date.
func WeekdayOf(date time.Time) Weekday { return Weekday((int(date.Weekday())+6)%7 + 1) }

// Time returns the day as the standard library has it.
func (d Weekday) Time() time.Weekday { return time.Weekday(d % 7) }

// Clock is a time of day in minutes after midnight. Its JSON is a text like "16:00".
type Clock int

// EndOfDay is when a day ends.
const EndOfDay Clock = 24 * 60

// ClockOf returns the time of day that a clock shows.
func ClockOf(at time.Time) Clock { return Clock(at.Hour()*60 + at.Minute()) }

// String is the time as clocks with 24 hours show it.
func (c Clock) String() string { return fmt.Sprintf("%02d:%02d", int(c)/60, int(c)%60) }

// MarshalText writes the time as String does.
func (c Clock) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a time of day from 00:00 to 24:00.
func (c *Clock) UnmarshalText(text []byte) error {
	read, err := ParseClock(string(text))
	*c = read
	return err
}

// ParseClock reads a time of day from 00:00 to 24:00.
func ParseClock(text string) (Clock, error) {
	if text == EndOfDay.String() {
		return EndOfDay, nil
	}
	at, err := time.Parse("15:04", text)
	if err != nil {
		return 0, fmt.Errorf("award: %q is no time of day", text)
	}
	return ClockOf(at), nil
}

// end returns when the window ends, in minutes after the midnight on which its day begins.
func (w Window) end() Clock {
	switch {
	case w.To == 0:
		return EndOfDay
	case w.To <= w.From:
		return w.To + EndOfDay
	}
	return w.To
}

// begun returns the day on which the window began that an instant is in, or false.
func (w Window) begun(at time.Time) (day time.Time, within bool) {
	today, clock := dateOf(at), ClockOf(at)
	if slices.Contains(w.Days, WeekdayOf(today)) && clock >= w.From && clock < w.end() {
		return today, true
	}
	yesterday := today.AddDate(0, 0, -1)
	if slices.Contains(w.Days, WeekdayOf(yesterday)) && clock+EndOfDay < w.end() {
		return yesterday, true
	}
	return time.Time{}, false
}

// IsOn reports whether an instant is on the promotion's days and in one of its windows. A window over midnight belongs to the
// day on which it begins. The instant is in the time zone of the business.
func (p *Promotion) IsOn(at time.Time) bool {
	if len(p.Windows) == 0 {
		return p.isOnDay(dateOf(at))
	}
	return slices.ContainsFunc(p.Windows, func(w Window) bool {
		day, within := w.begun(at)
		return within && p.isOnDay(day)
	})
}

// Begins reports whether the promotion is on at some time that belongs to a day: one over midnight begins on the day before.
func (p *Promotion) Begins(day time.Time) bool {
	return p.isOnDay(day) && (len(p.Windows) == 0 || slices.ContainsFunc(p.Windows, func(w Window) bool {
		return slices.Contains(w.Days, WeekdayOf(day))
	}))
}

// IsToday reports whether an instant is on the promotion's days, or in a window that began on one of them.
func (p *Promotion) IsToday(at time.Time) bool { return p.isOnDay(dateOf(at)) || p.IsOn(at) }

func (p *Promotion) isOnDay(day time.Time) bool {
	return !day.Before(p.StartsOn) && (p.EndsOn == nil || !day.After(*p.EndsOn))
}

// EndOfWindow returns when the window ends that an instant is in, as clocks show it, or false for a promotion without windows or
// outside of them. Of several, it is the one that ends last.
func (p *Promotion) EndOfWindow(at time.Time) (until Clock, within bool) {
	var latest Clock
	for _, w := range p.Windows {
		day, in := w.begun(at)
		if !in || !p.isOnDay(day) {
			continue
		}
		end := w.end()
		if day.Before(dateOf(at)) {
			end -= EndOfDay
		}
		latest, within = max(latest, end), true
	}
	return latest % EndOfDay, within
}
