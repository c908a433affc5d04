package promotion

import (
	"slices"
	"strconv"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
)

// Part is a record that promotions name.
type Part struct {
	ID     int64       `json:"id"`
	Name   string      `json:"name"`
	Unit   ledger.Unit `json:"unit"`   // of a type
	Active bool        `json:"active"` // it can be chosen
}

// Parts are the records of a business that promotions name, each kind in its order, and how many promotions are active.
type Parts struct {
	Types, Locations, Categories, Levels []Part
	ActivePromotions                     int64
}

// NameOf returns the name of a record, or "".
func NameOf(parts []Part, id int64) string {
	for _, p := range parts {
		if p.ID == id {
			return p.Name
		}
	}
	return ""
}

const (
	minPercent, maxPercent = 101, 1000
	maxBirthdayDays        = 366
	maxTimes               = 1_000_000
	maxMinSpend            = 1_000_000_000_000
)

// Rules of this package.
var (
	EitherGives = core.Violation{Rule: "either_gives"} // a promotion has a percentage or extra points or stamps, not both
	OtherUnit   = core.Violation{Rule: "other_unit"}   // a chosen type earns the other unit
	SameTimes   = core.Violation{Rule: "same_times"}   // a window ends when it begins
)

// validate returns a promotion as it will be stored.
func (p Promotion) validate(check *core.Check, of Parts) Promotion {
	p.Name = check.Text("name", &p.Name, maxName)
	core.OneOf(check, "unit", p.Unit, ledger.Points, ledger.Stamps)
	switch {
	case p.Percent != nil && p.Extra != nil:
		check.Add("extra", EitherGives)
	case p.Percent != nil:
		check.Integer("percent", p.Percent, minPercent, maxPercent)
	case p.Extra != nil:
		check.Integer("extra", p.Extra, 1, ledger.MaxAward)
	case check.OK("extra"):
		check.Integer("percent", nil, minPercent, maxPercent)
	}
	p.TypeIDs = chosen(check, "type_ids", p.TypeIDs, of.Types)
	otherUnit := func(t Part) bool { return t.Unit != p.Unit && slices.Contains(p.TypeIDs, t.ID) }
	if check.OK("unit") && check.OK("type_ids") && slices.ContainsFunc(of.Types, otherUnit) {
		check.Add("type_ids", OtherUnit)
	}
	p.LocationIDs = chosen(check, "location_ids", p.LocationIDs, of.Locations)
	p.CategoryIDs = chosen(check, "category_ids", p.CategoryIDs, of.Categories)
	check.Range("min_spend_cents", p.MinSpendCents, 0, maxMinSpend)
	p.validateTimes(check)
	p.validateAudience(check, of)
	if p.LimitTimes == nil {
		p.LimitPer = nil
	} else {
		check.Integer("limit_times", p.LimitTimes, 1, maxTimes)
		core.OneOf(check, "limit_per", core.OrZero(p.LimitPer), award.PerDay, award.Ever)
	}
	return p
}

// chosen returns the records that a promotion names, or nil for all.
func chosen(check *core.Check, field string, ids []int64, known []Part) []int64 {
	if len(ids) == 0 {
		return nil
	}
	if len(ids) > maxChosen {
		check.Add(field, core.MaxItems(maxChosen))
		return nil
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if slices.ContainsFunc(ids, func(id int64) bool { return NameOf(known, id) == "" }) {
		check.Add(field, core.InvalidChoice)
	}
	return ids
}

// validateTimes checks the days and hours.
func (p *Promotion) validateTimes(check *core.Check) {
	if p.StartsOn.IsZero() && check.OK("starts_on") {
		check.Add("starts_on", core.Required)
	}
	if p.EndsOn != nil && check.OK("starts_on") && p.EndsOn.Before(p.StartsOn) {
		check.Add("ends_on", core.AfterOrEqual("starts_on"))
	}
	if len(p.Windows) > MaxWindows {
		check.Add("windows", core.MaxItems(MaxWindows))
		return
	}
	windows := make([]award.Window, 0, len(p.Windows))
	for i, w := range p.Windows {
		field := "windows." + strconv.Itoa(i)
		w.Days = slices.Compact(slices.Sorted(slices.Values(w.Days)))
		switch {
		case len(w.Days) == 0:
			check.Add(field+".days", core.Required)
		case w.Days[0] < 1 || w.Days[len(w.Days)-1] > 7:
			check.Add(field+".days", core.InvalidChoice)
		}
		if w.To == award.EndOfDay {
			w.To = 0
		}
		check.Range(field+".from", int64(w.From), 0, int64(award.EndOfDay)-1)
		check.Range(field+".to", int64(w.To), 0, int64(award.EndOfDay)-1)
		if w.From == w.To && w.From != 0 && check.OK(field+".from") && check.OK(field+".to") {
			check.Add(field+".to", SameTimes)
		}
		windows = append(windows, w)
	}
	p.Windows = windows
}

// validateAudience checks for whom the promotion is. What belongs to another audience is left out.
func (p *Promotion) validateAudience(check *core.Check, of Parts) {
	if p.Audience != award.AtLevel {
		p.LevelID = nil
	}
	if p.Audience != award.OnBirthday {
		p.BirthdayDays = nil
	}
	switch p.Audience {
	case award.AtLevel:
		switch {
		case p.LevelID == nil && check.OK("level_id"):
			check.Add("level_id", core.Required)
		case p.LevelID != nil && NameOf(of.Levels, *p.LevelID) == "":
			check.Add("level_id", core.InvalidChoice)
		}
	case award.OnBirthday:
		var days *int64
		if p.BirthdayDays != nil {
			days = new(int64(*p.BirthdayDays))
		}
		check.Integer("birthday_days", days, 1, maxBirthdayDays)
	case award.Everyone, award.FirstVisit:
	default:
		check.Add("audience", core.InvalidChoice)
	}
}
