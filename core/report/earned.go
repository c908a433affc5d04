package report

import (
	"cmp"
	"slices"
	"time"

	"example.com/loyalty/core"
)

// Earned says when what customers can spend was earned, as far as last days tell it. Its amounts add up to Endings.Total.
//
// By a rule that dates what is earned, a last day is one of few days later, so it tells the month of earning exactly. Nothing
// else does: customers spend what ends the soonest, and without last days nothing says which of their points they have spent.
type Earned struct {
	Times   []EarnedIn // in order
	Undated int64      // without a last day
	Apart   int64      // with a last day that no rule gave: imported, or returned by a voided redemption after its last day
	Unclear int64      // with a last day for which the rules name several times, or none

	Forgotten bool // the audit log no longer has each change of the rule, so no last day is clear
}

// Known is what was earned at a known time. It saturates.
func (e Earned) Known() (n int64) {
	for _, at := range e.Times {
		n = plus(n, at.Amount)
	}
	return n
}

// EarnedIn is what was earned in a time: whole months, or by a yearly rule the days that have one last day.
type EarnedIn struct {
	Period // a zero From: or earlier, since it has what was there before the first rule
	Amount int64
}

// isMonth reports whether it is one month.
func (e EarnedIn) isMonth() bool {
	return e.From.Day() == 1 && e.To.Equal(Monthly.next(e.From).AddDate(0, 0, -1))
}

// recordedWithin is how many days later a sale may be recorded than it was made (transaction.RecordedWithin).
const recordedWithin = 3

// unitRule is the rule of a unit and how often it was changed.
type unitRule struct {
	Rule             core.ExpiryRule
	Months           int
	RoundTo          core.Rounding
	Month            time.Month
	Day              int
	BegunAt          time.Time
	OpeningExpiresOn *time.Time // of what was there before the first rule
	Version          int64
}

// ruleChange is what a change of a rule set, as the audit log has it. The first one set the first rule.
type ruleChange struct {
	At      time.Time
	Rule    *core.ExpiryRule
	Months  *int
	RoundTo *core.Rounding
	Month   *time.Month
	Day     *int
}

// datingRule is a rule and the first and the last local day on which it dated awards.
type datingRule struct {
	core.Expiry
	from, to time.Time
}

// follow keeps what the rule of a unit and its changes tell about last days.
func (c *countedEndings) follow(now unitRule, changes []ruleChange, at time.Time, zone *time.Location) {
	rules, known := datingRules(now, changes, core.DateOf(at, zone), zone)
	c.rules, c.forgotten, c.begun, c.opening = rules, !known, core.DateOf(now.BegunAt, zone), now.OpeningExpiresOn
}

// datingRules are the rules of a unit, in order. They are unknown if the audit log no longer has each change. A rule that never
// changed needs no log.
func datingRules(now unitRule, changes []ruleChange, today time.Time, zone *time.Location) (rules []datingRule, known bool) {
	rule := dating(core.Expiry{Rule: now.Rule, Months: now.Months, RoundTo: now.RoundTo, Month: now.Month, Day: now.Day})
	if now.Version == 1 {
		return []datingRule{{rule, core.DateOf(now.BegunAt, zone), today}}, true
	}
	if int64(len(changes)) != now.Version {
		return nil, false
	}
	var e core.Expiry
	for _, c := range changes {
		e = c.change(e)
		from, last := core.DateOf(c.At, zone), len(rules)-1
		if last >= 0 {
			rules[last].to = from
		}
		if last < 0 || rules[last].Expiry != dating(e) {
			rules = append(rules, datingRule{dating(e), from, today})
		} else {
			rules[last].to = today
		}
	}
	return rules, dating(e) == rule
}

// dating is what a rule's last days depend on.
func dating(e core.Expiry) core.Expiry {
	switch e.Rule {
	case core.ExpireAfter:
		return core.Expiry{Rule: e.Rule, Months: e.Months, RoundTo: e.RoundTo}
	case core.ExpireYearly:
		return core.Expiry{Rule: e.Rule, Month: e.Month, Day: e.Day}
	case core.NeverExpire, core.ExpireInactive:
	}
	return core.Expiry{}
}

// change returns a rule after a change, which names only what it changed.
func (c ruleChange) change(e core.Expiry) core.Expiry {
	set(&e.Rule, c.Rule)
	set(&e.Months, c.Months)
	set(&e.RoundTo, c.RoundTo)
	set(&e.Month, c.Month)
	set(&e.Day, c.Day)
	return e
}

func set[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}

// earned returns the days on which the rule gave a last day: for a rule of months after earning, their whole months.
func (r datingRule) earned(last time.Time) (p Period, ok bool) {
	first := last
	switch r.Rule {
	case core.ExpireAfter:
		first = Monthly.start(last).AddDate(0, -r.Months, 0)
		switch r.RoundTo {
		case core.ToQuarter:
			first = first.AddDate(0, -2, 0)
		case core.ToYear:
			first = first.AddDate(0, -11, 0)
		case core.ToDay, core.ToMonth:
		}
	case core.ExpireYearly:
		first = last.AddDate(-1, 0, -core.YearlyNotice-1)
	case core.NeverExpire, core.ExpireInactive, "":
		return p, false
	}
	from, to := r.from.AddDate(0, 0, -recordedWithin), r.to
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		end := *r.LastDay(day)
		if end.After(last) {
			break
		}
		if end.Equal(last) && !day.Before(from) && !day.After(to) {
			if !ok {
				p.From, ok = day, true
			}
			p.To = day
		}
	}
	if ok && r.Rule == core.ExpireAfter {
		p = Period{Monthly.start(p.From), Monthly.next(Monthly.start(p.To)).AddDate(0, 0, -1)}
	}
	return p, ok
}

// newEarned tells when what is left was earned.
func newEarned(c countedEndings, today time.Time) Earned {
	e := Earned{Forgotten: c.forgotten}
	amounts, times := map[Period]int64{}, map[time.Time]*Period{}
	for _, l := range c.left {
		if l.Day == nil || l.Idle {
			e.Undated = plus(e.Undated, l.Amount)
			continue
		}
		at, known := times[*l.Day]
		if !known {
			at = c.earnedBy(*l.Day)
			times[*l.Day] = at
		}
		switch {
		case l.Apart:
			e.Apart = plus(e.Apart, l.Amount)
		case at == nil:
			e.Unclear = plus(e.Unclear, l.Amount)
		default:
			amounts[*at] = plus(amounts[*at], l.Amount)
		}
	}
	for at, amount := range amounts {
		e.Times = append(e.Times, EarnedIn{at, amount})
	}
	slices.SortFunc(e.Times, func(a, b EarnedIn) int { return cmp.Or(a.To.Compare(b.To), a.From.Compare(b.From)) })
	e.fill(today)
	return e
}

// earnedBy returns when what has a last day was earned, or nil if that isn't clear.
func (c countedEndings) earnedBy(last time.Time) *Period {
	var found *Period
	isOpening := c.opening != nil && c.opening.Equal(last)
	for _, r := range c.rules {
		p, ok := r.earned(last)
		switch {
		case !ok || found != nil && *found == p:
		case found == nil:
			found = &p
		case !isOpening:
			return nil
		default:
			found.To = p.To
		}
	}
	if isOpening {
		begun := Monthly.next(Monthly.start(c.begun)).AddDate(0, 0, -1)
		if found == nil || found.To.Before(begun) {
			found = &Period{To: begun}
		}
		found.From = time.Time{}
	}
	return found
}

// fill adds the months without any between others, up to the present one.
func (e *Earned) fill(today time.Time) {
	if slices.ContainsFunc(e.Times, func(t EarnedIn) bool { return !t.From.IsZero() && !t.isMonth() }) {
		return
	}
	var filled []EarnedIn
	for i, t := range e.Times {
		filled = append(filled, t)
		next := Monthly.next(Monthly.start(today))
		if i+1 < len(e.Times) {
			next = e.Times[i+1].From
		}
		for month := t.To.AddDate(0, 0, 1); month.Before(next); month = Monthly.next(month) {
			filled = append(filled, EarnedIn{Period: Period{month, Monthly.next(month).AddDate(0, 0, -1)}})
		}
	}
	e.Times = filled
}

const unitRuleSQL = `
	select expiry as rule, coalesce(months, 0) as months, coalesce(round_to, '') as round_to, coalesce(yearly_month, 0) as month,
		coalesce(yearly_day, 0) as day, begun_at, opening_expires_on, version
	from loyalty.programme
	where tenant_id = @tenant_id
		and unit = @unit`

// Each of them since the first rule was set.
const ruleChangesSQL = `
	select created_at as at, new ->> 'expiry' as rule, (new ->> 'months')::int as months, new ->> 'round_to' as round_to,
		(new ->> 'yearly_month')::int as month, (new ->> 'yearly_day')::int as day
	from loyalty.audit_entry
	where tenant_id = @tenant_id
		and action = 'programme.edit'
		and subject_kind = 'programme'
		and subject_id = @unit
	order by id`
