package setup

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/admin/setup"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/page"
)

// Banner leads an owner back to the guide. It is nil for other roles and once the guide is finished.
func (h *Handlers) Banner(c echo.Context) (templ.Component, error) {
	banner, err := h.setupBanner(c)
	if err != nil || banner == nil {
		return nil, err
	}
	return views.SetupBannerCard(*banner), nil
}

// FirstSteps replaces the dashboard until the first sale: the steps of the guide, or the first three.
func (h *Handlers) FirstSteps(c echo.Context, has report.FirstSteps) error {
	setup, err := h.setupBanner(c)
	if err != nil {
		return err
	}
	v := views.FirstSteps{Frame: h.Frame(c, "Dashboard", links.Dashboard), Setup: setup, Links: afterSetup(page.Actor(c).Role)}
	if setup != nil {
		v.Steps = setup.Steps
		return h.Render(c, http.StatusOK, views.FirstStepsPage(v), nil)
	}
	v.Steps = []views.Step{
		{
			Title: "Set your earning rule", Words: "Choose what a sale earns: points for the amount spent, or a stamp.",
			Path: links.Types + "/new", Button: "Create transaction type", Done: has.TransactionType,
		},
		{
			Title: "Add your first customer", Words: "You only need a name and a phone number. Try it with your own.",
			Path: links.Customers + "/new", Button: "Add customer", Done: has.Customer,
		},
		{
			Title: "Record your first sale", Words: "The customer gets their points or stamps right away.",
			Path: links.Transactions + "/new", Button: "Record sale", Done: has.Sale,
		},
	}
	next := true
	for i := range v.Steps {
		s := &v.Steps[i]
		s.Number = strconv.Itoa(i + 1)
		s.Next = next && !s.Done
		next = next && s.Done
	}
	return h.Render(c, http.StatusOK, views.FirstStepsPage(v), nil)
}

// afterSetup is what comes next, for a role.
func afterSetup(role core.Role) []views.SetupLink {
	next := []views.SetupLink{
		{Path: page.TillPath, Icon: "cash-register", Label: "Open the point of sale", About: "Record sales and redeem rewards"},
		{Path: links.Poster, Icon: "qrcode", Label: "Print the poster", About: "Customers scan it to join"},
		{Path: links.Customers + "/import", Icon: "file-import", Label: "Import customers", About: "From a spreadsheet"},
	}
	if role.Includes(core.Owner) {
		next = append(next, views.SetupLink{Path: links.Staff, Icon: "user-plus", Label: "Invite your staff", About: "Managers and cashiers get their own sign-in"})
	}
	return next
}

// setupBanner leads an owner back to the guide. It is nil for other roles and once the guide is
// finished.
func (h *Handlers) setupBanner(c echo.Context) (banner *views.SetupBanner, err error) {
	if !page.Actor(c).Role.Includes(core.Owner) {
		return banner, nil
	}
	s, err := h.setupOf(c)
	if err != nil || s.Finished() {
		return banner, err
	}
	next := s.Next()
	where := "step " + strconv.Itoa(slices.Index(tenant.Steps, next)+1) + " of " + strconv.Itoa(len(tenant.Steps))
	if next == "" { // only skipped ones are left
		next, where = s.Left()[0], stepsLeft(s.Left())
	}
	banner = &views.SetupBanner{Where: where, Label: setupWords[next].label, Path: links.SetupStep(next)}
	for i, step := range tenant.Steps {
		banner.Steps = append(banner.Steps, views.Step{
			Number: strconv.Itoa(i + 1), Title: setupWords[step].label, Words: setupWords[step].about, Path: links.SetupStep(step),
			Done: s.Done(step), Next: step == next,
		})
	}
	return banner, nil
}
