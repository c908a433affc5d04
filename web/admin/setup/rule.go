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
	"example.com/loyalty/views/ui"
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

func (h *Handlers) showSetupRule(c echo.Context) error { return h.setupRule(c, http.StatusOK, nil) }

func (h *Handlers) setupRule(c echo.Context, status int, form *forms.Form) error {
	s, err := h.setupOf(c)
	if err != nil {
		return err
	}
	old, err := h.ownRule(c, s)
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	if form == nil {
		form = ruleValues(old, currency)
	}
	v := views.SetupRule{
		Setup: h.setupFrame(c, s, tenant.RuleStep), Unit: form.Field("rule_type", ui.Field{Label: "Customers collect"}),
		Points: form.Field("points_per_unit", ui.Field{Label: "A customer gets"}), Per: form.Field("unit_cents", ui.Field{Label: "For every"}),
	}
	v.Problem = form.Problem()
	v.Note = "Shown at the till as “" + firstTypeName + "”. Rename it under Transaction types."
	if old != nil {
		v.Began = form.Original()
		v.Note = "More settings for “" + old.Name + "” are under Transaction types."
	}
	v.Unit.Options = form.Options("rule_type",
		ui.Option{Value: "points", Label: "Points", Help: "By amount spent"}, ui.Option{Value: "stamps", Label: "Stamps", Help: "One per visit"})
	v.Points.Mode, v.Points.After = "numeric", "points"
	v.Per.Mode, v.Per.Before = "decimal", format.Symbol(currency)
	v.Per.Help = "Whole multiples only"
	v.Example = ruleExample(form, old, currency)
	return h.Render(c, status, views.SetupRulePage(v), nil)
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
		Name: firstTypeName, RuleType: transaction.RuleType(form.Value("rule_type")),
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
			n.UnitCents = -1 // core would read 0 as its default
		}
	}
	n.Malformed = form.Malformed
	return n
}

// ruleExample is what three sales earn by the rule on the form.
func ruleExample(form *forms.Form, old *transaction.Type, currency string) views.SetupExample {
	v := views.SetupExample{Title: "Example sales"}
	draft := forms.Query(maps.Clone(form.Values)) // violations are shown when the form is submitted
	n := ruleOf(draft, old, currency)
	for _, tenths := range []int64{35, 82, 149} {
		cents := defaultUnit(currency) * tenths / 10
		award, unit, err := n.Preview(&cents)
		if err != nil {
			return views.SetupExample{Title: v.Title, Note: panel.CompleteRule}
		}
		v.Rows = append(v.Rows, ui.Pair{Name: format.Money(cents, currency), Value: "+" + format.Units(award, unit)})
	}
	v.Earned = true
	return v
}

func (h *Handlers) previewSetupRule(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	if !page.IsFragment(c) {
		return h.setupRule(c, http.StatusOK, form)
	}
	s, err := h.setupOf(c)
	if err != nil {
		return err
	}
	old, err := h.ownRule(c, s)
	if err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.SetupExampleCard(ruleExample(form, old, page.Actor(c).Tenant.Currency)), nil)
}

func (h *Handlers) saveSetupRule(c echo.Context) error {
	s, err := h.setupOf(c)
	if err != nil {
		return err
	}
	// The rule may have been created in another tab. Then it is edited, so there is only one.
	old, err := h.ownRule(c, s)
	if err != nil {
		return err
	}
	return submitStep(h, c, tenant.RuleStep, page.Submission[transaction.Type]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (transaction.Type, error) {
			n := ruleOf(form, old, by.Tenant.Currency)
			if old == nil {
				return h.Transactions.AddType(ctx, by, n)
			}
			return h.Transactions.EditType(ctx, by, old.ID, transaction.EditType{
				RuleType: panel.IfChanged(form, new(string(n.RuleType)), "rule_type"), StampsPerTransaction: panel.IfChanged(form, &n.StampsPerTransaction, "rule_type"),
				PointsPerUnit: panel.IfChanged(form, &n.PointsPerUnit, "points_per_unit"), UnitCents: panel.IfChanged(form, &n.UnitCents, "unit_cents"), Malformed: n.Malformed,
			})
		},
		Refused: func(status int, form *forms.Form) error { return h.setupRule(c, status, form) },
		Once:    true,
	})
}
