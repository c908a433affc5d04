package panel

// PlanNotice warns that a plan limit is almost or fully used.
type PlanNotice struct {
	Reached bool
	Words   string
	Path    string // the billing page; "" for people who may not see it
}
