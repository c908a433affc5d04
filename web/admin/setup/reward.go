package setup

import (
	"context"
	"maps"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin/setup"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// ownReward is the first reward, if it exists, and the rule by which customers earn it.
type ownReward struct {
	setup tenant.Setup
	old   *reward.Reward
	rule  *transaction.Type
}

// unit is the unit of the reward's cost. An existing reward keeps its unit.
func (r ownReward) unit() ledger.Unit {
	switch {
	case r.old != nil:
		unit, _ := r.old.Price()
		return unit
	case r.rule != nil:
		return r.rule.RuleType
	}
	return ledger.Points
}

func (r ownReward) costField() string { return string(r.unit()) + "_cost" }

// findReward reads the first reward and the earning rule.
func (h *Handlers) findReward(c echo.Context) (r ownReward, err error) {
	if r.setup, err = h.progress(c); err != nil {
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

func (h *Handlers) showReward(c echo.Context) error {
	r, err := h.findReward(c)
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
	return h.reward(c, http.StatusOK, r, form)
}

func (h *Handlers) reward(c echo.Context, status int, r ownReward, form *forms.Form) error {
	v := views.Reward{Guide: h.guide(c, r.setup, tenant.RewardStep), Form: form, Old: r.old, Rule: r.rule, Unit: r.unit(), Example: h.rewardExample(c, form, r)}
	return h.Render(c, status, views.RewardPage(v), nil)
}

// rewardExample shows how many sales the reward takes by the rule and the numbers on the form.
func (h *Handlers) rewardExample(c echo.Context, form *forms.Form, r ownReward) views.Example {
	currency := page.Actor(c).Tenant.Currency
	draft := forms.Query(maps.Clone(form.Values)) // violations are shown when the form is submitted
	n := views.RewardNumbers{Rule: r.rule, Unit: r.unit(), Cost: draft.Integer(r.costField()), UnitCost: draft.Amount("cost_cents", currency)}
	switch {
	case n.Unit == ledger.Points:
		n.Sale = draft.Amount("usual_sale", currency)
	case n.Rule != nil:
		n.Sale = &n.Rule.MinSpendCents // the smallest sale that earns a stamp
	}
	return views.RewardExample(h.Reader(c), n)
}

func (h *Handlers) previewReward(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	r, err := h.findReward(c)
	if err != nil {
		return err
	}
	if page.IsFragment(c) {
		return h.Render(c, http.StatusOK, views.ExampleCard(h.rewardExample(c, form, r)), nil)
	}
	return h.reward(c, http.StatusOK, r, form)
}

func (h *Handlers) saveReward(c echo.Context) error {
	// The reward may have been created in another tab. Then it is edited, so there is only one.
	r, err := h.findReward(c)
	if err != nil {
		return err
	}
	return submitStep(h, c, tenant.RewardStep, page.Submission[reward.Reward]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[reward.Reward]) (core.Reply[reward.Reward], error) {
			form.Require(r.costField())
			points, stamps := form.Integer(r.costField()), (*int64)(nil)
			if r.unit() == ledger.Stamps {
				points, stamps = nil, points
			}
			unitCost := panel.SentAmount(form, "cost_cents", by.Tenant.Currency) // before Malformed, which it may set
			if r.old == nil {
				return h.Rewards.Add(ctx, by, reward.New{Name: form.Value("name"), PointsCost: points, StampsCost: stamps, CostCents: unitCost.Value, Malformed: form.Malformed}, once)
			}
			edited, err := h.Rewards.Edit(ctx, by, r.old.ID, reward.Edit{
				Name: panel.IfChanged(form, form.Text("name"), "name"), PointsCost: panel.IfChanged(form, points, r.costField()),
				StampsCost: panel.IfChanged(form, stamps, r.costField()), CostCents: unitCost, Malformed: form.Malformed,
			})
			return core.Reply[reward.Reward]{Result: edited}, err
		},
		Refused: func(status int, form *forms.Form) error { return h.reward(c, status, r, form) },
	})
}
