// Package people is the HTML of the pages about staff, API tokens and the audit log.
package people

import (
	"example.com/loyalty/core/audit"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// AuditLog shows a page of the audit log.
type AuditLog struct {
	panel.Frame
	Filter   ui.Form
	Filtered bool
	OfRecord bool   // the entries of one record
	Record   string // its name; "": unknown
	Rows     []ui.Entry
	Pager    ui.Pager

	// Choices of the filters, which a fragment doesn't need.
	Subjects []ui.Option
	People   []audit.Person
}

// days are the filters for a range of days.
func (v AuditLog) days() (from, to ui.Field) {
	return v.Filter.Field("from", ui.Field{Label: "From"}), v.Filter.Field("to", ui.Field{Label: "To"})
}
