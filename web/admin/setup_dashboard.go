// What the dashboard shows of the guide.

package admin

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/web/page"
)

// Banner leads an owner back to the guide. It is nil for other roles and once the guide is finished.
func (a *Admin) Banner(c echo.Context) (templ.Component, error) {
	banner, err := a.setupBanner(c)
	if err != nil || banner == nil {
		return nil, err
	}
	return views.SetupBannerCard(*banner), nil
}

// FirstSteps replaces the dashboard until the first sale: the steps of the guide, or the first three.
func (a *Admin) FirstSteps(c echo.Context, has report.FirstSteps) error {
	setup, err := a.setupBanner(c)
	if err != nil {
		return err
	}
	v := views.FirstSteps{Frame: a.frame(c, "Dashboard", dashboardPath), Setup: setup, Links: afterSetup(page.Actor(c).Role)}
	if setup != nil {
		v.Steps = setup.Steps
		return a.Render(c, http.StatusOK, views.FirstStepsPage(v), nil)
	}
	v.Steps = []views.Step{
		{
			Title: "Set your earning rule", Words: "Choose what a sale earns: points for the amount spent, or a stamp.",
			Path: typesPath + "/new", Button: "Create transaction type", Done: has.TransactionType,
		},
		{
			Title: "Add your first customer", Words: "You only need a name and a phone number. Try it with your own.",
			Path: customersPath + "/new", Button: "Add customer", Done: has.Customer,
		},
		{
			Title: "Record your first sale", Words: "The customer gets their points or stamps right away.",
			Path: transactionsPath + "/new", Button: "Record sale", Done: has.Sale,
		},
	}
	next := true
	for i := range v.Steps {
		s := &v.Steps[i]
		s.Number = strconv.Itoa(i + 1)
		s.Next = next && !s.Done
		next = next && s.Done
	}
	return a.Render(c, http.StatusOK, views.FirstStepsPage(v), nil)
}

// afterSetup is what comes next, for a role.
func afterSetup(role core.Role) []views.SetupLink {
	links := []views.SetupLink{
		{Path: page.TillPath, Icon: "cash-register", Label: "Open the point of sale", About: "Record sales and redeem rewards"},
		{Path: posterPath, Icon: "qrcode", Label: "Print the poster", About: "Customers scan it to join"},
		{Path: customersPath + "/import", Icon: "file-import", Label: "Import customers", About: "From a spreadsheet"},
	}
	if role.Includes(core.Owner) {
		links = append(links, views.SetupLink{Path: staffPath, Icon: "user-plus", Label: "Invite your staff", About: "Managers and cashiers get their own sign-in"})
	}
	return links
}

// setupBanner leads an owner back to the guide. It is nil for other roles and once the guide is
// finished.
func (a *Admin) setupBanner(c echo.Context) (banner *views.SetupBanner, err error) {
	if !page.Actor(c).Role.Includes(core.Owner) {
		return banner, nil
	}
	s, err := a.setupOf(c)
	if err != nil || s.Finished() {
		return banner, err
	}
	next := s.Next()
	where := "step " + strconv.Itoa(slices.Index(tenant.Steps, next)+1) + " of " + strconv.Itoa(len(tenant.Steps))
	if next == "" { // only skipped ones are left
		next, where = s.Left()[0], stepsLeft(s.Left())
	}
	banner = &views.SetupBanner{Where: where, Label: setupWords[next].label, Path: stepPath(next)}
	for i, step := range tenant.Steps {
		banner.Steps = append(banner.Steps, views.Step{
			Number: strconv.Itoa(i + 1), Title: setupWords[step].label, Words: setupWords[step].about, Path: stepPath(step),
			Done: s.Done(step), Next: step == next,
		})
	}
	return banner, nil
}
