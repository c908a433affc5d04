package customers

import (
	"strconv"

	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// options are the levels that can be reached.
func (v LevelChange) options() (options []ui.Option) {
	for _, l := range v.Level.All {
		if !l.Retired {
			options = append(options, ui.Option{Value: strconv.FormatInt(l.ID, 10), Label: l.Name})
		}
	}
	return options
}

// usualEnd says what an empty last day means.
func (v LevelChange) usualEnd() string {
	if until := v.Level.UntilNextYear(v.Today()); until != nil {
		return "Empty: until " + format.LongDay(*until)
	}
	return "Empty: it has none"
}
