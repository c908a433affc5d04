package admin

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const typesPath = "/admin/types"

func (a *Admin) typeRoutes() []route.Route {
	return []route.Route{
		route.Get(typesPath, route.Managers, a.listTypes),
		route.Get(typesPath+"/new", route.Managers, a.newType),
		route.Post(typesPath+"/new", route.Managers, a.addType),
		route.Post(typesPath+"/earns", route.Managers, a.previewType),
		route.Post(typesPath+"/try", route.Managers, a.tryType),
		route.Get(typesPath+"/:id", route.Managers, a.showType),
		route.Post(typesPath+"/:id", route.Managers, a.editType),
		route.Post(typesPath+"/:id/active", route.Managers, a.setTypeActive),
	}
}

func pathNumber(c echo.Context) (int64, error) { return page.PathNumber(c, "id") }

func typePath(id int64) string { return typesPath + "/" + strconv.FormatInt(id, 10) }

func (a *Admin) listTypes(c echo.Context) error {
	by := page.Actor(c)
	types, err := a.Transactions.Types(c.Request().Context(), by)
	if err != nil {
		return err
	}
	v := views.TypeList{Frame: a.frame(c, "Transaction types", typesPath)}
	for _, t := range types {
		v.Rows = append(v.Rows, views.TypeRow{
			Path: typePath(t.ID), Name: t.Name, Rule: ruleInWords(t, by.Tenant.Currency), Limits: limitsInWords(t, by.Tenant.Currency),
			Active: t.Active,
		})
	}
	return a.Render(c, http.StatusOK, views.TypeListPage(v), nil)
}

// ruleInWords is "1 point for every € 1.00".
func ruleInWords(t transaction.Type, currency string) string {
	if t.RuleType == "stamps" {
		return page.Units(t.StampsPerTransaction, t.RuleType)
	}
	return page.Units(t.PointsPerUnit, t.RuleType) + " for every " + page.Money(t.UnitCents, currency)
}

// limitsInWords is "Minimum spend € 10.00 · Maximum 50 points", or "" without limits.
func limitsInWords(t transaction.Type, currency string) string {
	var limits []string
	if t.MinSpendCents > 0 {
		limits = append(limits, "Minimum spend "+page.Money(t.MinSpendCents, currency))
	}
	if t.MaxAward != nil {
		limits = append(limits, "Maximum "+page.Units(*t.MaxAward, t.RuleType))
	}
	return strings.Join(limits, " · ")
}

func (a *Admin) newType(c echo.Context) error {
	currency := page.Actor(c).Tenant.Currency
	form := page.Blank(map[string]string{"rule_type": "points", "points_per_unit": "1", "stamps_per_transaction": "1"})
	form.SetAmount("unit_cents", 100, currency)
	return a.typeForm(c, http.StatusOK, nil, form)
}

// typeForm shows the form of a new type, or of an existing one.
func (a *Admin) typeForm(c echo.Context, status int, old *transaction.Type, form *page.Form) error {
	currency := page.Actor(c).Tenant.Currency
	v := views.TypeForm{Frame: a.frame(c, "New transaction type", typesPath, ui.Crumb{Label: "Transaction types", Path: typesPath}), Action: typesPath + "/new", Button: "Create transaction type", FormKey: a.NewFormKey()}
	if old != nil {
		v.Title, v.Action, v.Button, v.Began = old.Name, typePath(old.ID), "Save", form.Original()
	}
	v.Name = form.Field("name", "Name")
	v.Name.Help = "Shown at the till, e.g. Drinks or Catering"
	v.Unit = form.Field("rule_type", "A sale earns")
	v.Unit.Options = form.Options("rule_type", unitOptions...)
	v.Points, v.Spend = form.Field("points_per_unit", "Points"), form.Field("unit_cents", "For every")
	v.Stamps = form.Field("stamps_per_transaction", "Stamps per sale")
	v.Minimum, v.Maximum = form.Field("min_spend_cents", "Minimum spend"), form.Field("max_award", "Maximum per sale")
	if old != nil {
		active := form.Field("active", "Active: available at the till and in the API")
		v.Active = &active
	}
	v.Problem = form.Problem()
	symbol := page.Symbol(currency)
	v.Points.Mode, v.Stamps.Mode, v.Maximum.Mode, v.Maximum.Optional = "numeric", "numeric", "numeric", true
	v.Spend.Before, v.Spend.Mode, v.Spend.Help = symbol, "decimal", "Whole multiples only: "+page.Amount(250, currency)+" earns the same as "+page.Amount(200, currency)
	v.Minimum.Before, v.Minimum.Mode, v.Minimum.Optional, v.Minimum.Help = symbol, "decimal", true, "Smaller sales earn nothing"
	if form.Value("example") == "" {
		form.SetAmount("example", 2450, currency)
	}
	v.Earns = a.exampleEarns(c, form)
	v.Example = form.Field("example", "Sale amount")
	v.Example.Before, v.Example.Mode = symbol, "decimal"
	return a.Render(c, status, views.TypeFormPage(v), nil)
}

// unitOptions are the two kinds of earning rules.
var unitOptions = []ui.Option{
	{Value: "points", Label: "Points", Help: "By amount spent"}, {Value: "stamps", Label: "Stamps", Help: "Per visit, like a stamp card"},
}

// newTypeOf is the type that a form describes.
func newTypeOf(form *page.Form, currency string) transaction.NewType {
	n := transaction.NewType{Name: form.Value("name"), RuleType: transaction.RuleType(form.Value("rule_type"))}
	n.PointsPerUnit = orZero(form.Integer("points_per_unit"))
	n.UnitCents = orZero(form.Amount("unit_cents", currency))
	if n.UnitCents == 0 {
		n.UnitCents = -1 // core would read 0 as its default
	}
	n.StampsPerTransaction = orZero(form.Integer("stamps_per_transaction"))
	n.MinSpendCents = orZero(form.Amount("min_spend_cents", currency))
	n.MaxAward = form.Integer("max_award")
	n.Malformed = form.Malformed
	return n
}

// exampleEarns is what the form's rule would earn for its example sale.
func (a *Admin) exampleEarns(c echo.Context, form *page.Form) views.Earns {
	currency := page.Actor(c).Tenant.Currency
	draft := page.Query(maps.Clone(form.Values)) // violations are shown when the form is submitted
	cents := draft.Amount("example", currency)
	if cents == nil {
		return views.Earns{Note: enterAmount(currency)}
	}
	n := newTypeOf(draft, currency)
	award, unit, err := n.Preview(cents)
	if err != nil && unit != "" {
		return earnsView(page.AwardTooLarge(unit))
	}
	if err != nil {
		return views.Earns{Note: completeRule}
	}
	v := views.Earns{Text: page.Units(award, unit)}
	if award == 0 && *cents < n.MinSpendCents {
		v.Note = "(minimum spend " + page.Money(n.MinSpendCents, currency) + ")"
	}
	return v
}

// completeRule is shown in place of what an incomplete rule would earn.
const completeRule = "Complete the rule to see what it earns"

// enterAmount asks for the amount of an example.
func enterAmount(currency string) string {
	return "Enter an amount, e.g. " + page.AmountExample(currency)
}

func (a *Admin) previewType(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	return a.Render(c, http.StatusOK, views.EarnsLine(a.exampleEarns(c, form)), nil)
}

// tryType shows the form again with what its rule earns, for browsers without scripts.
func (a *Admin) tryType(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	return a.typeForm(c, http.StatusOK, nil, form)
}

func (a *Admin) addType(c echo.Context) error {
	currency := page.Actor(c).Tenant.Currency
	return page.Submit(a.Kit, c, page.Submission[transaction.Type]{
		Run: func(ctx context.Context, by core.Actor, form *page.Form) (transaction.Type, error) {
			return a.Transactions.AddType(ctx, by, newTypeOf(form, currency))
		},
		Refused: func(status int, form *page.Form) error { return a.typeForm(c, status, nil, form) },
		Once:    true,
		To:      page.To[transaction.Type](typesPath),
		Done: func(t transaction.Type) string {
			return "“" + t.Name + "” was created: " + ruleInWords(t, currency) + "."
		},
	})
}

func (a *Admin) showType(c echo.Context) error {
	t, err := a.typeOf(c)
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	values := map[string]string{
		"name": t.Name, "rule_type": string(t.RuleType), "points_per_unit": strconv.FormatInt(t.PointsPerUnit, 10),
		"stamps_per_transaction": strconv.FormatInt(t.StampsPerTransaction, 10),
	}
	if t.MaxAward != nil {
		values["max_award"] = strconv.FormatInt(*t.MaxAward, 10)
	}
	if t.Active {
		values["active"] = "1"
	}
	form := page.Blank(values)
	form.SetAmount("unit_cents", t.UnitCents, currency)
	if t.MinSpendCents > 0 {
		form.SetAmount("min_spend_cents", t.MinSpendCents, currency)
	}
	return a.typeForm(c, http.StatusOK, &t, form)
}

func (a *Admin) typeOf(c echo.Context) (transaction.Type, error) {
	id, err := pathNumber(c)
	if err != nil {
		return transaction.Type{}, err
	}
	return a.Transactions.FindType(c.Request().Context(), page.Actor(c), id)
}

func (a *Admin) editType(c echo.Context) error {
	old, err := a.typeOf(c)
	if err != nil {
		return err
	}
	return page.Submit(a.Kit, c, page.Submission[transaction.Type]{
		Run: func(ctx context.Context, by core.Actor, form *page.Form) (transaction.Type, error) {
			n := newTypeOf(form, by.Tenant.Currency)
			return a.Transactions.EditType(ctx, by, old.ID, transaction.EditType{
				Name: ifChanged(form, &n.Name, "name"), RuleType: ifChanged(form, new(string(n.RuleType)), "rule_type"),
				Active:        ifChanged(form, new(form.Checked("active")), "active"),
				PointsPerUnit: ifChanged(form, &n.PointsPerUnit, "points_per_unit"), UnitCents: ifChanged(form, &n.UnitCents, "unit_cents"),
				StampsPerTransaction: ifChanged(form, &n.StampsPerTransaction, "stamps_per_transaction"),
				MinSpendCents:        ifChanged(form, &n.MinSpendCents, "min_spend_cents"), MaxAward: ifChanged(form, n.MaxAward, "max_award"),
				Malformed: n.Malformed,
			})
		},
		Refused: func(status int, form *page.Form) error { return a.typeForm(c, status, &old, form) },
		To:      page.To[transaction.Type](typesPath),
		Done: func(t transaction.Type) string {
			return "“" + t.Name + "” was saved. Past sales keep what they earned."
		},
	})
}

func (a *Admin) setTypeActive(c echo.Context) error {
	id, err := pathNumber(c)
	if err != nil {
		return err
	}
	set := func(ctx context.Context, by core.Actor, active bool) (transaction.Type, error) {
		return a.Transactions.SetTypeActive(ctx, by, id, active)
	}
	return setActive(a, c, typesPath, set, func(t transaction.Type) string {
		return activeMessage(t.Name, t.Active, "It can't be used for new sales.")
	})
}
