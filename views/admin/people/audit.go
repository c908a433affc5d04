// Package people is the HTML of the pages about staff, API tokens and the audit log.
package people

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// AuditLog shows a page of the audit log.
type AuditLog struct {
	panel.Frame
	Subject  ui.Field
	Actor    ui.Field
	From, To ui.Field
	Hidden   []ui.Pair // filters without an input
	Record   string    // the record that the list is limited to; "": all
	Problem  *ui.Problem
	Rows     []ui.Entry
	Pager    ui.Pager
	Filtered bool
}
