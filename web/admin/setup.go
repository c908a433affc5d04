package admin

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const (
	setupPath     = "/admin/setup"
	setupDonePath = setupPath + "/done"

	// firstTypeName is what the till calls the first kind of sale.
	firstTypeName = "Purchase"
)

// setupWords are the steps as the guide names them.
var setupWords = map[tenant.Step]struct{ label, about, title, intro string }{
	tenant.BusinessStep: {"Country and currency", "Where you are", "Where is your business?", "Amounts, days and phone numbers follow from this."},
	tenant.RuleStep:     {"Earning rule", "What customers collect", "How do customers earn?", "You can change this later. What is already earned stays."},
	tenant.RewardStep:   {"First reward", "What they get for it", "What can customers get?", "You can add more rewards at any time."},
	tenant.CustomerStep: {"First customer", "Try it with yourself", "Who is your first customer?", "Add yourself to see what your customers see."},
	tenant.SaleStep:     {"First sale", "See the points arrive", "Record a first sale", "This is a real sale. You can void it afterwards."},
}

func (a *Admin) setupRoutes() []route {
	return []route{
		{method: get, path: setupPath, least: core.Owner, handle: a.continueSetup},
		{method: get, path: setupDonePath, least: core.Owner, handle: a.setupDone},
		{method: post, path: setupPath + "/skip", least: core.Owner, handle: a.skipSetupStep},
		{method: post, path: setupPath + "/dismiss", least: core.Owner, handle: a.dismissSetup},
		{method: get, path: stepPath(tenant.BusinessStep), least: core.Owner, handle: a.showSetupBusiness},
		// Another country reads the phone numbers of all customers anew.
		{method: post, path: stepPath(tenant.BusinessStep), least: core.Owner, handle: a.saveSetupBusiness, slow: true},
		{method: post, path: stepPath(tenant.BusinessStep) + "/preview", least: core.Owner, handle: a.previewSetupBusiness},
		{method: get, path: stepPath(tenant.RuleStep), least: core.Owner, handle: a.showSetupRule},
		{method: post, path: stepPath(tenant.RuleStep), least: core.Owner, handle: a.saveSetupRule},
		{method: post, path: stepPath(tenant.RuleStep) + "/preview", least: core.Owner, handle: a.previewSetupRule},
		{method: get, path: stepPath(tenant.RewardStep), least: core.Owner, handle: a.showSetupReward},
		{method: post, path: stepPath(tenant.RewardStep), least: core.Owner, handle: a.saveSetupReward},
		{method: post, path: stepPath(tenant.RewardStep) + "/preview", least: core.Owner, handle: a.previewSetupReward},
		{method: get, path: stepPath(tenant.CustomerStep), least: core.Owner, handle: a.showSetupCustomer},
		{method: post, path: stepPath(tenant.CustomerStep), least: core.Owner, handle: a.saveSetupCustomer},
		{method: get, path: stepPath(tenant.SaleStep), least: core.Owner, handle: a.showSetupSale},
		{method: post, path: stepPath(tenant.SaleStep), least: core.Owner, handle: a.saveSetupSale},
		{method: post, path: stepPath(tenant.SaleStep) + "/preview", least: core.Owner, handle: a.previewSetupSale},
	}
}

// stepPath is the address of a step; of none, the end of the guide.
func stepPath(step tenant.Step) string {
	if step == "" {
		return setupDonePath
	}
	return setupPath + "/" + string(step)
}

// setupOf is how far the business is. One round trip.
func (a *Admin) setupOf(c echo.Context) (tenant.Setup, error) {
	return a.Tenants.Setup(c.Request().Context(), page.Actor(c))
}

// setupFrame is what a page of the guide has around its content. step is "" at the end.
func (a *Admin) setupFrame(c echo.Context, s tenant.Setup, step tenant.Step) views.Setup {
	words := setupWords[step]
	v := views.Setup{
		Frame: a.frame(c, "Set up your programme", ""), Heading: words.title, Intro: words.intro, Step: string(step),
		Done: s.CountDone(), Total: len(tenant.Steps), SkipPath: setupPath + "/skip", LaterPath: dashboardPath, Action: stepPath(step),
		FormKey: a.NewFormKey(),
	}
	v.Assets.Stylesheets = append(slices.Clone(v.Assets.Stylesheets), static.Path("css/setup.css"))
	for i, known := range tenant.Steps {
		number := i + 1
		if known == step {
			v.Number = number
			if i > 0 {
				v.BackPath = stepPath(tenant.Steps[i-1])
			}
		}
		v.Steps = append(v.Steps, views.SetupStep{
			Number: strconv.Itoa(number), Label: setupWords[known].label, About: setupWords[known].about, Path: stepPath(known),
			Current: known == step, Done: s.Done(known), Skipped: s.Passed(known) && !s.Done(known),
		})
	}
	if s.Done(tenant.BusinessStep) {
		v.Steps[0].About = businessInWords(page.Actor(c).Tenant)
	}
	v.CanSkip = step != "" && !s.Passed(step)
	v.NextPath = stepPath(s.NextAfter(step))
	return v
}

// businessInWords is "Sweden, EUR (€)".
func businessInWords(t core.Tenant) string {
	currency := optionLabel(currencies, t.Currency)
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

// welcome is where invited people begin: owners with the guide, which leads on to the dashboard
// where nothing is left to set up.
func welcome(role core.Role) string {
	if role == core.Owner {
		return setupPath
	}
	return firstPage(role)
}

// continueSetup leads to the first step that is left, and to the dashboard once there is none.
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

// passed leads on from a step that was saved or skipped.
func (a *Admin) passed(c echo.Context, step tenant.Step) error {
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	return a.Redirect(c, stepPath(s.NextAfter(step)))
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
	a.Flash(c, ui.Done, "Setup guide dismissed. Everything in it is also in the menu.")
	return a.Redirect(c, dashboardPath)
}

// setupDone is the end of the guide: what is there, and what comes next.
func (a *Admin) setupDone(c echo.Context) error {
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	v := a.setupFrame(c, s, "")
	v.Heading, v.Intro = "Your programme is ready", "Everything below can be changed at any time."
	if next := s.Next(); next != "" {
		return a.Redirect(c, stepPath(next))
	}
	v.Links = []views.SetupLink{
		{Path: page.TillPath, Icon: "cash-register", Label: "Open the point of sale", About: "Record sales and redeem rewards"},
		{Path: posterPath, Icon: "qrcode", Label: "Print the poster", About: "Customers scan it to join"},
		{Path: staffPath, Icon: "user-plus", Label: "Invite your team", About: "Managers and cashiers sign in by themselves"},
		{Path: customersPath + "/import", Icon: "file-import", Label: "Import customers", About: "From a spreadsheet you have already"},
	}
	return a.Render(c, http.StatusOK, views.SetupDonePage(v), nil)
}

// setupBanner leads an owner back to the guide; nil: it is finished, or for others.
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
	return &views.SetupBanner{Where: where, Label: setupWords[next].label, Path: stepPath(next)}, nil
}

// Step 1: country, currency and time zone.

func (a *Admin) showSetupBusiness(c echo.Context) error {
	return a.setupBusiness(c, http.StatusOK, nil)
}

func (a *Admin) setupBusiness(c echo.Context, status int, form *page.Form) error {
	by := page.Actor(c)
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	settings, err := a.Tenants.Settings(c.Request().Context(), by)
	if err != nil {
		return err
	}
	if form == nil {
		form = page.Blank(map[string]string{"country": text(settings.Country), "timezone": settings.TimeZone, "currency": settings.Currency})
	}
	v := views.SetupBusiness{
		Setup:   a.setupFrame(c, s, tenant.BusinessStep),
		Country: form.Field("country", "Country"), Currency: form.Field("currency", "Currency"), TimeZone: form.Field("timezone", "Time zone"),
		Example: a.businessExample(c, form),
	}
	v.Problem, v.Began = form.Problem(), form.Began()
	v.Country.Options = form.Options("country", slices.Clone(countries)...)
	v.Country.Help = "Reads phone numbers without a country code"
	v.Currency.Options = form.Options("currency", slices.Clone(currencies)...)
	v.Currency.Help = "Can't be changed after your first sale"
	if settings.HasSales {
		v.Currency.ReadOnly, v.Currency.Value = true, settings.Currency
		v.Currency.Help = "Can't be changed: there are sales in it"
	}
	v.TimeZone.Groups = zoneGroups(form.Value("timezone"))
	v.TimeZone.Help = "Decides when a day begins and ends"
	return a.Render(c, status, views.SetupBusinessPage(v), nil)
}

// businessExample shows what the chosen country, currency and time zone make of an amount, an
// instant and a phone number.
func (a *Admin) businessExample(c echo.Context, form *page.Form) views.SetupExample {
	v := views.SetupExample{Title: "How it looks"}
	by := page.Actor(c)
	if currency := form.Value("currency"); slices.Contains(tenant.Currencies(), currency) {
		v.Rows = append(v.Rows, ui.Pair{Name: "An amount", Value: page.Money(unitOf(currency)*249/10, currency)})
	}
	zone, err := core.Zone(form.Value("timezone"))
	if err != nil {
		zone = by.Tenant.TimeZone
	}
	v.Rows = append(v.Rows, ui.Pair{Name: "The time now", Value: page.Time(a.Now(), zone)})
	v.Note = "Without a country, phone numbers need their country code: +46 70 123 45 67."
	if country := form.Value("country"); country != "" {
		v.Note = "Phone numbers without a country code are read as numbers of " + optionLabel(countries, country) + "."
	}
	return v
}

func (a *Admin) previewSetupBusiness(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	if page.IsFragment(c) {
		return a.Render(c, http.StatusOK, views.SetupExampleCard(a.businessExample(c, form)), nil)
	}
	return a.setupBusiness(c, http.StatusOK, form)
}

func (a *Admin) saveSetupBusiness(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), page.Actor(c)
	_, err = a.Tenants.EditSettings(ctx, by, tenant.SettingsEdit{
		Country: sentText(form, "country"), TimeZone: sentText(form, "timezone"), Currency: sentText(form, "currency"),
	})
	if form.Refused(err) {
		return a.setupBusiness(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	s, err := a.Tenants.ConfirmBusiness(ctx, by)
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "Saved")
	return a.Redirect(c, stepPath(s.NextAfter(tenant.BusinessStep)))
}

// Step 2: the earning rule.

// unitOf is the amount that a rule begins with: 1.00, or 100 where there are no decimals.
func unitOf(currency string) int64 {
	if n := page.Decimals(currency); n > 0 {
		return int64(math.Pow10(n))
	}
	return 100
}

// ownRule is the first transaction type, or nil where there is none. One round trip.
func (a *Admin) ownRule(c echo.Context, s tenant.Setup) (rule *transaction.Type, err error) {
	if s.RuleID == nil {
		return rule, nil
	}
	t, err := a.Transactions.FindType(c.Request().Context(), page.Actor(c), *s.RuleID)
	return &t, err
}

func (a *Admin) showSetupRule(c echo.Context) error { return a.setupRule(c, http.StatusOK, nil) }

func (a *Admin) setupRule(c echo.Context, status int, form *page.Form) error {
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	old, err := a.ownRule(c, s)
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	if form == nil {
		form = ruleValues(old, currency)
	}
	v := views.SetupRule{
		Setup: a.setupFrame(c, s, tenant.RuleStep), Unit: form.Field("rule_type", "Customers collect"),
		Points: form.Field("points_per_unit", "A customer gets"), Per: form.Field("unit_cents", "For every"),
	}
	v.Problem, v.Began = form.Problem(), ""
	if old != nil {
		v.Began, v.Editing = form.Began(), true
		v.Note = "“" + old.Name + "” has further settings under Transaction types."
	} else {
		v.Note = "The till calls it “" + firstTypeName + "”. Rename it or add others under Transaction types."
	}
	v.Unit.Options = form.Options("rule_type",
		ui.Option{Value: "points", Label: "Points", Help: "By what is spent"}, ui.Option{Value: "stamps", Label: "Stamps", Help: "One for every visit"})
	v.Points.Mode, v.Points.After = "numeric", "points"
	v.Per.Mode, v.Per.Before = "decimal", page.Symbol(currency)
	v.Per.Help = "Only whole multiples count"
	v.Example = ruleExample(form, old, currency)
	return a.Render(c, status, views.SetupRulePage(v), nil)
}

// ruleValues are what the form of the rule begins with.
func ruleValues(old *transaction.Type, currency string) *page.Form {
	t := transaction.Type{RuleType: "points", Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: unitOf(currency)}}
	if old != nil {
		t = *old
	}
	form := page.Blank(map[string]string{"rule_type": string(t.RuleType), "points_per_unit": strconv.FormatInt(t.PointsPerUnit, 10)})
	form.SetAmount("unit_cents", t.UnitCents, currency)
	return form
}

// ruleOf is the rule that the form describes. Of stamps the fields of points are not read: they
// are not seen.
func ruleOf(form *page.Form, old *transaction.Type, currency string) transaction.NewType {
	n := transaction.NewType{
		Name: firstTypeName, RuleType: transaction.RuleType(form.Value("rule_type")),
		Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: unitOf(currency), StampsPerTransaction: 1},
	}
	if old != nil {
		n.Name, n.Rule = old.Name, old.Rule
		n.StampsPerTransaction = max(n.StampsPerTransaction, 1)
	}
	if n.RuleType != "stamps" {
		form.Require("points_per_unit")
		form.Require("unit_cents")
		n.PointsPerUnit = value(form.Integer("points_per_unit"))
		n.UnitCents = value(form.Amount("unit_cents", currency))
		if n.UnitCents == 0 {
			n.UnitCents = -1 // typed or left empty: core would take 0 for its default
		}
	}
	n.Unreadable = form.Unreadable
	return n
}

// ruleExample is what three sales earn by the rule on the form, as core computes it.
func ruleExample(form *page.Form, old *transaction.Type, currency string) views.SetupExample {
	v := views.SetupExample{Title: "Three sales with your rule"}
	draft := page.Query(maps.Clone(form.Values)) // what is wrong so far is said when it is sent
	n := ruleOf(draft, old, currency)
	for _, tenths := range []int64{35, 82, 149} {
		cents := unitOf(currency) * tenths / 10
		award, unit, err := n.Preview(&cents)
		if err != nil {
			return views.SetupExample{Title: v.Title, Note: "Complete the rule to see what it earns."}
		}
		v.Rows = append(v.Rows, ui.Pair{Name: page.Money(cents, currency), Value: "+" + amount(award, unit)})
	}
	v.Earned = true
	return v
}

func (a *Admin) previewSetupRule(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	if !page.IsFragment(c) {
		return a.setupRule(c, http.StatusOK, form)
	}
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	old, err := a.ownRule(c, s)
	if err != nil {
		return err
	}
	return a.Render(c, http.StatusOK, views.SetupExampleCard(ruleExample(form, old, page.Actor(c).Tenant.Currency)), nil)
}

func (a *Admin) saveSetupRule(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	// The rule may have been added in another tab meanwhile: there is to be one.
	old, err := a.ownRule(c, s)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	by := page.Once(c, form, func(transaction.Type) string { return setupPath })
	n := ruleOf(form, old, by.Tenant.Currency)
	if old == nil {
		_, err = a.Transactions.AddType(ctx, by, n)
	} else {
		_, err = a.Transactions.EditType(ctx, by, old.ID, transaction.EditType{
			RuleType: touched(form, new(string(n.RuleType)), "rule_type"), StampsPerTransaction: touched(form, &n.StampsPerTransaction, "rule_type"),
			PointsPerUnit: touched(form, &n.PointsPerUnit, "points_per_unit"), UnitCents: touched(form, &n.UnitCents, "unit_cents"), Unreadable: n.Unreadable,
		})
	}
	if path, again := page.Repeated(by, err); again {
		return a.Redirect(c, path)
	}
	if form.Refused(err) {
		return a.setupRule(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "Saved")
	return a.passed(c, tenant.RuleStep)
}

// Step 3: the first reward.

// setupReward is what the form of the reward is about: the reward that there is, and the rule
// that customers collect for it by.
type setupReward struct {
	setup tenant.Setup
	old   *reward.Reward
	rule  *transaction.Type
}

// unit is what the reward costs. A reward that there is keeps its unit.
func (r setupReward) unit() transaction.RuleType {
	switch {
	case r.old != nil:
		unit, _ := r.old.Price()
		return unit
	case r.rule != nil:
		return r.rule.RuleType
	}
	return "points"
}

func (r setupReward) costField() string { return string(r.unit()) + "_cost" }

// ownReward makes three round trips where all of it is there.
func (a *Admin) ownReward(c echo.Context) (r setupReward, err error) {
	if r.setup, err = a.setupOf(c); err != nil {
		return r, err
	}
	if r.setup.RewardID != nil {
		found, err := a.Rewards.Find(c.Request().Context(), page.Actor(c), *r.setup.RewardID)
		if err != nil {
			return r, err
		}
		r.old = &found.Reward
	}
	r.rule, err = a.ownRule(c, r.setup)
	return r, err
}

func (a *Admin) showSetupReward(c echo.Context) error {
	r, err := a.ownReward(c)
	if err != nil {
		return err
	}
	form := page.Blank(nil)
	if r.old != nil {
		_, price := r.old.Price()
		form = page.Blank(map[string]string{"name": r.old.Name, r.costField(): strconv.FormatInt(price, 10)})
	}
	return a.setupRewardForm(c, http.StatusOK, r, form)
}

func (a *Admin) setupRewardForm(c echo.Context, status int, r setupReward, form *page.Form) error {
	currency := page.Actor(c).Tenant.Currency
	v := views.SetupReward{
		Setup: a.setupFrame(c, r.setup, tenant.RewardStep), Name: form.Field("name", "Reward"), Cost: form.Field(r.costField(), "Costs"),
		Example: rewardExample(form, r, currency),
	}
	v.Name.Placeholder, v.Name.MaxLength = "Free coffee", 100
	v.Cost.Mode, v.Cost.After, v.Cost.Autocomplete = "numeric", string(r.unit()), "off"
	if r.unit() == "points" && r.rule != nil {
		usual := form.Field("usual_sale", "Usual sale")
		usual.Before, usual.Mode, usual.Optional, usual.Autocomplete = page.Symbol(currency), "decimal", true, "off"
		usual.Help = "Shows how many sales it takes. Not saved."
		v.Usual = &usual
	}
	if r.old != nil {
		v.Began, v.Editing = form.Began(), true
	}
	v.Problem = form.Problem()
	return a.Render(c, status, views.SetupRewardPage(v), nil)
}

// mostDrawn is up to how many sales are drawn one by one.
const mostDrawn = 20

// rewardExample says how many sales a reward takes, where the numbers on the form and the rule
// tell.
func rewardExample(form *page.Form, r setupReward, currency string) views.SetupExample {
	v := views.SetupExample{Title: "How soon customers get it"}
	if r.rule == nil {
		v.Note = "Set your earning rule first to see how many sales it takes."
		return v
	}
	if r.rule.RuleType != r.unit() {
		v.Note = "Your rule earns " + string(r.rule.RuleType) + ", and this reward costs " + string(r.unit()) + "."
		return v
	}
	draft := page.Query(maps.Clone(form.Values))
	cost := draft.Integer(r.costField())
	spend := new(r.rule.MinSpendCents) // of stamps: the least that earns one
	if r.unit() == "points" {
		spend = draft.Amount("usual_sale", currency)
	}
	if cost == nil || *cost < 1 || spend == nil {
		v.Note = "Type what it costs and what a usual sale comes to."
		if r.unit() != "points" {
			v.Note = "Type what it costs."
		}
		return v
	}
	award, err := r.rule.Award(*spend)
	if err != nil || award < 1 {
		v.Note = "A sale of " + page.Money(*spend, currency) + " earns nothing by your rule."
		return v
	}
	sales := (*cost-1)/award + 1
	v.Title = "A reward for " + amount(*cost, r.unit())
	if r.unit() == "points" {
		v.Figure = "About " + page.Count(sales, "sale", "sales")
		v.Note = "of " + page.Money(*spend, currency) + ", which earn " + amount(award, r.unit()) + " each."
	} else {
		v.Figure = page.Count(sales, "visit", "visits")
		v.Note = "Each earns " + amount(award, r.unit()) + "."
	}
	if sales <= mostDrawn {
		v.Pieces = int(sales)
	}
	return v
}

func (a *Admin) previewSetupReward(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	r, err := a.ownReward(c)
	if err != nil {
		return err
	}
	if page.IsFragment(c) {
		return a.Render(c, http.StatusOK, views.SetupExampleCard(rewardExample(form, r, page.Actor(c).Tenant.Currency)), nil)
	}
	return a.setupRewardForm(c, http.StatusOK, r, form)
}

func (a *Admin) saveSetupReward(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	// The reward may have been added in another tab meanwhile: there is to be one.
	r, err := a.ownReward(c)
	if err != nil {
		return err
	}
	form.Require(r.costField())
	points, stamps := form.Integer(r.costField()), (*int64)(nil)
	if r.unit() == "stamps" {
		points, stamps = nil, points
	}
	ctx := c.Request().Context()
	by := page.Once(c, form, func(reward.Reward) string { return setupPath })
	if r.old == nil {
		_, err = a.Rewards.Add(ctx, by, reward.New{Name: form.Text("name"), PointsCost: points, StampsCost: stamps, Unreadable: form.Unreadable})
	} else {
		_, err = a.Rewards.Edit(ctx, by, r.old.ID, reward.Edit{
			Name: touched(form, form.Text("name"), "name"), PointsCost: touched(form, points, r.costField()),
			StampsCost: touched(form, stamps, r.costField()), Unreadable: form.Unreadable,
		})
	}
	if path, again := page.Repeated(by, err); again {
		return a.Redirect(c, path)
	}
	if form.Refused(err) {
		return a.setupRewardForm(c, http.StatusUnprocessableEntity, r, form)
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "Saved")
	return a.passed(c, tenant.RewardStep)
}

// Step 4: the first customer.

func (a *Admin) showSetupCustomer(c echo.Context) error {
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	form := page.Blank(map[string]string{"email": page.Person(c).Email})
	first, last, named := strings.Cut(page.Actor(c).Name, " ")
	if named && !strings.HasPrefix(first, "Owner") { // people who have not said who they are go by their role
		form.Values.Set("first_name", first)
		form.Values.Set("last_name", last)
	}
	return a.setupCustomer(c, http.StatusOK, s, form)
}

func (a *Admin) setupCustomer(c echo.Context, status int, s tenant.Setup, form *page.Form) error {
	v := views.SetupCustomer{Setup: a.setupFrame(c, s, tenant.CustomerStep), JoinAddress: c.Request().Host + "/join"}
	if s.CustomerID != nil {
		found, err := a.Customers.Find(c.Request().Context(), page.Actor(c), *s.CustomerID)
		if err != nil {
			return err
		}
		v.Customer = &views.SetupPerson{Name: customerName(found), Phone: found.Phone, Path: customerPath(found.ID)}
		return a.Render(c, status, views.SetupCustomerPage(v), nil)
	}
	var fields views.CustomerForm
	customerFields(&fields, form)
	v.First, v.Last, v.Phone, v.Email, v.Problem = fields.First, fields.Last, fields.Phone, fields.Email, fields.Problem
	v.Phone.Help = "Used to find customers at the till"
	return a.Render(c, status, views.SetupCustomerPage(v), nil)
}

func (a *Admin) saveSetupCustomer(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	if s.CustomerID != nil { // added in another tab
		return a.Redirect(c, stepPath(s.NextAfter(tenant.CustomerStep)))
	}
	_, err = a.Customers.Upsert(c.Request().Context(), page.Actor(c), customer.New{
		FirstName: form.Text("first_name"), LastName: form.Text("last_name"), Phone: form.Text("phone"), Email: form.Text("email"),
	})
	if form.Refused(err) {
		return a.setupCustomer(c, http.StatusUnprocessableEntity, s, form)
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "Saved")
	return a.passed(c, tenant.CustomerStep)
}

// Step 5: the first sale.

func (a *Admin) showSetupSale(c echo.Context) error {
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	return a.setupSale(c, http.StatusOK, s, page.Blank(nil))
}

func (a *Admin) setupSale(c echo.Context, status int, s tenant.Setup, form *page.Form) error {
	ctx, by := c.Request().Context(), page.Actor(c)
	v := views.SetupSale{Setup: a.setupFrame(c, s, tenant.SaleStep), TillPath: page.TillPath}
	if s.SaleID != nil {
		sale, err := a.Transactions.Detail(ctx, by, *s.SaleID)
		if err != nil {
			return err
		}
		v.Recorded = &views.SetupRecorded{
			Customer: toldName(sale.CustomerName), Spend: page.Money(sale.SpendAmountCents, by.Tenant.Currency), Award: "+" + earned(sale.Transaction),
			Path: transactionPath(sale.ID), CustomerPath: customerPath(sale.CustomerID),
		}
		if n := len(sale.Entries); n > 0 {
			v.Recorded.Balance = amount(sale.Entries[n-1].BalanceAfter, sale.RuleType)
		}
		v.Heading, v.Intro = "Your first sale is recorded", ""
		return a.Render(c, status, views.SetupSalePage(v), nil)
	}
	if s.RuleID == nil {
		v.Missing = append(v.Missing, views.SetupLink{Path: stepPath(tenant.RuleStep), Label: "Set your earning rule"})
	}
	if s.CustomerID == nil {
		v.Missing = append(v.Missing, views.SetupLink{Path: stepPath(tenant.CustomerStep), Label: "Add your first customer"})
	}
	if len(v.Missing) > 0 {
		return a.Render(c, status, views.SetupSalePage(v), nil)
	}
	buyer, err := a.Customers.Find(ctx, by, *s.CustomerID)
	if err != nil {
		return err
	}
	rule, err := a.ownRule(c, s)
	if err != nil {
		return err
	}
	v.Customer = &views.SetupPerson{Name: customerName(buyer), Phone: buyer.Phone}
	v.Spend = spendField(form, by.Tenant.Currency)
	v.Spend.Echo = false
	v.Spend.Help = "What " + buyer.FirstName + " pays"
	v.Example = saleExample(form, *rule, by.Tenant.Currency)
	v.Problem = form.Problem()
	v.CurrencyNote = "After this, your currency (" + by.Tenant.Currency + ") can't be changed."
	return a.Render(c, status, views.SetupSalePage(v), nil)
}

// saleExample is what the sale on the form will earn.
func saleExample(form *page.Form, rule transaction.Type, currency string) views.SetupExample {
	v := views.SetupExample{Title: "This sale earns", Note: "Type an amount such as " + page.AmountExample(currency) + "."}
	draft := page.Query(maps.Clone(form.Values))
	spend := draft.Amount("spend_amount_cents", currency)
	if spend == nil {
		return v
	}
	e := earns(page.AwardOf(rule, *spend, currency))
	v.Figure, v.Note = e.Text, e.Note
	if e.Text != "" {
		v.Figure = "+" + e.Text
	}
	return v
}

func (a *Admin) previewSetupSale(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	if !page.IsFragment(c) {
		return a.setupSale(c, http.StatusOK, s, form)
	}
	rule, err := a.ownRule(c, s)
	if err != nil {
		return err
	}
	if rule == nil {
		return core.ErrNotFound
	}
	return a.Render(c, http.StatusOK, views.SetupExampleCard(saleExample(form, *rule, page.Actor(c).Tenant.Currency)), nil)
}

func (a *Admin) saveSetupSale(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	s, err := a.setupOf(c)
	if err != nil {
		return err
	}
	path := stepPath(tenant.SaleStep)
	if s.SaleID != nil || s.RuleID == nil || s.CustomerID == nil { // recorded in another tab, or nothing to record it with
		return a.Redirect(c, path)
	}
	by := page.Once(c, form, func(transaction.Transaction) string { return path })
	spend := form.Amount("spend_amount_cents", by.Tenant.Currency)
	if spend != nil && by.Tenant.Confirms(*spend) {
		form.Refused(core.Invalid(core.Fields{"spend_amount_cents": {"Choose an amount up to " + page.Money(by.Tenant.ConfirmAboveCents, by.Tenant.Currency) + ". Larger sales are confirmed at the till."}}))
		return a.setupSale(c, http.StatusUnprocessableEntity, s, form)
	}
	_, err = a.Transactions.Record(c.Request().Context(), by, transaction.New{
		CustomerID: new(s.CustomerID.String()), TransactionTypeID: s.RuleID, SpendAmountCents: spend, Source: transaction.Panel, Unreadable: form.Unreadable,
	})
	if path, again := page.Repeated(by, err); again {
		return a.Redirect(c, path)
	}
	if form.Refused(err) {
		return a.setupSale(c, http.StatusUnprocessableEntity, s, form)
	}
	if err != nil {
		return err
	}
	return a.Redirect(c, path)
}
