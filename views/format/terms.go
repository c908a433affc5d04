package format

import (
	"example.com/loyalty/core/reward"
)

// ForLevel is for whom something is that asks for a level: For Gold and above.
func ForLevel(name string) string { return "For " + name + " and above" }

// Barrier says in a few words why a customer can't have a reward: For Gold and above; Already redeemed 2 of 2 times; From 1 June 2027.
func Barrier(b reward.Barrier) string {
	switch {
	case b.From != nil:
		return "From " + LongDay(*b.From)
	case b.Until != nil:
		return "Ended on " + LongDay(*b.Until)
	case b.Level != nil:
		return ForLevel(b.Level.Name)
	case b.Limit == 1 && b.Used == 1:
		return "Already redeemed"
	case b.Used > b.Limit:
		return "Already redeemed " + Count(b.Used, "time", "times")
	}
	return "Already redeemed " + Number(b.Used) + " of " + Number(b.Limit) + " times"
}

// RewardDays says on which days a reward is available: 1 June 2027 to 30 June 2027; From 1 June 2027. "": on all.
func RewardDays(t reward.Terms) string {
	switch {
	case t.StartsOn != nil && t.EndsOn != nil:
		return LongDay(*t.StartsOn) + " to " + LongDay(*t.EndsOn)
	case t.StartsOn != nil:
		return "From " + LongDay(*t.StartsOn)
	case t.EndsOn != nil:
		return "Until " + LongDay(*t.EndsOn)
	}
	return ""
}

// RewardTerms are what a reward asks for, in a few words each: For Gold and above, From 1 June 2027, 2 per customer.
func RewardTerms(r reward.Reward) (terms []string) {
	if r.LevelName != nil {
		terms = append(terms, ForLevel(*r.LevelName))
	}
	if days := RewardDays(r.Terms); days != "" {
		terms = append(terms, days)
	}
	if r.MaxPerCustomer != nil {
		terms = append(terms, Number(*r.MaxPerCustomer)+" per customer")
	}
	return terms
}
