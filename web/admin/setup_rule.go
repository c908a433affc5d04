// The second step of the guide: the earning rule.

package admin

import (
	"maps"
	"math"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

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
		v.Began, v.Editing = form.Original(), true
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
	n.Malformed = form.Malformed
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
	by := page.IdempotentActor(c, form, func(transaction.Type) string { return setupPath })
	n := ruleOf(form, old, by.Tenant.Currency)
	if old == nil {
		_, err = a.Transactions.AddType(ctx, by, n)
	} else {
		_, err = a.Transactions.EditType(ctx, by, old.ID, transaction.EditType{
			RuleType: touched(form, new(string(n.RuleType)), "rule_type"), StampsPerTransaction: touched(form, &n.StampsPerTransaction, "rule_type"),
			PointsPerUnit: touched(form, &n.PointsPerUnit, "points_per_unit"), UnitCents: touched(form, &n.UnitCents, "unit_cents"), Malformed: n.Malformed,
		})
	}
	if path, again := page.ReplayedPath(by, err); again {
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
