package award

import (
	"slices"
	"time"

	"example.com/loyalty/core/ledger"
)

// Basis is what raises customers. It is never their balance, so spending points lowers no level.
type Basis string

// The bases.
const (
	ByPoints Basis = "points" // of sales, without what promotions and levels add
	BySpend  Basis = "spend"  // in cents, without excluded categories
	ByVisits Basis = "visits" // sales
)

// Period is what a level is earned in.
type Period string

// The periods.
const (
	ByYear  Period = "year" // the programme's, and kept until the end of the next one
	AllTime Period = "ever"
)

// LevelRules are how customers rise and drop.
type LevelRules struct {
	Basis  Basis      `json:"basis"`
	Period Period     `json:"period"`
	Month  time.Month `json:"month"` // of the first day of the programme's year
	Day    int        `json:"day"`
	Drops  bool       `json:"drops"` // a level that isn't earned again is lost at its end

	StartsOn time.Time `json:"starts_on"` // sales from this local day on count
	Frozen   bool      `json:"frozen"`    // earlier sales are being counted: sums aren't right yet, so they change no level
}

// Levels are the levels of a business. The zero Levels are none.
type Levels struct {
	LevelRules
	All []Level // by rank: the first one is everybody's; with those that are retired
}

// LevelColumns selects a Level.
const LevelColumns = `id, name, rank, threshold, percent, colour, perks, retired_at is not null as retired`

// Level is what a customer rises to.
type Level struct {
	ID        int64  `json:"id"`
	Name      string `json:"name"`
	Rank      int    `json:"rank"`
	Threshold int64  `json:"threshold"` // of the basis; 0 for the first one
	Percent   int64  `json:"percent"`   // of the base award, at least 100
	Colour    string `json:"colour"`
	Perks     string `json:"perks"`
	Retired   bool   `json:"retired"` // it can no longer be reached; customers who have it keep it until its end
}

// Exist reports whether the business has levels.
func (l Levels) Exist() bool { return l.Basis != "" && len(l.All) > 0 }

// Find returns a level, or nil.
func (l Levels) Find(id *int64) *Level {
	if id == nil {
		return nil
	}
	i := slices.IndexFunc(l.All, func(level Level) bool { return level.ID == *id })
	if i < 0 {
		return nil
	}
	return &l.All[i]
}

// First returns the level that everybody has, or nil.
func (l Levels) First() *Level {
	if len(l.All) == 0 {
		return nil
	}
	return &l.All[0]
}

// Reached returns the highest level whose threshold a sum reaches; nil: none but the first.
func (l Levels) Reached(sum int64) *Level {
	for i := len(l.All) - 1; i > 0; i-- {
		if level := &l.All[i]; !level.Retired && level.Threshold <= sum {
			return level
		}
	}
	return nil
}

// Next returns the lowest level above a rank that can be reached, or nil.
func (l Levels) Next(rank int) *Level {
	for i := range l.All {
		if level := &l.All[i]; level.Rank > rank && !level.Retired {
			return level
		}
	}
	return nil
}

// YearOf returns the programme's year of a day: that in which it begins. All time is the year 0.
func (l Levels) YearOf(day time.Time) int {
	if l.Period != ByYear {
		return 0
	}
	if year := day.Year(); !day.Before(dayOf(year, l.Month, l.Day)) {
		return year
	}
	return day.Year() - 1
}

// EndOf returns the last day of a year.
func (l Levels) EndOf(year int) time.Time { return dayOf(year+1, l.Month, l.Day).AddDate(0, 0, -1) }

// Counted is what of a sale counts for a level.
type Counted struct {
	Unit          ledger.Unit
	Base          int64
	EligibleCents int64
	SpendCents    int64
	RefundedCents int64
}

// Of returns what a sale counts. Of one that was refunded in part, that part's share doesn't count; a visit remains one.
func (l Levels) Of(c Counted) int64 {
	switch l.Basis {
	case ByPoints:
		if c.Unit == ledger.Points {
			return c.left(c.Base)
		}
	case BySpend:
		return c.left(c.EligibleCents)
	case ByVisits:
		return 1
	}
	return 0
}

// left returns the share of an amount that belongs to what wasn't refunded, rounded down.
func (c Counted) left(amount int64) int64 {
	if c.RefundedCents == 0 {
		return amount
	}
	return Part(amount, c.SpendCents-c.RefundedCents, c.SpendCents)
}

// Reason says why a customer's level changed.
type Reason string

// The reasons.
const (
	Rose     Reason = "reached"
	Kept     Reason = "kept"
	Dropped  Reason = "dropped"
	Undone   Reason = "void" // the sale with which it was reached doesn't count any more
	ByHand   Reason = "hand"
	Imported Reason = "import"
	Merged   Reason = "merge"
	NewRules Reason = "rules" // levels were switched on, or a threshold became lower
)

// Change is one change of a customer's level. Nil is the first level.
type Change struct {
	From      *int64
	To        *int64
	Reason    Reason
	FromUntil *time.Time // the last day of From
	Until     *time.Time // the last day of To; nil: it has none
	Note      *string    // why, by hand
}

// Settle returns a standing as of a day: what a level that has ended becomes and, if a threshold has become lower, a higher one.
// The job of that day makes the same of it, so it doesn't matter who is first.
func (l Levels) Settle(s ledger.Standing, today time.Time) (ledger.Standing, []Change) {
	if !l.Exist() || l.Frozen {
		return s, nil
	}
	var changes []Change
	if s.LevelUntil != nil && s.LevelUntil.Before(today) {
		changes = append(changes, l.end(&s, today))
	}
	if s.LevelBy != nil && *s.LevelBy == ledger.LevelByHand {
		return s, changes
	}
	return s, append(changes, l.raise(&s, today, NewRules)...)
}

// Sell returns a settled standing after a sale of a day that counts an amount, which may reach a level. Someone whose level was set
// by hand rises when a sale reaches another one.
func (l Levels) Sell(s ledger.Standing, day, today time.Time, amount int64) (ledger.Standing, []Change) {
	if !l.Exist() {
		return s, nil
	}
	had := l.Reached(l.best(s, today))
	s = l.Count(s, day, today, amount)
	if reached := l.Reached(l.best(s, today)); reached == had || l.Frozen {
		return s, nil
	}
	return s, l.raise(&s, today, Rose)
}

// raise sets the level that sums reach if it is higher.
func (l Levels) raise(s *ledger.Standing, today time.Time, why Reason) []Change {
	level := l.Reached(l.best(*s, today))
	if level == nil || level.Rank <= l.Rank(s.LevelID) {
		return nil
	}
	return []Change{l.change(s, level, why, l.UntilNextYear(today))}
}

// end makes of a level that has ended what the sums of the last year and this one have earned. One that was earned while levels
// were lost is kept if they aren't any more.
func (l Levels) end(s *ledger.Standing, today time.Time) Change {
	if !l.Drops && s.LevelBy != nil && *s.LevelBy == ledger.LevelEarned {
		return l.change(s, l.Find(s.LevelID), Kept, nil)
	}
	this, _ := l.sums(*s, today)
	level := l.Reached(l.best(*s, today))
	reason := Dropped
	if level != nil && level.Rank >= l.Rank(s.LevelID) {
		reason = Kept
	}
	until := l.UntilNextYear(today)
	if level != nil && level.Threshold > this && until != nil {
		until = new(l.EndOf(l.YearOf(today)))
	}
	return l.change(s, level, reason, until)
}

// change sets a level that was earned; nil is the first one, which never ends.
func (l Levels) change(s *ledger.Standing, to *Level, why Reason, until *time.Time) Change {
	c := Change{From: s.LevelID, Reason: why, FromUntil: s.LevelUntil}
	s.LevelID, s.LevelUntil, s.LevelBy = nil, nil, nil
	if to != nil {
		c.To, c.Until = &to.ID, until
		s.LevelID, s.LevelUntil, s.LevelBy = c.To, until, new(ledger.LevelEarned)
	}
	return c
}

// Count returns a standing with a sale of a day that counts an amount; without it, if the amount is below zero. Years before the
// last one count no more.
func (l Levels) Count(s ledger.Standing, day, today time.Time, amount int64) ledger.Standing {
	if day.Before(l.StartsOn) {
		return s
	}
	s.LevelSum, s.LevelSumBefore = l.sums(s, today)
	s.LevelYear = new(l.YearOf(today))
	switch *s.LevelYear - l.YearOf(day) {
	case 0:
		s.LevelSum += amount
	case 1:
		s.LevelSumBefore += amount
	}
	return s
}

// Undo returns a settled standing from which a sale of a day that counted an amount is taken back. A level that was reached in this year,
// and that the sums don't reach any more, becomes the higher of what they reach and what the customer had before, if that hasn't
// ended. changes are those of the customer, the newest first.
func (l Levels) Undo(s ledger.Standing, day, today time.Time, amount int64, changes []Dated) (ledger.Standing, []Change) {
	if !l.Exist() || s.LevelYear == nil {
		return s, nil
	}
	s = l.Count(s, day, today, -amount)
	if l.Frozen {
		return s, nil
	}
	sum, steps := l.best(s, today), stepsOf(changes)
	if !same(steps[len(steps)-1].To, s.LevelID) {
		return s, nil // a level that has just been settled
	}
	for n := len(steps); n > 1; n = len(steps) {
		last := l.Find(steps[n-1].To)
		if last == nil || steps[n-1].Reason != Rose || last.Threshold <= sum || l.YearOf(steps[n-1].On) != l.YearOf(today) {
			break
		}
		steps = steps[:n-1]
	}
	had := steps[len(steps)-1]
	if same(had.To, s.LevelID) {
		return s, nil
	}
	to, until := l.Find(had.To), had.Until
	if until != nil && until.Before(today) {
		to = nil
	}
	if reached := l.Reached(sum); reached != nil && (to == nil || reached.Rank > to.Rank) {
		to, until = reached, l.UntilNextYear(today)
	}
	return s, []Change{l.change(&s, to, Undone, until)}
}

// stepsOf returns the changes by which a customer got the level that they have, one above the other: a level that was reached
// is above the one before, and one that was undone leaves those below. What the customer had before the oldest change is the first
// step.
func stepsOf(newestFirst []Dated) []Dated {
	steps := []Dated{{}}
	for i, c := range slices.Backward(newestFirst) {
		if i == len(newestFirst)-1 {
			steps = []Dated{{Change: Change{To: c.From, Until: c.FromUntil}}}
		}
		switch c.Reason {
		case Rose:
			steps = append(steps, c)
		case Undone:
			for len(steps) > 1 && !same(steps[len(steps)-1].To, c.To) {
				steps = steps[:len(steps)-1]
			}
			if !same(steps[len(steps)-1].To, c.To) {
				steps = append(steps[:0], c)
			}
		case Kept, Dropped, ByHand, Imported, Merged, NewRules:
			steps = append(steps[:0], c)
		}
	}
	return steps
}

// Dated is a stored change and its local day.
type Dated struct {
	Change
	On time.Time
}

func same(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// Give sets a level by hand or from an import, until a day. The first level, too, is stored: it lasts until that day, whatever
// the sums reach.
func (l Levels) Give(s ledger.Standing, to *Level, why Reason, until *time.Time) (ledger.Standing, Change) {
	c := l.change(&s, to, why, until)
	s.LevelBy = new(ledger.LevelByHand)
	if why == Imported {
		s.LevelBy = new(ledger.LevelImported)
	}
	return s, c
}

// Merge returns the standing of a customer with whom another one is merged: sums add up year by year, and the higher level stays.
func (l Levels) Merge(kept, merged ledger.Standing, today time.Time) (ledger.Standing, []Change) {
	if !l.Exist() {
		return kept, nil
	}
	kept, changes := l.Settle(kept, today)
	merged, _ = l.Settle(merged, today)
	sum, before := l.sums(merged, today)
	if merged.LevelYear != nil {
		kept = l.Count(kept, today, today, sum)
		kept.LevelSumBefore += before
	}
	if l.Rank(merged.LevelID) > l.Rank(kept.LevelID) {
		by := merged.LevelBy
		changes = append(changes, l.change(&kept, l.Find(merged.LevelID), Merged, merged.LevelUntil))
		kept.LevelBy = by
	}
	return kept, append(changes, l.raise(&kept, today, Merged)...)
}

// Recount returns a standing with what a customer's sales count in the year of a day and in the one before, and the level that
// follows. A level that was earned gets a last day, or loses it, as the rules are now.
func (l Levels) Recount(s ledger.Standing, today time.Time, this, before int64) (ledger.Standing, []Change) {
	s.LevelYear, s.LevelSum, s.LevelSumBefore = new(l.YearOf(today)), this, before
	s, changes := l.Settle(s, today)
	until := l.UntilNextYear(today)
	if l.Frozen || s.LevelBy == nil || *s.LevelBy != ledger.LevelEarned || (s.LevelUntil == nil) == (until == nil) {
		return s, changes
	}
	return s, append(changes, l.change(&s, l.Find(s.LevelID), NewRules, until))
}

// FirstDay returns the first day of a year, on which sales begin to count for it. For all time, that is the day from which sales count.
func (l Levels) FirstDay(year int) time.Time {
	if l.Period != ByYear {
		return l.StartsOn
	}
	if first := dayOf(year, l.Month, l.Day); first.After(l.StartsOn) {
		return first
	}
	return l.StartsOn
}

// Earns reports whether the sums of a settled standing earn its level, so that it would be kept if it ended now.
func (l Levels) Earns(s ledger.Standing, today time.Time) bool {
	reached := l.Reached(l.best(s, today))
	return l.Rank(s.LevelID) == 0 || reached != nil && reached.Rank >= l.Rank(s.LevelID)
}

// Progress is a customer's level to show, and how far the next one is.
type Progress struct {
	Level *Level     // the first one if they have no other
	Until *time.Time // its last day; nil: it has none
	Next  *Level     // nil: there is none above
	Sum   int64      // of this year, which counts for Next
	Keeps bool       // this year's sum has earned the level again
}

// Lacking returns a level that something asks for, if the customer has neither it nor a higher one, or else nil. Nothing asks for a
// level where there are none.
func (p *Progress) Lacking(least *Level) *Level {
	if p == nil || least == nil || p.Level.Rank >= least.Rank {
		return nil
	}
	return least
}

// Progress returns a customer's level as of a day; nil if the business has none.
func (l Levels) Progress(s ledger.Standing, today time.Time) *Progress {
	if !l.Exist() {
		return nil
	}
	s, _ = l.Settle(s, today)
	p := &Progress{Level: l.Find(s.LevelID), Until: s.LevelUntil}
	if p.Level == nil {
		p.Level, p.Until = l.First(), nil
	}
	if l.Frozen {
		return p
	}
	p.Sum, _ = l.sums(s, today)
	p.Next = l.Next(p.Level.Rank)
	p.Keeps = p.Level.Rank > 0 && p.Level.Threshold <= p.Sum
	return p
}

// UntilNextYear returns the last day of a level that is reached on a day, or nil if levels are not lost.
func (l Levels) UntilNextYear(today time.Time) *time.Time {
	if l.Period != ByYear || !l.Drops {
		return nil
	}
	return new(l.EndOf(l.YearOf(today) + 1))
}

// Rank returns the rank of a level; 0 of none.
func (l Levels) Rank(id *int64) int {
	if level := l.Find(id); level != nil {
		return level.Rank
	}
	return 0
}

// sums returns what counts in the year of a day and in the one before.
func (l Levels) sums(s ledger.Standing, today time.Time) (this, before int64) {
	switch year := l.YearOf(today); {
	case s.LevelYear == nil:
	case *s.LevelYear == year:
		return s.LevelSum, s.LevelSumBefore
	case *s.LevelYear == year-1:
		return 0, s.LevelSum
	}
	return 0, 0
}

// best returns the higher sum of the two years.
func (l Levels) best(s ledger.Standing, today time.Time) int64 {
	this, before := l.sums(s, today)
	return max(this, before)
}
