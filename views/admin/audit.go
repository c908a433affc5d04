package admin

import "example.com/loyalty/views/ui"

// AuditLog is a page of who did what.
type AuditLog struct {
	Frame
	Subject  ui.Field
	Actor    ui.Field
	From, To ui.Field
	Hidden   []ui.Pair
	Record   string // the only one that is shown; "" for all
	Problem  *ui.Problem
	Rows     []ui.Entry
	Pager    ui.Pager
	Filtered bool
}
