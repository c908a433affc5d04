package platform

import (
	"context"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/platform"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const plansPath = home + "/plans"

func (p *Platform) planRoutes() []route.Route {
	plan := func(handle func(echo.Context, billing.Plan) error) echo.HandlerFunc {
		return page.WithRecord(p.findPlan, handle)
	}
	return []route.Route{
		route.Get(plansPath, route.SuperAdmins, p.listPlans),
		route.Get(plansPath+"/new", route.SuperAdmins, p.newPlan),
		route.Post(plansPath+"/new", route.SuperAdmins, p.createPlan),
		route.Get(plansPath+"/:id", route.SuperAdmins, plan(p.showPlan)),
		route.Post(plansPath+"/:id", route.SuperAdmins, plan(p.editPlan)),
		route.Get(plansPath+"/:id/retire", route.SuperAdmins, plan(p.askRetirePlan)),
		route.Post(plansPath+"/:id/retire", route.SuperAdmins, p.retirePlan),
		route.Post(plansPath+"/:id/reopen", route.SuperAdmins, p.reopenPlan),
		route.Get(plansPath+"/:id/delete", route.SuperAdmins, plan(p.askDeletePlan)),
		route.Post(plansPath+"/:id/delete", route.SuperAdmins, plan(p.deletePlan)),
	}
}

func planPath(id int64) string { return plansPath + "/" + strconv.FormatInt(id, 10) }

func (p *Platform) findPlan(c echo.Context) (billing.Plan, error) {
	id, err := pathID(c)
	if err != nil {
		return billing.Plan{}, err
	}
	return p.Invoices.Plan(c.Request().Context(), page.Actor(c), id)
}

func (p *Platform) listPlans(c echo.Context) error {
	plans, err := p.Invoices.Plans(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	v := views.PlanList{Frame: p.frame(c, "Plans", plansPath), NewPath: plansPath + "/new"}
	for _, plan := range plans {
		row := views.PlanRow{
			ID: strconv.FormatInt(plan.ID, 10), Name: plan.Name, Path: planPath(plan.ID),
			Monthly: format.Money(plan.MonthlyCents, plan.Currency), Yearly: format.Money(plan.YearlyCents, plan.Currency),
			Customers: formatLimit(plan.CustomersLimit), Staff: formatLimit(plan.StaffLimit), Sends: formatLimit(plan.SendsLimit),
			Tenants: format.Number(plan.Tenants), Retired: plan.Retired,
		}
		if plan.Tenants > 0 {
			row.TenantsPath = page.WithQuery(tenantsPath, "plan", row.ID)
		}
		v.Rows = append(v.Rows, row)
	}
	return p.Render(c, http.StatusOK, views.PlanListPage(v), nil)
}

func formatLimit(n *int64) string {
	if n == nil {
		return "No limit"
	}
	return format.Number(*n)
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
		Name: form.Text("name"), Currency: form.Text("currency"),
		MonthlyCents: form.Amount("monthly_cents", form.Value("currency")), YearlyCents: form.Amount("yearly_cents", form.Value("currency")),
		CustomersLimit: form.Integer("customers_limit"), StaffLimit: form.Integer("staff_limit"), SendsLimit: form.Integer("sends_limit"),
	}
	in.Malformed = form.Malformed
	return in
}

// planPage shows the form of a plan, or of a new one if its id is 0.
func (p *Platform) planPage(c echo.Context, status int, plan billing.Plan, form *forms.Form) error {
	crumb := ui.Crumb{Label: "Plans", Path: plansPath}
	v := views.PlanForm{Cancel: plansPath}
	if plan.ID == 0 {
		v.Frame, v.Action, v.Button, v.FormKey = p.frame(c, "Create plan", plansPath, crumb), plansPath+"/new", "Create plan", p.NewFormKey()
	} else {
		path := planPath(plan.ID)
		v.Frame, v.Action, v.Button, v.Original = p.frame(c, plan.Name, plansPath, crumb), path, "Save plan", form.Original()
		if plan.Retired {
			v.Badge, v.Reopen = &ui.Badge{Label: "Retired", Tone: ui.Neutral}, path+"/reopen"
		} else {
			v.Retire = path + "/retire"
		}
		if plan.Tenants == 0 {
			v.Delete = path + "/delete"
		} else {
			v.Note = "Used by " + format.Count(plan.Tenants, "tenant", "tenants") + ". New limits apply at once, a new price from the next billing period."
		}
	}
	v.Name, v.Currency = form.Field("name", "Name"), form.Field("currency", "Currency")
	v.Monthly, v.Yearly = form.Field("monthly_cents", "Monthly price"), form.Field("yearly_cents", "Yearly price")
	v.Customers, v.Staff, v.Sends = form.Field("customers_limit", "Customers"), form.Field("staff_limit", "Staff"), form.Field("sends_limit", "Sends a month")
	v.Problem = form.Problem()
	v.Name.MaxLength, v.Name.Autocomplete = 100, "off"
	v.Currency.Options = form.Options("currency", forms.Currencies(plan.Currency)...)
	v.Currency.ReadOnly = plan.Tenants > 0
	for _, f := range []*ui.Field{&v.Monthly, &v.Yearly} {
		f.Mode, f.Autocomplete = "decimal", "off"
	}
	for _, f := range []*ui.Field{&v.Customers, &v.Staff, &v.Sends} {
		f.Mode, f.Autocomplete, f.Optional = "numeric", "off", true
	}
	return p.Render(c, status, views.PlanFormPage(v), nil)
}

func (p *Platform) newPlan(c echo.Context) error {
	return p.planPage(c, http.StatusOK, billing.Plan{}, forms.Blank(map[string]string{"currency": "EUR"}))
}

func (p *Platform) createPlan(c echo.Context) error {
	return page.Submit(p.Kit, c, page.Submission[billing.Plan]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (billing.Plan, error) {
			return p.Invoices.CreatePlan(ctx, by, planInput(form))
		},
		Refused: func(status int, form *forms.Form) error { return p.planPage(c, status, billing.Plan{}, form) },
		To:      page.To[billing.Plan](plansPath), Once: true,
		Done: func(plan billing.Plan) string { return "“" + plan.Name + "” was created." },
	})
}

func (p *Platform) showPlan(c echo.Context, plan billing.Plan) error {
	return p.planPage(c, http.StatusOK, plan, planForm(plan))
}

func (p *Platform) editPlan(c echo.Context, plan billing.Plan) error {
	return page.Submit(p.Kit, c, page.Submission[billing.Plan]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (billing.Plan, error) {
			form.KeepStored(planForm(plan), planFields...)
			return p.Invoices.EditPlan(ctx, by, plan.ID, planInput(form))
		},
		Refused: func(status int, form *forms.Form) error { return p.planPage(c, status, plan, form) },
		To:      page.To[billing.Plan](plansPath),
		Done:    func(plan billing.Plan) string { return "“" + plan.Name + "” was saved." },
	})
}

func (p *Platform) confirmPlan(c echo.Context, status int, plan billing.Plan, title string, v ui.Confirm) error {
	frame := p.frame(c, title, plansPath, ui.Crumb{Label: "Plans", Path: plansPath}, ui.Crumb{Label: plan.Name, Path: planPath(plan.ID)})
	v.Cancel = planPath(plan.ID)
	return p.confirm(c, status, views.Confirm{Frame: frame, Confirm: v})
}

func (p *Platform) askRetirePlan(c echo.Context, plan billing.Plan) error {
	words := "Tenants can't move to it."
	if plan.Tenants > 0 {
		words += " " + format.Count(plan.Tenants, "tenant keeps", "tenants keep") + " it, at the same price."
	}
	return p.confirmPlan(c, http.StatusOK, plan, "Retire “"+plan.Name+"”?", ui.Confirm{
		Action: planPath(plan.ID) + "/retire", Button: "Retire plan", Words: []string{words, "You can reopen it at any time."},
	})
}

func (p *Platform) retirePlan(c echo.Context) error {
	return p.setPlan(c, p.Invoices.RetirePlan, "retired")
}

func (p *Platform) reopenPlan(c echo.Context) error {
	return p.setPlan(c, p.Invoices.ReopenPlan, "reopened")
}

func (p *Platform) setPlan(c echo.Context, set func(context.Context, core.Actor, int64) (billing.Plan, error), done string) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	plan, err := set(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, "“"+plan.Name+"” was "+done+".")
	return p.Redirect(c, plansPath)
}

func (p *Platform) askDeletePlan(c echo.Context, plan billing.Plan) error {
	return p.confirmDeletePlan(c, http.StatusOK, plan, &forms.Form{})
}

func (p *Platform) confirmDeletePlan(c echo.Context, status int, plan billing.Plan, form *forms.Form) error {
	v := ui.Confirm{
		Action: planPath(plan.ID) + "/delete", Button: "Delete plan", Danger: true, Problem: form.Problem(),
		Words: []string{"This can't be undone."},
	}
	if plan.Tenants > 0 && v.Problem.None() {
		v.Problem.Sentence = billing.ErrPlanInUse.Message
	}
	if !v.Problem.None() {
		v.Button, v.Words, v.Leave = "", nil, "Back to plan"
	}
	return p.confirmPlan(c, status, plan, "Delete “"+plan.Name+"”?", v)
}

func (p *Platform) deletePlan(c echo.Context, plan billing.Plan) error {
	return page.Submit(p.Kit, c, page.Submission[billing.Plan]{
		Run: func(ctx context.Context, by core.Actor, _ *forms.Form) (billing.Plan, error) {
			return plan, p.Invoices.DeletePlan(ctx, by, plan.ID)
		},
		Refused: func(status int, form *forms.Form) error { return p.confirmDeletePlan(c, status, plan, form) },
		To:      page.To[billing.Plan](plansPath),
		Done:    func(plan billing.Plan) string { return "“" + plan.Name + "” was deleted." },
	})
}
