// Package customers is the HTML of the pages about customers.
package customers

import (
	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// CustomerList is a page of the filtered customers.
type CustomerList struct {
	panel.Frame
	Filter        ui.Form
	Filtered      bool
	Tags          []string // in use
	ByName, ByAge ui.Heading
	List          []customer.Row
	Pager         ui.Pager
	Exports       *panel.Exports // nil: not for this role
}

func (v CustomerList) from() ui.Field {
	return v.day("created_from", "Created from", "Added")
}

func (v CustomerList) to() ui.Field { return v.day("created_to", "Created to", "to") }

// day is a day of the filter. Errors call it by its name, because its label is only a part of a sentence.
func (v CustomerList) day(field, name, label string) ui.Field {
	day := v.Filter.Field(field, ui.Field{Label: name})
	day.Label = label
	return day
}

// pager says why a list that was to be sorted by name isn't.
func (v CustomerList) pager() ui.Pager {
	p := v.Pager
	sorted := v.ByName.Path != "" || v.Filter.Value("sort") != string(customer.ByName)
	switch {
	case sorted || len(v.List) < 2:
	case searched(v.Filter) != "":
		p.Shown += ". Search results show newest first."
	default:
		p.Shown += ". Customers of a tag show newest first."
	}
	return p
}

// tagOptions are the tags in use, and the selected one.
func tagOptions(tags []string, selected string) []ui.Option {
	options := []ui.Option{{Label: "Any tag"}}
	for _, tag := range tags {
		if core.Fold(tag) == core.Fold(selected) {
			tag, selected = selected, ""
		}
		options = append(options, ui.Option{Value: tag, Label: tag})
	}
	if selected != "" {
		options = append(options, ui.Option{Value: selected, Label: selected})
	}
	return options
}
