package sales

import (
	"slices"
	"strconv"

	"example.com/loyalty/core/promotion"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// TypeList is the list of transaction types.
type TypeList struct {
	panel.Frame
	Types      []transaction.Type
	Categories []promotion.Category // where a type excludes one
}

// TypeForm creates or edits a transaction type.
type TypeForm struct {
	panel.Frame
	Form     ui.Form
	Original string // the values before they are edited
	FormKey  string
	Old      *transaction.Type // nil: a new one
	Earns    format.Award      // of the example

	Categories []promotion.Category // that the type can exclude
}

// categoryOptions are the categories that a type can exclude: those that are active, or excluded already.
func (v TypeForm) categoryOptions() (options []ui.Option) {
	for _, c := range v.Categories {
		if c.Active || v.Old != nil && slices.Contains(v.Old.ExcludedCategories, c.ID) {
			options = append(options, ui.Option{Value: strconv.FormatInt(c.ID, 10), Label: c.Name})
		}
	}
	return options
}

// excludedNames are the categories that earn nothing in sales of a type.
func (v TypeList) excludedNames(t transaction.Type) (names []string) {
	for _, c := range v.Categories {
		if slices.Contains(t.ExcludedCategories, c.ID) {
			names = append(names, c.Name)
		}
	}
	return names
}
