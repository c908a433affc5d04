// The third step of the guide: the first reward.

package admin

import (
	"maps"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

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
		v.Began, v.Editing = form.Original(), true
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
	by := page.IdempotentActor(c, form, func(reward.Reward) string { return setupPath })
	if r.old == nil {
		_, err = a.Rewards.Add(ctx, by, reward.New{Name: form.Text("name"), PointsCost: points, StampsCost: stamps, Malformed: form.Malformed})
	} else {
		_, err = a.Rewards.Edit(ctx, by, r.old.ID, reward.Edit{
			Name: touched(form, form.Text("name"), "name"), PointsCost: touched(form, points, r.costField()),
			StampsCost: touched(form, stamps, r.costField()), Malformed: form.Malformed,
		})
	}
	if path, again := page.ReplayedPath(by, err); again {
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
