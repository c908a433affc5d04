package settings

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// NotificationList is what needs attention.
type NotificationList struct {
	panel.Frame
	Rows         []NotificationRow
	SettingsPath string // "" for people who can't change them
}

// NotificationRow is a notification.
type NotificationRow struct {
	Icon    string
	Urgent  bool
	Title   string
	Advice  string
	Path    string // of what it is about
	At      string // for machines
	When    string
	New     bool   // not seen before
	Dismiss string // the action
}

// StaffDay lists a person's voids and adjustments of a day.
type StaffDay struct {
	panel.Frame
	Summary string
	Audit   string // the person's entries of the audit log
	Rows    []StaffDayRow
}

// StaffDayRow is a void or an adjustment.
type StaffDayRow struct {
	When         string
	What         string
	Path         string // of the sale or the redemption; "" for an adjustment
	Customer     string
	CustomerPath string
	Reason       string
}

// NotificationSettings is the settings page with the thresholds.
type NotificationSettings struct {
	panel.Settings
	Action        string
	Problem       *ui.Problem
	Began         string
	StockLow      ui.Field
	CouponPercent ui.Field
	PendingDays   ui.Field
	StaffDaily    ui.Field
	StaffFactor   ui.Field
}

// Fields returns the fields of the form.
func (v *NotificationSettings) Fields() []*ui.Field {
	return []*ui.Field{&v.StockLow, &v.CouponPercent, &v.PendingDays, &v.StaffDaily, &v.StaffFactor}
}
