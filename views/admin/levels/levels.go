// Package levels has the pages about the levels that customers rise to.
package levels

import (
	"strconv"
	"time"

	"example.com/loyalty/core/award"
	"example.com/loyalty/core/level"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Overview shows the levels and their rules.
type Overview struct {
	panel.Settings
	Stored level.Settings
}

// RulesForm changes how customers rise.
type RulesForm struct {
	panel.Settings
	Stored level.Setup
	Form   ui.Form
}

// LevelForm adds a level, or changes one.
type LevelForm struct {
	panel.Settings
	Stored level.Setup
	Old    *award.Level // nil: a new one
	Form   ui.Form
}

// isFirst reports whether it is about the level that everyone has.
func (v LevelForm) isFirst() bool { return v.Old != nil && v.Old.Rank == 0 }

// Preview is what a change would do, before it is saved.
type Preview struct {
	panel.Settings
	level.Preview
	Button string
	Danger bool
	Sent   []ui.Pair
}

// The kinds of changes that forms send as "change".
const (
	ChangeRules  = "rules"
	ChangeLevel  = "level"
	ChangeRetire = "retire"
	ChangeOn     = "on"
	ChangeOff    = "off"
)

// rulesInWords says how customers rise.
func rulesInWords(s level.Setup) string {
	words := "Customers rise by " + bases[s.Basis] + ". "
	if s.Period == award.ByYear {
		words += "Sales count within a year that begins on " + strconv.Itoa(s.Day) + " " + s.Month.String() + ", and none from before " + format.LongDay(s.StartsOn) + "."
	} else {
		words += "All sales count from " + format.LongDay(s.StartsOn) + " on."
	}
	switch {
	case s.Period == award.ByYear && s.Drops:
		words += " A level lasts until the end of the next year, and longer if it is earned again."
	default:
		words += " A level that is reached is kept."
	}
	return words
}

var bases = map[award.Basis]string{
	award.ByPoints: "the points that their sales earn, without promotions", award.BySpend: "what they spend", award.ByVisits: "how often they buy",
}

// fromInWords is what a level asks.
func fromInWords(by format.Reader, s level.Setup, l award.Level) string {
	if l.Threshold == 0 {
		return "Every customer"
	}
	return "From " + format.Counts(l.Threshold, s.Basis, by.By.Tenant.Currency)
}

// earnsInWords is what a level adds to what sales earn.
func earnsInWords(l award.Level) string {
	if l.Percent == 100 {
		return "Sales earn the usual points and stamps"
	}
	return "Sales earn " + format.Number(l.Percent-100) + "% more"
}

// countedInWords says how far earlier sales are counted. Levels are counted twice while they are frozen: for the sums, then for who rises.
func countedInWords(s level.Settings) string {
	of := format.Number(s.Counted.Customers) + " of " + format.Count(s.Counted.Of, "customer", "customers")
	if s.Frozen {
		return "Counting earlier sales: " + of
	}
	return "Looking for customers who rise: " + of
}

// effects are what a change would do, in sentences.
func (v Preview) effects() (effects []string) {
	after := v.After
	switch {
	case v.Before.Active && !after.Active:
		effects = []string{
			"Customers no longer see a level, and their sales earn the usual points and stamps.",
			"Levels are kept. If you launch them again, sales from before are counted first.",
		}
		if asking := v.asking(); asking != "" {
			effects = append(effects, "All customers can use what asks for a level: "+asking+".")
		}
		return effects
	case !after.Active && v.Before.Version == 0:
		return []string{"Customers see nothing until you launch levels. Add levels first."}
	case v.Uncounted && !after.Active:
		return append(effects, "Levels are off. There are too many sales to count on this page how many customers would rise at a launch.")
	case v.Uncounted:
		return append(effects, "There are too many sales to count on this page how many customers rise. They are counted in the background once you confirm, "+
			"which can take some minutes. Sales go on meanwhile.", "No one loses a level before its last day.")
	case !after.Active:
		effects = append(effects, "Levels are off. At their launch, "+format.Count(v.Rise, "customer", "customers")+" would rise.")
		return effects
	case v.Rise == 0:
		effects = append(effects, "No customer rises at once.")
	default:
		effects = append(effects, format.Count(v.Rise, "customer rises", "customers rise")+" at once.")
	}
	switch {
	case v.Short > 0:
		effects = append(effects, "No one loses a level before its last day. "+format.Count(v.Short, "customer", "customers")+" would lose theirs then, unless they earn it again.")
	case v.Before.Active:
		effects = append(effects, "No one loses a level before its last day.")
	}
	if asking := v.asking(); asking != "" {
		effects = append(effects, "This level is asked for by "+asking+". Only customers who still have it, or a higher level, can use them.")
	}
	if after.Frozen {
		effects = append(effects, "Earlier sales are counted first, which can take some minutes. Sales go on meanwhile.")
	}
	return effects
}

// asking is what asks for a level that goes: 2 rewards and 1 coupon; "": nothing does.
func (v Preview) asking() string {
	var words []string
	if n := v.Asking.Rewards; n > 0 {
		words = append(words, format.Count(n, "reward", "rewards"))
	}
	if n := v.Asking.Coupons; n > 0 {
		words = append(words, format.Count(n, "coupon", "coupons"))
	}
	return format.And(words)
}

// shares are how many customers would have each level.
func (v Preview) shares() (pairs []ui.Pair) {
	if !v.After.Active || v.Uncounted {
		return nil
	}
	for _, l := range v.After.Levels {
		if n := v.Customers[l.ID]; n > 0 || !l.Retired {
			pairs = append(pairs, ui.Pair{Name: l.Name, Value: format.Count(n, "customer", "customers")})
		}
	}
	return pairs
}

func months() (options []ui.Option) {
	for m := time.January; m <= time.December; m++ {
		options = append(options, ui.Option{Value: strconv.Itoa(int(m)), Label: m.String()})
	}
	return options
}
