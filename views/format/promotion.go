package format

import (
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/promotion"
)

// BestCounts says what several promotions for one sale come to.
const BestCounts = "The best promotion counts."

// Promotion reads a promotion back: Double points on Tuesdays from 16:00 to 18:00 for Cakes, until 31 March 2027. The best
// promotion counts.
func (r Reader) Promotion(p award.Promotion, of promotion.Parts) string {
	return r.PromotionAlone(p, of) + " " + BestCounts
}

// PromotionAlone is Promotion without what is true of all of them.
func (r Reader) PromotionAlone(p award.Promotion, of promotion.Parts) string {
	words := []string{gives(p)}
	add := func(more string) {
		if more != "" {
			words = append(words, more)
		}
	}
	add(Windows(p.Windows))
	about := "on sales of "
	if p.CategoryIDs != nil {
		add("for " + And(partNames(p.CategoryIDs, of.Categories)))
		about = "of which the customer buys for "
	}
	if p.TypeIDs != nil {
		add("on " + Or(partNames(p.TypeIDs, of.Types)) + " sales")
	}
	if p.LocationIDs != nil {
		add("at " + And(partNames(p.LocationIDs, of.Locations)))
	}
	add(audience(p, of))
	sentence := strings.Join(words, " ")
	if p.MinSpendCents > 0 && p.CategoryIDs != nil {
		sentence += ", " + about + r.Money(p.MinSpendCents) + " or more"
	} else if p.MinSpendCents > 0 {
		sentence += " " + about + r.Money(p.MinSpendCents) + " or more"
	}
	if days := promotionDays(p, r.Today()); days != "" {
		sentence += ", " + days
	}
	sentence += "."
	if p.LimitTimes != nil && p.LimitPer != nil {
		sentence += " " + times(*p.LimitTimes)
		if *p.LimitPer == award.PerDay {
			sentence += " a day"
		}
		sentence += " for each customer."
	}
	return sentence
}

// gives is what a promotion adds: Double points, 50% more points, 10 extra points.
func gives(p award.Promotion) string {
	units := UnitName(2, p.Unit)
	switch {
	case p.Extra != nil:
		return Number(*p.Extra) + " extra " + UnitName(*p.Extra, p.Unit)
	case p.Percent == nil:
		return "More " + units
	case *p.Percent == 200:
		return "Double " + units
	case *p.Percent == 300:
		return "Triple " + units
	case *p.Percent%100 == 0:
		return Number(*p.Percent/100) + " times the " + units
	}
	return Number(*p.Percent-100) + "% more " + units
}

// Windows says at what times of the week: on Tuesdays from 16:00 to 18:00 and on Saturdays. "": always.
func Windows(windows []award.Window) string {
	var all []string
	for _, w := range windows {
		words := weekdays(w.Days)
		if w.From != w.To {
			words += " from " + w.From.String() + " to " + dayEnd(w.To).String()
		}
		all = append(all, words)
	}
	return And(all)
}

// dayEnd is a time at which a window ends, as people write the end of a day.
func dayEnd(c award.Clock) award.Clock {
	if c == 0 {
		return award.EndOfDay
	}
	return c
}

// weekdays names days of the week: every day, on Mondays and Tuesdays, from Monday to Friday.
func weekdays(days []award.Weekday) string {
	switch {
	case len(days) == 7:
		return "every day"
	case len(days) > 2 && int(days[len(days)-1]-days[0]) == len(days)-1:
		return "from " + days[0].Time().String() + " to " + days[len(days)-1].Time().String()
	}
	var names []string
	for _, d := range days {
		names = append(names, d.Time().String()+"s")
	}
	return "on " + And(names)
}

// audience says for which customers a promotion is. "": for all.
func audience(p award.Promotion, of promotion.Parts) string {
	switch p.Audience {
	case award.AtLevel:
		if p.LevelID != nil {
			return "for customers at " + promotion.NameOf(of.Levels, *p.LevelID) + " or higher"
		}
	case award.OnBirthday:
		switch {
		case p.BirthdayDays == nil:
		case *p.BirthdayDays == 1:
			return "on the customer’s birthday"
		default:
			return "in the " + Number(int64(*p.BirthdayDays)) + " days from the customer’s birthday"
		}
	case award.FirstVisit:
		return "with a customer’s first sale"
	case award.Everyone:
	}
	return ""
}

// promotionDays says on which days a promotion is, as far as they aren't over. "": on all.
func promotionDays(p award.Promotion, today time.Time) string {
	var words []string
	if p.StartsOn.After(today) {
		words = append(words, "from "+LongDay(p.StartsOn))
	}
	if p.EndsOn != nil {
		words = append(words, "until "+LongDay(*p.EndsOn))
	}
	return strings.Join(words, " ")
}

func times(n int64) string {
	switch n {
	case 1:
		return "Once"
	case 2:
		return "Twice"
	}
	return "At most " + Number(n) + " times"
}

func partNames(ids []int64, known []promotion.Part) (names []string) {
	for _, p := range known {
		if slices.Contains(ids, p.ID) {
			names = append(names, p.Name)
		}
	}
	return names
}

// And joins texts: Cakes, Tea and Coffee.
func And(texts []string) string { return joined(texts, "and") }

// Or joins texts: Cakes, Tea or Coffee.
func Or(texts []string) string { return joined(texts, "or") }

func joined(texts []string, word string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " " + word + " " + texts[last]
}

// CapReached says that the cap of a customer's day reduced what a sale earns.
func CapReached(most int64, unit ledger.Unit) string {
	return "Today’s limit of " + Units(most, unit) + " is reached"
}
