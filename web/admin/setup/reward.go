package setup

import (
	"context"
	"maps"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin/setup"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// setupReward is the first reward, if it exists, and the rule by which customers earn it.
type setupReward struct {
	setup tenant.Setup
	old   *reward.Reward
	rule  *transaction.Type
}

// unit is the unit of the reward's cost. An existing reward keeps its unit.
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

// ownReward reads the first reward and the earning rule.
func (h *Handlers) ownReward(c echo.Context) (r setupReward, err error) {
	if r.setup, err = h.setupOf(c); err != nil {
		return r, err
	}
	if r.setup.RewardID != nil {
		found, err := h.Rewards.Find(c.Request().Context(), page.Actor(c), *r.setup.RewardID)
		if err != nil {
			return r, err
		}
		r.old = &found.Reward
	}
	r.rule, err = h.ownRule(c, r.setup)
	return r, err
}

func (h *Handlers) showSetupReward(c echo.Context) error {
	r, err := h.ownReward(c)
	if err != nil {
		return err
	}
	form := forms.Blank(nil)
	if r.old != nil {
		_, price := r.old.Price()
		form = forms.Blank(map[string]string{"name": r.old.Name, r.costField(): strconv.FormatInt(price, 10)})
		if r.old.CostCents != nil {
			form.SetAmount("cost_cents", *r.old.CostCents, page.Actor(c).Tenant.Currency)
		}
	}
	return h.setupRewardForm(c, http.StatusOK, r, form)
}

func (h *Handlers) setupRewardForm(c echo.Context, status int, r setupReward, form *forms.Form) error {
	currency := page.Actor(c).Tenant.Currency
	v := views.SetupReward{
		Setup: h.setupFrame(c, r.setup, tenant.RewardStep), Name: form.Field("name", ui.Field{Label: "Reward"}), Cost: form.Field(r.costField(), ui.Field{Label: "Cost"}),
		UnitCost: form.Field("cost_cents", ui.Field{Label: "Cost to you"}), Example: rewardExample(form, r, currency),
	}
	v.UnitCost.Before, v.UnitCost.Mode, v.UnitCost.Optional, v.UnitCost.Autocomplete = format.Symbol(currency), "decimal", true, "off"
	v.UnitCost.Help = "Not shown to customers"
	v.Name.Placeholder, v.Name.MaxLength = "Free coffee", 100
	v.Cost.Mode, v.Cost.After, v.Cost.Autocomplete = "numeric", string(r.unit()), "off"
	if r.unit() == "points" && r.rule != nil {
		usual := form.Field("usual_sale", ui.Field{Label: "Typical sale"})
		usual.Before, usual.Mode, usual.Optional, usual.Autocomplete = format.Symbol(currency), "decimal", true, "off"
		usual.Help = "Only for the example, not saved"
		v.Usual = &usual
	}
	if r.old != nil {
		v.Began = form.Original()
	}
	v.Problem = form.Problem()
	return h.Render(c, status, views.SetupRewardPage(v), nil)
}

// maxDrawn is the largest number of sales that are drawn one by one.
const maxDrawn = 20

// rewardExample says how many sales the reward takes by the rule and the numbers on the form.
func rewardExample(form *forms.Form, r setupReward, currency string) views.SetupExample {
	v := views.SetupExample{Title: "Sales needed"}
	if r.rule == nil {
		v.Note = "Set your earning rule to see how many sales it takes"
		return v
	}
	if r.rule.RuleType != r.unit() {
		v.Note = "Your rule earns " + string(r.rule.RuleType) + ", but this reward costs " + string(r.unit())
		return v
	}
	draft := forms.Query(maps.Clone(form.Values))
	cost := draft.Integer(r.costField())
	spend := new(r.rule.MinSpendCents) // for stamps: the smallest sale that earns one
	if r.unit() == "points" {
		spend = draft.Amount("usual_sale", currency)
	}
	if cost == nil || *cost < 1 || spend == nil {
		v.Note = "Enter the cost and a typical sale"
		if r.unit() != "points" {
			v.Note = "Enter the cost"
		}
		return v
	}
	award, err := r.rule.Award(*spend)
	if err != nil || award < 1 {
		v.Note = "A " + format.Money(*spend, currency) + " sale earns nothing by your rule"
		return v
	}
	sales := (*cost-1)/award + 1
	v.Title = "Sales needed for " + format.Units(*cost, r.unit())
	if r.unit() == "points" {
		v.Figure = "About " + format.Count(sales, "sale", "sales")
		v.Note = "of " + format.Money(*spend, currency) + ", earning " + format.Units(award, r.unit()) + " each" + sharePaidBack(draft, sales, *spend, currency)
	} else {
		v.Figure = format.Count(sales, "visit", "visits")
		v.Note = "Each earns " + format.Units(award, r.unit())
	}
	if sales <= maxDrawn {
		v.Pieces = int(sales)
	}
	return v
}

// sharePaidBack says which share of the sales the reward gives back, if its cost to the business was typed.
func sharePaidBack(draft *forms.Form, sales, spend int64, currency string) string {
	cost := draft.Amount("cost_cents", currency)
	if cost == nil || *cost < 1 || spend < 1 {
		return ""
	}
	percent := float64(*cost) * 100 / (float64(sales) * float64(spend))
	return ". It costs you " + format.Money(*cost, currency) + ", which is " + strconv.FormatFloat(percent, 'f', 1, 64) + "% of these sales."
}

func (h *Handlers) previewSetupReward(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	r, err := h.ownReward(c)
	if err != nil {
		return err
	}
	if page.IsFragment(c) {
		return h.Render(c, http.StatusOK, views.SetupExampleCard(rewardExample(form, r, page.Actor(c).Tenant.Currency)), nil)
	}
	return h.setupRewardForm(c, http.StatusOK, r, form)
}

func (h *Handlers) saveSetupReward(c echo.Context) error {
	// The reward may have been created in another tab. Then it is edited, so there is only one.
	r, err := h.ownReward(c)
	if err != nil {
		return err
	}
	return submitStep(h, c, tenant.RewardStep, page.Submission[reward.Reward]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (reward.Reward, error) {
			form.Require(r.costField())
			points, stamps := form.Integer(r.costField()), (*int64)(nil)
			if r.unit() == "stamps" {
				points, stamps = nil, points
			}
			unitCost := panel.SentAmount(form, "cost_cents", by.Tenant.Currency) // before Malformed, which it may set
			if r.old == nil {
				return h.Rewards.Add(ctx, by, reward.New{Name: form.Text("name"), PointsCost: points, StampsCost: stamps, CostCents: unitCost.Value, Malformed: form.Malformed})
			}
			return h.Rewards.Edit(ctx, by, r.old.ID, reward.Edit{
				Name: panel.IfChanged(form, form.Text("name"), "name"), PointsCost: panel.IfChanged(form, points, r.costField()),
				StampsCost: panel.IfChanged(form, stamps, r.costField()), CostCents: unitCost, Malformed: form.Malformed,
			})
		},
		Refused: func(status int, form *forms.Form) error { return h.setupRewardForm(c, status, r, form) },
		Once:    true,
	})
}
