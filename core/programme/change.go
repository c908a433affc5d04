package programme

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
)

// Before says when what customers had before a first rule ends.
type Before string

// The choices.
const (
	BeforePeriod Before = "period" // after a full period from today
	BeforeDay    Before = "day"    // on a day that the owner chooses
	BeforeNever  Before = "never"
)

// Change describes the rule of a unit. Fields of other rules are ignored.
type Change struct {
	Unit      ledger.Unit
	Rule      core.ExpiryRule
	Months    *int64        // of after and inactive
	RoundTo   core.Rounding // likewise
	Month     *int64        // of yearly
	Day       *int64        // likewise
	GraceDays *int64        // of all but never

	// Of a first rule: what customers had before, and its last day. By a rule of inactivity, that is the day by which it ends
	// if the customer does nothing.
	Before   Before
	BeforeOn *time.Time // of BeforeDay

	Version   int64       // of the rule that the person saw
	Malformed core.Fields // what the front end could not read
}

// change returns a rule after the change on a day.
func (c Change) change(old Rule, today time.Time) (Rule, error) {
	check := core.NewCheck(c.Malformed)
	r := old
	r.Expiry = core.Expiry{Rule: c.Rule, GraceDays: old.GraceDays, Hold: old.Hold}
	switch c.Rule {
	case core.NeverExpire:
		r.HoldsAll = old.Version > 0
		r.Hold = time.Time{}
		return r, check.Err()
	case core.ExpireAfter, core.ExpireInactive:
		r.Months = int(check.Integer("months", c.Months, 1, maxMonths))
		r.RoundTo = c.RoundTo
		core.OneOf(check, "round_to", c.RoundTo, core.ToDay, core.ToMonth, core.ToQuarter, core.ToYear)
	case core.ExpireYearly:
		r.Month = time.Month(check.Integer("yearly_month", c.Month, 1, 12))
		r.Day = int(check.Integer("yearly_day", c.Day, 1, longest(r.Month)))
	default:
		check.Add("expiry", core.InvalidChoice)
	}
	r.GraceDays = int(check.Integer("grace_days", c.GraceDays, 1, maxGrace))
	if check.Err() == nil {
		r.hold(old, today)
	}
	if old.Version == 0 {
		c.readBefore(check, &r, today)
	}
	return r, check.Err()
}

// longest returns the last day that a month has in any year.
func longest(month time.Month) int64 {
	const leap = 2028
	return int64(time.Date(leap, month+1, 0, 0, 0, 0, 0, time.UTC).Day())
}

// hold delays what would end too soon: a rule that is set for the first time, or again, ends nothing for a while. What has no
// last day may have an old day of inactivity, from before another rule: so a rule of inactivity begins with a full period.
func (r *Rule) hold(old Rule, today time.Time) {
	if old.Rule == core.NeverExpire {
		r.Hold = later(r.Hold, today.AddDate(0, 0, firstHold))
	}
	if idle := r.IdleDay(today); idle != nil && old.Version > 0 && old.Rule != core.ExpireInactive {
		r.Hold = later(r.Hold, *idle)
	}
}

// readBefore reads when what customers had before ends.
func (c Change) readBefore(check *core.Check, r *Rule, today time.Time) {
	earliest := today.AddDate(0, 0, firstHold)
	var last *time.Time
	switch c.Before {
	case BeforePeriod:
		if check.Err() != nil {
			return // there is no period
		}
		last = new(later(*r.Earned(today), earliest))
	case BeforeDay:
		if last = c.BeforeOn; last == nil && check.OK("before_on") {
			check.Add("before_on", core.Required)
		} else if last != nil && last.Before(earliest) {
			check.Add("before_on", core.Violation{Rule: "days_ahead", Limit: firstHold})
		}
	case BeforeNever:
	default:
		check.Add("before", core.InvalidChoice)
	}
	if r.Rule == core.ExpireInactive {
		r.OpeningIdleOn = last
	} else {
		r.OpeningExpiresOn = last
	}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
