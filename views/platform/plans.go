package platform

import "example.com/loyalty/views/ui"

// PlanList is all plans.
type PlanList struct {
	Frame
	Rows    []PlanRow
	NewPath string
}

// PlanRow is a line of the list.
type PlanRow struct {
	ID, Name, Path          string
	Monthly, Yearly         string
	Customers, Staff, Sends string // the limits
	Tenants                 string
	TenantsPath             string // "" where there are none
	Retired                 bool
	ReopenPath              string // "" where it is open
}

// PlanForm makes or changes a plan.
type PlanForm struct {
	Frame
	Action, Cancel          string
	Button                  string
	Name, Currency          ui.Field
	Monthly, Yearly         ui.Field
	Customers, Staff, Sends ui.Field
	Note                    string // what a change means for those who are on it
	FormKey                 string // of a new plan
	Original                string // of one that is there
	Problem                 *ui.Problem
	Retire, Reopen, Delete  string // where these lead; "" where that is not possible
}
