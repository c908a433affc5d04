package reports

import (
	"slices"

	"github.com/a-h/templ"

	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Dashboard shows the business's figures of a range of days. It has none if its dates were refused.
type Dashboard struct {
	panel.Frame
	Setup    templ.Component // leads back to the setup guide; nil: it is finished
	Form     ui.Form         // the dates
	Period   string          // the name of the chosen period; "": own dates
	Overview report.Overview
	Feed     report.Feed
}

// TopOfDashboard is how many top customers the dashboard shows.
const TopOfDashboard = 6

func (v Dashboard) refused() bool { return !v.Form.Problem().None() }

// days are the chosen days in words.
func (v Dashboard) days() string {
	if v.refused() {
		return "Choose dates"
	}
	return format.Days(v.Overview.From, v.Overview.To)
}

// dayFields are the fields of own dates, with what was typed or the chosen days.
func (v Dashboard) dayFields() (from, to ui.Field) {
	from, to = v.Form.Field("from", ui.Field{Label: "From"}), v.Form.Field("to", ui.Field{Label: "To"})
	if !v.refused() {
		from.Value, to.Value = isoDate(v.Overview.From), isoDate(v.Overview.To)
	}
	return from, to
}

// worth is the cost of what is outstanding: one unit's, or both units'.
func worth(o report.Outstanding) (costs []report.Cost) {
	if o.PointsCost != nil && o.Points > 0 {
		costs = append(costs, *o.PointsCost)
	}
	if o.StampsCost != nil && o.Stamps > 0 {
		costs = append(costs, *o.StampsCost)
	}
	return costs
}

// costMeaning explains the cost of what is outstanding, in one sentence.
func costMeaning(o report.Outstanding) string {
	costs, unit := worth(o), "point"
	switch {
	case len(costs) == 0:
		return "What customers can still spend on rewards"
	case !slices.ContainsFunc(costs, func(c report.Cost) bool { return c.Least != c.Most }):
		return "What customers can still spend, and what the rewards for it would cost you"
	case o.PointsCost == nil || o.Points <= 0:
		unit = "stamp"
	case len(costs) == 2:
		unit = "point or stamp"
	}
	return rangeMeaning(unit)
}
