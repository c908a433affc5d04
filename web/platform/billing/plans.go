package billing

import (
	"context"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	views "example.com/loyalty/views/platform/billing"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) planRoutes() []route.Route {
	plan := func(handle func(echo.Context, billing.Plan) error) echo.HandlerFunc {
		return page.WithRecord(h.findPlan, handle)
	}
	return []route.Route{
		route.Get(links.Plans, route.SuperAdmins, h.listPlans),
		route.Get(links.NewPlan, route.SuperAdmins, h.newPlan),
		route.Post(links.NewPlan, route.SuperAdmins, h.createPlan),
		route.Get(links.Plans+"/:id", route.SuperAdmins, plan(h.showPlan)),
		route.Post(links.Plans+"/:id", route.SuperAdmins, plan(h.editPlan)),
		route.Get(links.Plans+"/:id/retire", route.SuperAdmins, plan(h.askRetirePlan)),
		route.Post(links.Plans+"/:id/retire", route.SuperAdmins, h.retirePlan),
		route.Post(links.Plans+"/:id/reopen", route.SuperAdmins, h.reopenPlan),
		route.Get(links.Plans+"/:id/delete", route.SuperAdmins, plan(h.askDeletePlan)),
		route.Post(links.Plans+"/:id/delete", route.SuperAdmins, plan(h.deletePlan)),
	}
}

func (h *Handlers) findPlan(c echo.Context) (billing.Plan, error) {
	id, err := panel.PathNumber(c)
	if err != nil {
		return billing.Plan{}, err
	}
	return h.Invoices.Plan(c.Request().Context(), page.Actor(c), id)
}

func (h *Handlers) listPlans(c echo.Context) error {
	plans, err := h.Invoices.Plans(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.PlanListPage(views.PlanList{Frame: h.Frame(c, "Plans", links.Plans), Plans: plans}), nil)
}

// planFields are the fields of the form, by core's names.
var planFields = []string{"name", "currency", "monthly_cents", "yearly_cents", "customers_limit", "staff_limit", "sends_limit"}

// planForm is a form with the values of a plan.
func planForm(plan billing.Plan) *forms.Form {
	form := forms.Blank(map[string]string{"name": plan.Name, "currency": plan.Currency})
	form.SetAmount("monthly_cents", plan.MonthlyCents, plan.Currency)
	form.SetAmount("yearly_cents", plan.YearlyCents, plan.Currency)
	for name, n := range map[string]*int64{"customers_limit": plan.CustomersLimit, "staff_limit": plan.StaffLimit, "sends_limit": plan.SendsLimit} {
		form.Values.Set(name, "")
		if n != nil {
			form.Values.Set(name, strconv.FormatInt(*n, 10))
		}
	}
	return form
}

// planInput reads the form. Amounts are in the currency that was chosen with them.
func planInput(form *forms.Form) billing.PlanInput {
	in := billing.PlanInput{
		Name: form.Value("name"), Currency: form.Value("currency"),
		MonthlyCents: form.Amount("monthly_cents", form.Value("currency")), YearlyCents: form.Amount("yearly_cents", form.Value("currency")),
		CustomersLimit: form.Integer("customers_limit"), StaffLimit: form.Integer("staff_limit"), SendsLimit: form.Integer("sends_limit"),
	}
	in.Malformed = form.Malformed
	return in
}

// planPage shows the form of a new plan, or of an existing one.
func (h *Handlers) planPage(c echo.Context, status int, old *billing.Plan, form *forms.Form) error {
	v := views.PlanForm{
		Frame: h.Frame(c, "Create plan", links.Plans, plansCrumb()), Form: form, FormKey: h.NewFormKey(), Old: old,
		Currencies: forms.Currencies(core.OrZero(old).Currency),
	}
	if old != nil {
		v.Title = old.Name
		if old.Retired {
			v.Badge = &views.Retired
		}
	}
	return h.Render(c, status, views.PlanFormPage(v), nil)
}

func plansCrumb() ui.Crumb { return ui.Crumb{Label: "Plans", Path: links.Plans} }

func (h *Handlers) newPlan(c echo.Context) error {
	return h.planPage(c, http.StatusOK, nil, forms.Blank(map[string]string{"currency": "EUR"}))
}

func (h *Handlers) createPlan(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[billing.Plan]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[billing.Plan]) (core.Reply[billing.Plan], error) {
			return h.Invoices.CreatePlan(ctx, by, planInput(form), once)
		},
		Refused: func(status int, form *forms.Form) error { return h.planPage(c, status, nil, form) },
		To:      page.To[billing.Plan](links.Plans),
		Done:    func(plan billing.Plan) string { return "“" + plan.Name + "” was created." },
	})
}

func (h *Handlers) showPlan(c echo.Context, plan billing.Plan) error {
	return h.planPage(c, http.StatusOK, &plan, planForm(plan))
}

func (h *Handlers) editPlan(c echo.Context, plan billing.Plan) error {
	return page.Submit(h.Kit, c, page.Submission[billing.Plan]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (billing.Plan, error) {
			form.KeepStored(planForm(plan), planFields...)
			return h.Invoices.EditPlan(ctx, by, plan.ID, planInput(form))
		},
		Refused: func(status int, form *forms.Form) error { return h.planPage(c, status, &plan, form) },
		To:      page.To[billing.Plan](links.Plans),
		Done:    func(plan billing.Plan) string { return "“" + plan.Name + "” was saved." },
	})
}

func (h *Handlers) confirmPlan(c echo.Context, status int, plan billing.Plan, title string, v ui.Confirm) error {
	frame := h.Frame(c, title, links.Plans, plansCrumb(), ui.Crumb{Label: plan.Name, Path: links.Plan(plan.ID)})
	v.Cancel = links.Plan(plan.ID)
	return h.Confirm(c, status, panelviews.Confirm{Frame: frame, Confirm: v})
}

func (h *Handlers) askRetirePlan(c echo.Context, plan billing.Plan) error {
	words := "Tenants can't move to it."
	if plan.Tenants > 0 {
		words += " " + format.Count(plan.Tenants, "tenant keeps", "tenants keep") + " it, at the same price."
	}
	return h.confirmPlan(c, http.StatusOK, plan, "Retire “"+plan.Name+"”?", ui.Confirm{
		Action: links.Plan(plan.ID) + "/retire", Button: "Retire plan", Words: []string{words, "You can reopen it at any time."},
	})
}

func (h *Handlers) retirePlan(c echo.Context) error {
	return h.setPlan(c, h.Invoices.RetirePlan, "retired")
}

func (h *Handlers) reopenPlan(c echo.Context) error {
	return h.setPlan(c, h.Invoices.ReopenPlan, "reopened")
}

func (h *Handlers) setPlan(c echo.Context, set func(context.Context, core.Actor, int64) (billing.Plan, error), done string) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	plan, err := set(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	h.Flash(c, ui.Done, "“"+plan.Name+"” was "+done+".")
	return h.Redirect(c, links.Plans)
}

func (h *Handlers) askDeletePlan(c echo.Context, plan billing.Plan) error {
	return h.confirmDeletePlan(c, http.StatusOK, plan, &forms.Form{})
}

func (h *Handlers) confirmDeletePlan(c echo.Context, status int, plan billing.Plan, form *forms.Form) error {
	v := ui.Confirm{
		Action: links.Plan(plan.ID) + "/delete", Button: "Delete plan", Danger: true, Problem: form.Problem(),
		Words: []string{panel.CannotUndo},
	}
	if plan.Tenants > 0 && v.Problem.None() {
		v.Problem.Sentence = billing.ErrPlanInUse.Message
	}
	if !v.Problem.None() {
		v.Button, v.Words, v.Leave = "", nil, "Back to plan"
	}
	return h.confirmPlan(c, status, plan, "Delete “"+plan.Name+"”?", v)
}

func (h *Handlers) deletePlan(c echo.Context, plan billing.Plan) error {
	return page.Submit(h.Kit, c, page.Submission[billing.Plan]{
		Run: func(ctx context.Context, by core.Actor, _ *forms.Form) (billing.Plan, error) {
			return plan, h.Invoices.DeletePlan(ctx, by, plan.ID)
		},
		Refused: func(status int, form *forms.Form) error { return h.confirmDeletePlan(c, status, plan, form) },
		To:      page.To[billing.Plan](links.Plans),
		Done:    func(plan billing.Plan) string { return "“" + plan.Name + "” was deleted." },
	})
}
