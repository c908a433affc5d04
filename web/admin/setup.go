package admin

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const (
	setupPath     = "/admin/setup"
	setupDonePath = setupPath + "/done"

	// firstTypeName is the name of the first transaction type.
	firstTypeName = "Purchase"
)

// setupWords name and explain the steps of the guide.
var setupWords = map[tenant.Step]struct{ icon, label, about, intro string }{
	tenant.BusinessStep: {"map-pin", "Country and currency", "Where you are", "Used for amounts, dates and phone numbers."},
	tenant.RuleStep:     {"coins", "Earning rule", "Points or stamps", "You can change this later. Earned points and stamps stay."},
	tenant.RewardStep:   {"gift", "First reward", "For example a free coffee", "You can add more rewards at any time."},
	tenant.CustomerStep: {"user-plus", "First customer", "Try it with yourself", "Add yourself to see what your customers see."},
	tenant.SaleStep:     {"cash-register", "First sale", "See the points arrive", "This is a real sale. You can void it afterwards."},
}

func (a *Admin) setupRoutes() []route.Route {
	return []route.Route{
		route.Get(setupPath, route.Owners, a.continueSetup),
		route.Get(setupDonePath, route.Owners, a.setupDone),
		route.Post(setupPath+"/skip", route.Owners, a.skipSetupStep),
		route.Post(setupPath+"/dismiss", route.Owners, a.dismissSetup),
		route.Get(stepPath(tenant.BusinessStep), route.Owners, a.showSetupBusiness),
		// A new country normalises the phone numbers of all customers again.
		route.Post(stepPath(tenant.BusinessStep), route.Owners, a.saveSetupBusiness).AsFile(),
		route.Post(stepPath(tenant.BusinessStep)+"/preview", route.Owners, a.previewSetupBusiness),
		route.Get(stepPath(tenant.RuleStep), route.Owners, a.showSetupRule),
		route.Post(stepPath(tenant.RuleStep), route.Owners, a.saveSetupRule),
		route.Post(stepPath(tenant.RuleStep)+"/preview", route.Owners, a.previewSetupRule),
		route.Get(stepPath(tenant.RewardStep), route.Owners, a.showSetupReward),
		route.Post(stepPath(tenant.RewardStep), route.Owners, a.saveSetupReward),
		route.Post(stepPath(tenant.RewardStep)+"/preview", route.Owners, a.previewSetupReward),
		route.Get(stepPath(tenant.CustomerStep), route.Owners, a.showSetupCustomer),
		route.Post(stepPath(tenant.CustomerStep), route.Owners, a.saveSetupCustomer),
		route.Get(stepPath(tenant.SaleStep), route.Owners, a.showSetupSale),
		route.Post(stepPath(tenant.SaleStep), route.Owners, a.saveSetupSale),
		route.Post(stepPath(tenant.SaleStep)+"/preview", route.Owners, a.previewSetupSale),
	}
}

// stepPath is the path of a step, or of the end of the guide for "".
func stepPath(step tenant.Step) string {
	if step == "" {
		return setupDonePath
	}
	return setupPath + "/" + string(step)
}

// setupOf reads how far the business is with the guide.
func (a *Admin) setupOf(c echo.Context) (tenant.Setup, error) {
	return a.Tenants.Setup(c.Request().Context(), page.Actor(c))
}

// setupFrame is the frame of a page of the guide. step is "" at the end.
func (a *Admin) setupFrame(c echo.Context, s tenant.Setup, step tenant.Step) views.Setup {
	words := setupWords[step]
	v := views.Setup{
		Frame: a.frame(c, "Set up your programme", ""), Heading: words.label, Intro: words.intro, Step: string(step),
		Done: s.CountDone(), Action: stepPath(step), FormKey: a.NewFormKey(),
	}
	v.Assets.Stylesheets = append(slices.Clone(v.Assets.Stylesheets), static.Path("css/setup.css"))
	for i, known := range tenant.Steps {
		number, about := i+1, setupWords[known].about
		if s.Done(known) && known != step {
			about = "Done" // instead of advice
		}
		if known == step {
			v.Number = number
			if i > 0 {
				v.BackPath = stepPath(tenant.Steps[i-1])
			}
		}
		v.Steps = append(v.Steps, views.SetupStep{
			Number: strconv.Itoa(number), Label: setupWords[known].label, About: about, Path: stepPath(known),
			Current: known == step, Done: s.Done(known), Skipped: s.DoneOrSkipped(known) && !s.Done(known),
		})
	}
	if s.Done(tenant.BusinessStep) {
		v.Steps[0].About = businessInWords(page.Actor(c).Tenant)
	}
	v.CanSkip = step != "" && !s.DoneOrSkipped(step) && (step != tenant.BusinessStep || page.Actor(c).Tenant.Country != "")
	v.NextPath = stepPath(s.NextAfter(step))
	return v
}

// businessInWords is "Sweden, EUR (€)".
func businessInWords(t core.Tenant) string {
	currency := optionLabel(page.Currencies(t.Currency), t.Currency)
	if t.Country == "" {
		return currency
	}
	return optionLabel(countries, t.Country) + ", " + currency
}

func optionLabel(options []ui.Option, value string) string {
	at := slices.IndexFunc(options, func(o ui.Option) bool { return o.Value == value })
	if at < 0 {
		return value
	}
	return options[at].Label
}

// welcome is the first page of a person who accepted an invitation. Owners get the guide, which leads
// on to the dashboard if nothing is left to set up.
func welcome(role core.Role) string {
	if role == core.Owner {
		return setupPath
	}
	return firstPage(role)
}

// continueSetup leads to the first step that is left, or to the dashboard.
func (a *Admin) continueSetup(c echo.Context) error {
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	if s.Finished() {
		return a.Redirect(c, dashboardPath)
	}
	return a.Redirect(c, stepPath(s.Next()))
}

// submitStep saves a step of the guide and leads on to the next one. A form that is sent again
// leads to the guide, which continues by itself.
func submitStep[T any](a *Admin, c echo.Context, step tenant.Step, s page.Submission[T]) error {
	next, save := setupPath, s.Run
	s.Run = func(ctx context.Context, by core.Actor, form *page.Form) (T, error) {
		saved, err := save(ctx, by, form)
		if err != nil {
			return saved, err
		}
		progress, err := a.Tenants.Setup(ctx, page.Actor(c))
		next = stepPath(progress.NextAfter(step))
		return saved, err
	}
	s.To = func(T) string { return next }
	s.Done = func(T) string { return "Saved" }
	return page.Submit(a.Kit, c, s)
}

func (a *Admin) skipSetupStep(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	step := tenant.Step(form.Value("step"))
	s, err := a.Tenants.SkipSetupStep(c.Request().Context(), page.Actor(c), step)
	if err != nil {
		return err
	}
	return a.Redirect(c, stepPath(s.NextAfter(step)))
}

func (a *Admin) dismissSetup(c echo.Context) error {
	if _, err := a.Tenants.DismissSetup(c.Request().Context(), page.Actor(c)); err != nil {
		return err
	}
	a.Flash(c, ui.Done, "Setup guide dismissed. You can do every step from the menu.")
	return a.Redirect(c, dashboardPath)
}

// setupDone is the end of the guide, with links to what comes next.
func (a *Admin) setupDone(c echo.Context) error {
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	if next := s.Next(); next != "" {
		return a.Redirect(c, stepPath(next))
	}
	v := a.setupFrame(c, s, "")
	v.Heading, v.Intro, v.Links, v.NextPath = "Your programme is ready", "You can change everything at any time.", afterSetup(core.Owner), ""
	if left := s.Left(); len(left) > 0 {
		v.Heading, v.Intro, v.Links, v.NextPath = stepsLeft(left), "You skipped these. Do them now, or come back from the dashboard.", nil, stepPath(left[0])
		for _, step := range left {
			v.Links = append(v.Links, views.SetupLink{Path: stepPath(step), Icon: setupWords[step].icon, Label: setupWords[step].label, About: setupWords[step].about})
		}
	}
	return a.Render(c, http.StatusOK, views.SetupDonePage(v), nil)
}

func stepsLeft(left []tenant.Step) string {
	return page.Count(int64(len(left)), "step", "steps") + " left"
}
