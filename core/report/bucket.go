package report

import (
	"time"
)

// Step is the length of a chart's steps.
type Step string

// The steps. Weeks begin on Monday, and all steps at midnight in the tenant's time zone.
const (
	Daily   Step = "day"
	Weekly  Step = "week"
	Monthly Step = "month"
)

// Longer ranges are shown in weeks, and still longer ones in months, or a chart would be a blur.
const (
	maxDailyDays  = 92  // thirteen weeks, or a quarter
	maxWeeklyDays = 731 // two years
)

// isLong reports whether a range is too long for daily steps.
func (d days) isLong() bool { return d.length() > maxDailyDays }

func (d days) step() Step {
	switch {
	case !d.isLong():
		return Daily
	case d.length() <= maxWeeklyDays:
		return Weekly
	}
	return Monthly
}

// Bucket is the figures of a step of time: a day, or those days of a week or month that are in the range.
type Bucket[T any] struct {
	Period
	Current  T
	Beside   Period // the days that it is compared with, if Previous is given
	Previous *T     // their figures; nil: none
	SoFar    bool   // it contains today, so its figures still grow
	Partial  bool   // the range has only some of its days
}

// cut is a bucket without its figures.
type cut struct {
	from, to       time.Time
	soFar, partial bool
}

// cuts divides the days into steps, which are whole except for the first and the last one.
func (d days) cuts(step Step, now time.Time) (cuts []cut) {
	today := d.dayOf(now)
	for from := d.from; !from.After(d.to); {
		start := step.start(from)
		next := step.next(start)
		c := cut{from: from, to: next.AddDate(0, 0, -1)}
		c.partial = from.After(start)
		if c.to.After(d.to) {
			c.to, c.partial = d.to, true
		}
		c.soFar = !today.Before(c.from) && !today.After(c.to)
		if c.soFar && !from.After(start) {
			c.partial = false // the range has all of its days up to today
		}
		cuts = append(cuts, c)
		from = next
	}
	return cuts
}

// start returns the first day of the step that contains a day.
func (s Step) start(day time.Time) time.Time {
	switch s {
	case Weekly:
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case Monthly:
		return day.AddDate(0, 0, 1-day.Day())
	case Daily:
	}
	return day
}

// next returns the first day of the step after the one that begins on a day.
func (s Step) next(start time.Time) time.Time {
	switch s {
	case Weekly:
		return start.AddDate(0, 0, 7)
	case Monthly:
		return start.AddDate(0, 1, 0)
	case Daily:
	}
	return start.AddDate(0, 0, 1)
}

type buckets[T any] []Bucket[T]

func newBuckets[T any](t timetable) buckets[T] {
	made := make(buckets[T], max(len(t.cuts), len(t.beside)))
	for i, c := range t.cuts {
		made[i] = Bucket[T]{Period: Period{c.from, c.to}, SoFar: c.soFar, Partial: c.partial}
	}
	for i, b := range t.beside {
		made[i].Beside = b
	}
	for _, s := range t.spans {
		if s.part != inRange && s.bucket != nil && made[*s.bucket].Previous == nil {
			made[*s.bucket].Previous = new(T)
		}
	}
	return made
}

// split divides them into the buckets of the range, and those that only a longer earlier period has, such as 31 August beside September.
func (b buckets[T]) split(t timetable) (inRange, longer []Bucket[T]) {
	return b[:len(t.cuts)], b[len(t.cuts):]
}

// set stores the figures of a bucket, of the range or of the earlier period. Those of no bucket (nil) aren't stored.
func (b buckets[T]) set(period int64, bucket *int64, figures T) {
	switch {
	case bucket == nil:
	case part(period) == inRange:
		b[*bucket].Current = figures
	default:
		b[*bucket].Previous = &figures
	}
}
