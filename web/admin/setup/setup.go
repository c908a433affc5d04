package setup

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/admin/setup"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

const (

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

func (h *Handlers) setupRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Setup, route.Owners, h.continueSetup),
		route.Get(links.SetupDone, route.Owners, h.setupDone),
		route.Post(links.Setup+"/skip", route.Owners, h.skipSetupStep),
		route.Post(links.Setup+"/dismiss", route.Owners, h.dismissSetup),
		route.Get(links.SetupStep(tenant.BusinessStep), route.Owners, h.showSetupBusiness),
		// A new country normalises the phone numbers of all customers again.
		route.Post(links.SetupStep(tenant.BusinessStep), route.Owners, h.saveSetupBusiness).AsFile(),
		route.Post(links.SetupStep(tenant.BusinessStep)+"/preview", route.Owners, h.previewSetupBusiness),
		route.Get(links.SetupStep(tenant.RuleStep), route.Owners, h.showSetupRule),
		route.Post(links.SetupStep(tenant.RuleStep), route.Owners, h.saveSetupRule),
		route.Post(links.SetupStep(tenant.RuleStep)+"/preview", route.Owners, h.previewSetupRule),
		route.Get(links.SetupStep(tenant.RewardStep), route.Owners, h.showSetupReward),
		route.Post(links.SetupStep(tenant.RewardStep), route.Owners, h.saveSetupReward),
		route.Post(links.SetupStep(tenant.RewardStep)+"/preview", route.Owners, h.previewSetupReward),
		route.Get(links.SetupStep(tenant.CustomerStep), route.Owners, h.showSetupCustomer),
		route.Post(links.SetupStep(tenant.CustomerStep), route.Owners, h.saveSetupCustomer),
		route.Get(links.SetupStep(tenant.SaleStep), route.Owners, h.showSetupSale),
		route.Post(links.SetupStep(tenant.SaleStep), route.Owners, h.saveSetupSale),
		route.Post(links.SetupStep(tenant.SaleStep)+"/preview", route.Owners, h.previewSetupSale),
	}
}

// setupOf reads how far the business is with the guide.
func (h *Handlers) setupOf(c echo.Context) (tenant.Setup, error) {
	return h.Tenants.Setup(c.Request().Context(), page.Actor(c))
}

// setupFrame is the frame of a page of the guide. step is "" at the end.
func (h *Handlers) setupFrame(c echo.Context, s tenant.Setup, step tenant.Step) views.Setup {
	words := setupWords[step]
	v := views.Setup{
		Frame: h.Frame(c, "Set up your programme", ""), Heading: words.label, Intro: words.intro, Step: string(step),
		Done: s.CountDone(), Action: links.SetupStep(step), FormKey: h.NewFormKey(),
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
				v.BackPath = links.SetupStep(tenant.Steps[i-1])
			}
		}
		v.Steps = append(v.Steps, views.SetupStep{
			Number: strconv.Itoa(number), Label: setupWords[known].label, About: about, Path: links.SetupStep(known),
			Current: known == step, Done: s.Done(known), Skipped: s.DoneOrSkipped(known) && !s.Done(known),
		})
	}
	if s.Done(tenant.BusinessStep) {
		v.Steps[0].About = businessInWords(page.Actor(c).Tenant)
	}
	v.CanSkip = step != "" && !s.DoneOrSkipped(step) && (step != tenant.BusinessStep || page.Actor(c).Tenant.Country != "")
	v.NextPath = links.SetupStep(s.NextAfter(step))
	return v
}

// businessInWords is "Sweden, EUR (€)".
func businessInWords(t core.Tenant) string {
	currency := optionLabel(forms.Currencies(t.Currency), t.Currency)
	if t.Country == "" {
		return currency
	}
	return optionLabel(panel.Countries, t.Country) + ", " + currency
}

func optionLabel(options []ui.Option, value string) string {
	at := slices.IndexFunc(options, func(o ui.Option) bool { return o.Value == value })
	if at < 0 {
		return value
	}
	return options[at].Label
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
	s, err := h.setupOf(c)
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
func submitStep[T any](a *Handlers, c echo.Context, step tenant.Step, s page.Submission[T]) error {
	next, save := links.Setup, s.Run
	s.Run = func(ctx context.Context, by core.Actor, form *forms.Form) (T, error) {
		saved, err := save(ctx, by, form)
		if err != nil {
			return saved, err
		}
		progress, err := a.Tenants.Setup(ctx, page.Actor(c))
		next = links.SetupStep(progress.NextAfter(step))
		return saved, err
	}
	s.To = func(T) string { return next }
	s.Done = func(T) string { return "Saved" }
	return page.Submit(a.Kit, c, s)
}

func (h *Handlers) skipSetupStep(c echo.Context) error {
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

// setupDone is the end of the guide, with links to what comes next.
func (h *Handlers) setupDone(c echo.Context) error {
	s, err := h.setupOf(c)
	if err != nil {
		return err
	}
	if next := s.Next(); next != "" {
		return h.Redirect(c, links.SetupStep(next))
	}
	v := h.setupFrame(c, s, "")
	v.Heading, v.Intro, v.Links, v.NextPath = "Your programme is ready", "You can change everything at any time.", afterSetup(core.Owner), ""
	if left := s.Left(); len(left) > 0 {
		v.Heading, v.Intro, v.Links, v.NextPath = stepsLeft(left), "You skipped these. Do them now, or come back from the dashboard.", nil, links.SetupStep(left[0])
		for _, step := range left {
			v.Links = append(v.Links, views.SetupLink{Path: links.SetupStep(step), Icon: setupWords[step].icon, Label: setupWords[step].label, About: setupWords[step].about})
		}
	}
	return h.Render(c, http.StatusOK, views.SetupDonePage(v), nil)
}

func stepsLeft(left []tenant.Step) string {
	return format.Count(int64(len(left)), "step", "steps") + " left"
}
