// Package setup is the HTML of the setup guide.
package setup

import (
	"slices"
	"strconv"

	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Guide is the frame of a page of the guide.
type Guide struct {
	panel.Frame
	Progress tenant.Setup
	Step     tenant.Step // "" at the end
	FormKey  string
}

// Business is the step of country, currency and time zone.
type Business struct {
	Guide
	Form       ui.Form
	Stored     tenant.Settings
	Countries  []ui.Option
	Currencies []ui.Option
	TimeZones  []ui.Group
	Phones     []panel.PhoneConflict
	Example    Example
}

// Rule is the step of the earning rule.
type Rule struct {
	Guide
	Form    ui.Form
	Old     *transaction.Type // nil: there is none yet
	Example Example
}

// FirstType is the name of the first transaction type.
const FirstType = "Purchase"

// Reward is the step of the first reward.
type Reward struct {
	Guide
	Form    ui.Form
	Old     *reward.Reward    // nil: there is none yet
	Rule    *transaction.Type // nil: nothing can be earned yet
	Unit    ledger.Unit       // of the cost
	Example Example
}

// Customer is the step of the first customer.
type Customer struct {
	Guide
	Form        ui.Form
	Added       *customer.Customer // nil: there is none yet
	JoinAddress string
}

// Sale is the step of the first sale.
type Sale struct {
	Guide
	Form     ui.Form
	Recorded *transaction.Detail // nil: there is none yet
	Buyer    *customer.Customer  // nil: a step is missing
	Example  Example
}

// stepWords name and explain a step.
type stepWords struct{ icon, label, about, intro string }

var words = map[tenant.Step]stepWords{
	tenant.BusinessStep: {"map-pin", "Country and currency", "Where you are", "Used for amounts, dates and phone numbers."},
	tenant.RuleStep:     {"coins", "Earning rule", "Points or stamps", "You can change this later. Earned points and stamps stay."},
	tenant.RewardStep:   {"gift", "First reward", "For example a free coffee", "You can add more rewards at any time."},
	tenant.CustomerStep: {"user-plus", "First customer", "Try it with yourself", "Add yourself to see what your customers see."},
	tenant.SaleStep:     {"cash-register", "First sale", "See the points arrive", "This is a real sale. You can void it afterwards."},
}

// heading returns the heading of the page and the sentence below it.
func (v Guide) heading() (heading, intro string) {
	left := v.Progress.Left()
	switch {
	case v.Step == tenant.SaleStep && v.Progress.SaleID != nil:
		return "Sale recorded", ""
	case v.Step != "":
		return words[v.Step].label, words[v.Step].intro
	case len(left) > 0:
		return stepsLeft(left), "You skipped these. Do them now, or come back from the dashboard."
	}
	return "Your programme is ready", "You can change everything at any time."
}

func stepsLeft(left []tenant.Step) string {
	return format.Count(int64(len(left)), "step", "steps") + " left"
}

// placeOf is the place of a step: 2 of 5.
func placeOf(step tenant.Step) string {
	return strconv.Itoa(slices.Index(tenant.Steps, step)+1) + " of " + strconv.Itoa(len(tenant.Steps))
}

// about describes a step in the list of the steps, or says that it is done or skipped.
func (v Guide) about(step tenant.Step) string {
	switch done := v.Progress.Done(step); {
	case done && step == tenant.BusinessStep:
		return v.business()
	case done && step != v.Step:
		return "Done"
	case !done && v.Progress.DoneOrSkipped(step):
		return "Skipped"
	}
	return words[step].about
}

// state is the same for screen readers, without a description.
func (v Guide) state(step tenant.Step) string {
	switch {
	case v.Progress.Done(step):
		return "done"
	case v.Progress.DoneOrSkipped(step):
		return "skipped"
	}
	return "to do"
}

// business is the business's country and currency: Sweden, EUR (€).
func (v Guide) business() string {
	t := v.By.Tenant
	if t.Country == "" {
		return format.Currency(t.Currency)
	}
	return format.Country(t.Country) + ", " + format.Currency(t.Currency)
}

// canSkip reports whether the step can be skipped. That of the country can't be skipped without one.
func (v Guide) canSkip() bool {
	return v.Step != "" && !v.Progress.DoneOrSkipped(v.Step) && (v.Step != tenant.BusinessStep || v.By.Tenant.Country != "")
}

// back is the page of the step before; "": this is the first one.
func (v Guide) back() string {
	if at := slices.Index(tenant.Steps, v.Step); at > 0 {
		return links.SetupStep(tenant.Steps[at-1])
	}
	return ""
}

// next is the page of the step that comes next.
func (v Guide) next() string { return links.SetupStep(v.Progress.NextAfter(v.Step)) }
