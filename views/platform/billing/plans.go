package billing

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// PlanList is all plans.
type PlanList struct {
	panel.Frame
	Rows    []PlanRow
	NewPath string
}

// PlanRow is a line of the list.
type PlanRow struct {
	ID, Name, Path          string
	Monthly, Yearly         string
	Customers, Staff, Sends string // the limits
	Tenants                 string
	TenantsPath             string // "" without tenants
	Retired                 bool
}

// PlanForm is the form of a plan.
type PlanForm struct {
	panel.Frame
	Action, Cancel          string
	Button                  string
	Name, Currency          ui.Field
	Monthly, Yearly         ui.Field
	Customers, Staff, Sends ui.Field
	Note                    string // what a change means for its tenants
	FormKey                 string // of a new plan
	Original                string // of an existing one
	Problem                 *ui.Problem
	Retire, Reopen, Delete  string // the paths of the actions; "" if not possible
}
