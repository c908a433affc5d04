package panel

import (
	"strconv"

	"example.com/loyalty/core/award"
	"example.com/loyalty/core/level"
	"example.com/loyalty/views/ui"
)

// LevelField is the field for the lowest level that something asks for. The first level is everybody's. A level that was chosen
// before can stay, whatever has become of it. Without a level to choose, the field has no options.
func LevelField(form ui.Form, of level.Setup, chosen *int64) ui.Field {
	field := ui.Field{Label: "For"}
	for i, l := range of.Levels {
		if before := chosen != nil && *chosen == l.ID; i > 0 && of.Active && !l.Retired || before {
			option := ui.Option{Value: strconv.FormatInt(l.ID, 10), Label: l.Name + " and above"}
			if l.Retired {
				option.Label += " (retired)"
			}
			field.Options = append(field.Options, option)
		}
	}
	if len(field.Options) > 0 {
		field.Options = append([]ui.Option{{Label: "All customers"}}, field.Options...)
	}
	return form.Field("min_level_id", field)
}

// LevelWarning says who can have what asks for a level that customers can't rise to any more; "": they can. can is what they can
// do, such as "redeem it".
func LevelWarning(of level.Setup, asks *int64, can string) string {
	l := of.Find(asks)
	switch {
	case l == nil:
		return ""
	case !of.Active:
		return "Levels are switched off, so all customers can " + can + "."
	case !l.Retired:
		return ""
	}
	if next := (award.Levels{All: of.Levels}).Next(l.Rank); next != nil {
		return l.Name + " is retired. Customers who still have it, and those who reach " + next.Name + ", can " + can + "."
	}
	return l.Name + " is retired and no level is above it. Only customers who still have it can " + can + "."
}
