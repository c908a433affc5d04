package setup

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/admin/setup"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) setupRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Setup, route.Owners, h.continueSetup),
		route.Get(links.SetupDone, route.Owners, h.setupDone),
		route.Post(links.SkipSetup, route.Owners, h.skipStep),
		route.Post(links.DismissSetup, route.Owners, h.dismissSetup),
		route.Get(links.SetupStep(tenant.BusinessStep), route.Owners, h.showBusiness),
		// A new country normalises the phone numbers of all customers again.
		route.Post(links.SetupStep(tenant.BusinessStep), route.Owners, h.saveBusiness).AsFile(),
		route.Post(links.SetupPreview(tenant.BusinessStep), route.Owners, h.previewBusiness),
		route.Get(links.SetupStep(tenant.RuleStep), route.Owners, h.showRule),
		route.Post(links.SetupStep(tenant.RuleStep), route.Owners, h.saveRule),
		route.Post(links.SetupPreview(tenant.RuleStep), route.Owners, h.previewRule),
		route.Get(links.SetupStep(tenant.RewardStep), route.Owners, h.showReward),
		route.Post(links.SetupStep(tenant.RewardStep), route.Owners, h.saveReward),
		route.Post(links.SetupPreview(tenant.RewardStep), route.Owners, h.previewReward),
		route.Get(links.SetupStep(tenant.CustomerStep), route.Owners, h.showCustomer),
		route.Post(links.SetupStep(tenant.CustomerStep), route.Owners, h.saveCustomer),
		route.Get(links.SetupStep(tenant.SaleStep), route.Owners, h.showSale),
		route.Post(links.SetupStep(tenant.SaleStep), route.Owners, h.saveSale),
		route.Post(links.SetupPreview(tenant.SaleStep), route.Owners, h.previewSale),
	}
}

// progress reads how far the business is with the guide.
func (h *Handlers) progress(c echo.Context) (tenant.Setup, error) {
	return h.Tenants.Setup(c.Request().Context(), page.Actor(c))
}

// guide is the frame of a page of the guide. step is "" at the end.
func (h *Handlers) guide(c echo.Context, s tenant.Setup, step tenant.Step) views.Guide {
	v := views.Guide{Frame: h.Frame(c, "Set up your programme", ""), Progress: s, Step: step, FormKey: h.NewFormKey()}
	v.Assets.Stylesheets = append(slices.Clone(v.Assets.Stylesheets), static.Path("css/setup.css"))
	return v
}

// Welcome is the first page of a person who accepted an invitation. Owners get the guide, which leads
// on to the dashboard if nothing is left to set up.
func Welcome(role core.Role) string {
	if role == core.Owner {
		return links.Setup
	}
	return panel.FirstPage(role)
}

// continueSetup leads to the first step that is left, or to the dashboard.
func (h *Handlers) continueSetup(c echo.Context) error {
	s, err := h.progress(c)
	if err != nil {
		return err
	}
	if s.Finished() {
		return h.Redirect(c, links.Dashboard)
	}
	return h.Redirect(c, links.SetupStep(s.Next()))
}

// submitStep saves a step of the guide and leads on to the next one. A form that is sent again
// leads to the guide, which continues by itself.
func submitStep[T any](h *Handlers, c echo.Context, step tenant.Step, s page.Submission[T]) error {
	next, save := links.Setup, s.RunOnce
	s.RunOnce = func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[T]) (core.Reply[T], error) {
		saved, err := save(ctx, by, form, once)
		if err != nil {
			return saved, err
		}
		progress, err := h.Tenants.Setup(ctx, page.Actor(c))
		next = links.SetupStep(progress.NextAfter(step))
		return saved, err
	}
	s.To = func(T) string { return next }
	s.Done = func(T) string { return "Saved" }
	return page.Submit(h.Kit, c, s)
}

func (h *Handlers) skipStep(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	step := tenant.Step(form.Value("step"))
	s, err := h.Tenants.SkipSetupStep(c.Request().Context(), page.Actor(c), step)
	if err != nil {
		return err
	}
	return h.Redirect(c, links.SetupStep(s.NextAfter(step)))
}

func (h *Handlers) dismissSetup(c echo.Context) error {
	if _, err := h.Tenants.DismissSetup(c.Request().Context(), page.Actor(c)); err != nil {
		return err
	}
	h.Flash(c, ui.Done, "Setup guide dismissed. You can do every step from the menu.")
	return h.Redirect(c, links.Dashboard)
}

// setupDone is the end of the guide.
func (h *Handlers) setupDone(c echo.Context) error {
	s, err := h.progress(c)
	if err != nil {
		return err
	}
	if next := s.Next(); next != "" {
		return h.Redirect(c, links.SetupStep(next))
	}
	return h.Render(c, http.StatusOK, views.DonePage(h.guide(c, s, "")), nil)
}
