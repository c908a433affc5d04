package setup

import (
	"context"
	"maps"
	"math"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin/setup"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// defaultUnit is the amount of a new rule: 1.00, or 100 in currencies whose amounts are whole.
func defaultUnit(currency string) int64 {
	unit := int64(math.Pow10(format.Decimals(currency)))
	if unit == 1 || core.SpentWhole(currency) {
		unit *= 100
	}
	return unit
}

// ownRule is the first transaction type, or nil for none.
func (h *Handlers) ownRule(c echo.Context, s tenant.Setup) (rule *transaction.Type, err error) {
	if s.RuleID == nil {
		return rule, nil
	}
	t, err := h.Transactions.FindType(c.Request().Context(), page.Actor(c), *s.RuleID)
	return &t, err
}

func (h *Handlers) showRule(c echo.Context) error { return h.rule(c, http.StatusOK, nil) }

func (h *Handlers) rule(c echo.Context, status int, form *forms.Form) error {
	s, err := h.progress(c)
	if err != nil {
		return err
	}
	old, err := h.ownRule(c, s)
	if err != nil {
		return err
	}
	if form == nil {
		form = ruleValues(old, page.Actor(c).Tenant.Currency)
	}
	v := views.Rule{Guide: h.guide(c, s, tenant.RuleStep), Form: form, Old: old, Example: h.ruleExample(c, form, old)}
	return h.Render(c, status, views.RulePage(v), nil)
}

// ruleValues is the form of the rule before it is edited.
func ruleValues(old *transaction.Type, currency string) *forms.Form {
	t := transaction.Type{RuleType: "points", Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: defaultUnit(currency)}}
	if old != nil {
		t = *old
	}
	form := forms.Blank(map[string]string{"rule_type": string(t.RuleType), "points_per_unit": strconv.FormatInt(t.PointsPerUnit, 10)})
	form.SetAmount("unit_cents", t.UnitCents, currency)
	return form
}

// ruleOf is the rule that the form describes. For stamps the fields of points are hidden and not
// read.
func ruleOf(form *forms.Form, old *transaction.Type, currency string) transaction.NewType {
	n := transaction.NewType{
		Name: views.FirstType, RuleType: transaction.RuleType(form.Value("rule_type")),
		Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: defaultUnit(currency), StampsPerTransaction: 1},
	}
	if old != nil {
		n.Name, n.Rule = old.Name, old.Rule
		n.StampsPerTransaction = max(n.StampsPerTransaction, 1)
	}
	if n.RuleType != "stamps" {
		form.Require("points_per_unit")
		form.Require("unit_cents")
		n.PointsPerUnit = core.OrZero(form.Integer("points_per_unit"))
		n.UnitCents = core.OrZero(form.Amount("unit_cents", currency))
		if n.UnitCents == 0 {
			n.UnitCents = -1 // refused, while 0 means core's default
		}
	}
	n.Malformed = form.Malformed
	return n
}

// ruleExample shows what three sales earn by the rule on the form.
func (h *Handlers) ruleExample(c echo.Context, form *forms.Form, old *transaction.Type) views.Example {
	currency := page.Actor(c).Tenant.Currency
	draft := forms.Query(maps.Clone(form.Values)) // violations are shown when the form is submitted
	n := ruleOf(draft, old, currency)
	var sales []views.Earned
	for _, tenths := range []int64{35, 82, 149} {
		cents := defaultUnit(currency) * tenths / 10
		award, unit, err := n.Preview(&cents)
		if err != nil {
			sales = nil
			break
		}
		sales = append(sales, views.Earned{Cents: cents, Award: format.Award{Amount: award, Unit: unit}})
	}
	return views.RuleExample(h.Reader(c), sales)
}

func (h *Handlers) previewRule(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	if !page.IsFragment(c) {
		return h.rule(c, http.StatusOK, form)
	}
	s, err := h.progress(c)
	if err != nil {
		return err
	}
	old, err := h.ownRule(c, s)
	if err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.ExampleCard(h.ruleExample(c, form, old)), nil)
}

func (h *Handlers) saveRule(c echo.Context) error {
	s, err := h.progress(c)
	if err != nil {
		return err
	}
	// The rule may have been created in another tab. Then it is edited, so there is only one.
	old, err := h.ownRule(c, s)
	if err != nil {
		return err
	}
	return submitStep(h, c, tenant.RuleStep, page.Submission[transaction.Type]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[transaction.Type]) (core.Reply[transaction.Type], error) {
			n := ruleOf(form, old, by.Tenant.Currency)
			if old == nil {
				return h.Transactions.AddType(ctx, by, n, once)
			}
			edited, err := h.Transactions.EditType(ctx, by, old.ID, transaction.EditType{
				RuleType: panel.IfChanged(form, new(string(n.RuleType)), "rule_type"), StampsPerTransaction: panel.IfChanged(form, &n.StampsPerTransaction, "rule_type"),
				PointsPerUnit: panel.IfChanged(form, &n.PointsPerUnit, "points_per_unit"), UnitCents: panel.IfChanged(form, &n.UnitCents, "unit_cents"), Malformed: n.Malformed,
			})
			return core.Reply[transaction.Type]{Result: edited}, err
		},
		Refused: func(status int, form *forms.Form) error { return h.rule(c, status, form) },
	})
}
