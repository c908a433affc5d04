package platform

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/billing"
	views "example.com/loyalty/views/platform"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const plansPath = home + "/plans"

func (p *Platform) planRoutes() []route {
	return []route{
		{method: get, path: plansPath, handle: p.listPlans},
		{method: get, path: plansPath + "/new", handle: p.newPlan},
		{method: post, path: plansPath + "/new", handle: p.createPlan},
		{method: get, path: plansPath + "/:id", handle: p.showPlan},
		{method: post, path: plansPath + "/:id", handle: p.editPlan},
		{method: get, path: plansPath + "/:id/retire", handle: p.askRetirePlan},
		{method: post, path: plansPath + "/:id/retire", handle: p.retirePlan},
		{method: post, path: plansPath + "/:id/reopen", handle: p.reopenPlan},
		{method: get, path: plansPath + "/:id/delete", handle: p.askDeletePlan},
		{method: post, path: plansPath + "/:id/delete", handle: p.deletePlan},
	}
}

func planPath(id int64) string { return plansPath + "/" + strconv.FormatInt(id, 10) }

// listPlans shows all plans: they are few. Two round trips, with the session.
func (p *Platform) listPlans(c echo.Context) error {
	plans, err := p.Invoices.Plans(c.Request().Context(), actor(c))
	if err != nil {
		return err
	}
	v := views.PlanList{Frame: p.frame(c, "Plans", plansPath), NewPath: plansPath + "/new"}
	for _, plan := range plans {
		row := views.PlanRow{
			ID: strconv.FormatInt(plan.ID, 10), Name: plan.Name, Path: planPath(plan.ID),
			Monthly: page.Money(plan.MonthlyCents, plan.Currency), Yearly: page.Money(plan.YearlyCents, plan.Currency),
			Customers: limit(plan.CustomersLimit), Staff: limit(plan.StaffLimit), Sends: limit(plan.SendsLimit),
			Tenants: page.Number(plan.Tenants), Retired: plan.Retired,
		}
		if plan.Tenants > 0 {
			row.TenantsPath = page.WithQuery(tenantsPath, "plan", row.ID)
		}
		v.Rows = append(v.Rows, row)
	}
	return p.Render(c, http.StatusOK, views.PlanListPage(v), nil)
}

// limit is a limit of a plan in words.
func limit(n *int64) string {
	if n == nil {
		return "No limit"
	}
	return page.Number(*n)
}

// planFields are those of the form, as core names them.
var planFields = []string{"name", "currency", "monthly_cents", "yearly_cents", "customers_limit", "staff_limit", "sends_limit"}

// planForm begins with a plan as it is.
func planForm(plan billing.Plan) *page.Form {
	form := page.Blank(map[string]string{"name": plan.Name, "currency": plan.Currency})
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

// planInput is what was typed. Amounts are in the currency that was chosen with them.
func planInput(form *page.Form) billing.PlanInput {
	in := billing.PlanInput{
		Name: form.Text("name"), Currency: form.Text("currency"),
		MonthlyCents: form.Amount("monthly_cents", form.Value("currency")), YearlyCents: form.Amount("yearly_cents", form.Value("currency")),
		CustomersLimit: form.Integer("customers_limit"), StaffLimit: form.Integer("staff_limit"), SendsLimit: form.Integer("sends_limit"),
	}
	in.Malformed = form.Malformed
	return in
}

// planPage shows the form of a plan, or of one to be where its id is 0.
func (p *Platform) planPage(c echo.Context, status int, plan billing.Plan, form *page.Form) error {
	crumb := ui.Crumb{Label: "Plans", Path: plansPath}
	v := views.PlanForm{Cancel: plansPath}
	if plan.ID == 0 {
		v.Frame, v.Action, v.Button, v.FormKey = p.frame(c, "Create plan", plansPath, crumb), plansPath+"/new", "Create plan", p.NewFormKey()
	} else {
		path := planPath(plan.ID)
		v.Frame, v.Action, v.Button, v.Began = p.frame(c, plan.Name, plansPath, crumb), path, "Save plan", form.Original()
		if plan.Retired {
			v.Badge, v.Reopen = &ui.Badge{Label: "Retired", Tone: ui.Neutral}, path+"/reopen"
		} else {
			v.Retire = path + "/retire"
		}
		if plan.Tenants == 0 {
			v.Delete = path + "/delete"
		} else {
			v.Note = page.Count(plan.Tenants, "tenant is", "tenants are") + " on this plan. A new price counts from their next billing period, new limits at once."
		}
	}
	v.Name, v.Currency = form.Field("name", "Name"), form.Field("currency", "Currency")
	v.Monthly, v.Yearly = form.Field("monthly_cents", "Per month"), form.Field("yearly_cents", "Per year")
	v.Customers, v.Staff, v.Sends = form.Field("customers_limit", "Customers"), form.Field("staff_limit", "Staff"), form.Field("sends_limit", "Sends a month")
	v.Problem = form.Problem()
	v.Name.MaxLength, v.Name.Autocomplete = 100, "off"
	v.Currency.Options = form.Options("currency", page.Currencies()...)
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
	return p.planPage(c, http.StatusOK, billing.Plan{}, page.Blank(map[string]string{"currency": "EUR"}))
}

func (p *Platform) createPlan(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	by := page.IdempotentActorFor(actor(c), c, form, func(billing.Plan) string { return plansPath })
	plan, err := p.Invoices.CreatePlan(c.Request().Context(), by, planInput(form))
	if path, again := page.ReplayedPath(by, err); again {
		return p.Redirect(c, path)
	}
	if form.Refused(err) {
		return p.planPage(c, http.StatusUnprocessableEntity, billing.Plan{}, form)
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, "“"+plan.Name+"” was created.")
	return p.Redirect(c, plansPath)
}

// planOf is the plan of a path.
func (p *Platform) planOf(c echo.Context) (billing.Plan, error) {
	id, err := number(c)
	if err != nil {
		return billing.Plan{}, err
	}
	return p.Invoices.Plan(c.Request().Context(), actor(c), id)
}

func (p *Platform) showPlan(c echo.Context) error {
	plan, err := p.planOf(c)
	if err != nil {
		return err
	}
	return p.planPage(c, http.StatusOK, plan, planForm(plan))
}

func (p *Platform) editPlan(c echo.Context) error {
	plan, err := p.planOf(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	form.KeepStored(planForm(plan), planFields...)
	edited, err := p.Invoices.EditPlan(c.Request().Context(), actor(c), plan.ID, planInput(form))
	if form.Refused(err) {
		return p.planPage(c, http.StatusUnprocessableEntity, plan, form)
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, "“"+edited.Name+"” was saved.")
	return p.Redirect(c, plansPath)
}

// confirmPlan asks before something is done to a plan.
func (p *Platform) confirmPlan(c echo.Context, status int, plan billing.Plan, title string, v ui.Confirm) error {
	frame := p.frame(c, title, plansPath, ui.Crumb{Label: "Plans", Path: plansPath}, ui.Crumb{Label: plan.Name, Path: planPath(plan.ID)})
	v.Cancel = planPath(plan.ID)
	return p.confirm(c, status, views.Confirm{Frame: frame, Confirm: v})
}

func (p *Platform) askRetirePlan(c echo.Context) error {
	plan, err := p.planOf(c)
	if err != nil {
		return err
	}
	words := "No tenant can move to it any more."
	if plan.Tenants > 0 {
		words += " " + page.Count(plan.Tenants, "tenant stays", "tenants stay") + " on it and " + verb(plan.Tenants, "is", "are") + " invoiced as before."
	}
	return p.confirmPlan(c, http.StatusOK, plan, "Retire “"+plan.Name+"”?", ui.Confirm{
		Action: planPath(plan.ID) + "/retire", Button: "Retire plan", Words: []string{words, "You can reopen it at any time."},
	})
}

func verb(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func (p *Platform) retirePlan(c echo.Context) error {
	id, err := number(c)
	if err != nil {
		return err
	}
	plan, err := p.Invoices.RetirePlan(c.Request().Context(), actor(c), id)
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, "“"+plan.Name+"” is retired.")
	return p.Redirect(c, plansPath)
}

func (p *Platform) reopenPlan(c echo.Context) error {
	id, err := number(c)
	if err != nil {
		return err
	}
	plan, err := p.Invoices.ReopenPlan(c.Request().Context(), actor(c), id)
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, "“"+plan.Name+"” is open again.")
	return p.Redirect(c, plansPath)
}

func (p *Platform) askDeletePlan(c echo.Context) error {
	plan, err := p.planOf(c)
	if err != nil {
		return err
	}
	return p.confirmDeletePlan(c, http.StatusOK, plan, &page.Form{})
}

func (p *Platform) confirmDeletePlan(c echo.Context, status int, plan billing.Plan, form *page.Form) error {
	v := ui.Confirm{
		Action: planPath(plan.ID) + "/delete", Button: "Delete plan", Danger: true, Problem: form.Problem(),
		Words: []string{"It is permanently deleted. This can't be undone."},
	}
	if plan.Tenants > 0 && v.Problem.None() {
		v.Problem.Sentence = billing.ErrPlanInUse.Message
	}
	if !v.Problem.None() {
		v.Button, v.Words, v.Leave = "", nil, "Back to the plan"
	}
	return p.confirmPlan(c, status, plan, "Delete “"+plan.Name+"”?", v)
}

func (p *Platform) deletePlan(c echo.Context) error {
	plan, err := p.planOf(c)
	if err != nil {
		return err
	}
	form := &page.Form{}
	err = p.Invoices.DeletePlan(c.Request().Context(), actor(c), plan.ID)
	if form.Refused(err) {
		return p.confirmDeletePlan(c, http.StatusUnprocessableEntity, plan, form)
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, "“"+plan.Name+"” was deleted.")
	return p.Redirect(c, plansPath)
}
