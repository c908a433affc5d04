package admin

import (
	"context"
	"maps"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const typesPath = "/admin/types"

func (a *Admin) typeRoutes() []route {
	return []route{
		{method: get, path: typesPath, least: core.Manager, handle: a.listTypes},
		{method: get, path: typesPath + "/new", least: core.Manager, handle: a.newType},
		{method: post, path: typesPath + "/new", least: core.Manager, handle: a.addType},
		{method: post, path: typesPath + "/earns", least: core.Manager, handle: a.previewType},
		{method: post, path: typesPath + "/try", least: core.Manager, handle: a.tryType},
		{method: get, path: typesPath + "/:id", least: core.Manager, handle: a.showType},
		{method: post, path: typesPath + "/:id", least: core.Manager, handle: a.editType},
		{method: post, path: typesPath + "/:id/active", least: core.Manager, handle: a.setTypeActive},
	}
}

// number reads the integer id of a path. One that is no number is nobody's.
func number(c echo.Context) (int64, error) {
	n, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return 0, core.ErrNotFound
	}
	return n, nil
}

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
			Active: t.Active, SwitchPath: typePath(t.ID) + "/active",
		})
	}
	return a.Render(c, http.StatusOK, views.TypeListPage(v), nil)
}

// ruleInWords is "1 point for every € 1.00".
func ruleInWords(t transaction.Type, currency string) string {
	if t.RuleType == "stamps" {
		return amount(t.StampsPerTransaction, t.RuleType)
	}
	return amount(t.PointsPerUnit, t.RuleType) + " for every " + page.Money(t.UnitCents, currency)
}

func limitsInWords(t transaction.Type, currency string) string {
	words := ""
	if t.MinSpendCents > 0 {
		words = "From " + page.Money(t.MinSpendCents, currency)
	}
	if t.MaxAward != nil {
		if words != "" {
			words += ", a"
		} else {
			words = "A"
		}
		words += "t most " + amount(*t.MaxAward, t.RuleType)
	}
	return words
}

func (a *Admin) newType(c echo.Context) error {
	currency := page.Actor(c).Tenant.Currency
	form := page.Blank(map[string]string{"rule_type": "points", "points_per_unit": "1", "stamps_per_transaction": "1"})
	form.SetAmount("unit_cents", 100, currency)
	return a.typeForm(c, http.StatusOK, nil, form)
}

// typeForm shows the form of a type to be, or of one that exists.
func (a *Admin) typeForm(c echo.Context, status int, old *transaction.Type, form *page.Form) error {
	currency := page.Actor(c).Tenant.Currency
	v := views.TypeForm{Frame: a.frame(c, "New transaction type", typesPath, ui.Crumb{Label: "Transaction types", Path: typesPath}), Action: typesPath + "/new", Button: "Make the type", FormKey: a.NewFormKey()}
	if old != nil {
		v.Title, v.Action, v.Button, v.Began = old.Name, typePath(old.ID), "Save", form.Original()
	}
	v.Name = form.Field("name", "Name")
	v.Name.Help = "What the till calls it: “Drinks”, “Lunch”, “Catering”."
	v.Unit = form.Field("rule_type", "A sale earns")
	v.Unit.Options = form.Options("rule_type",
		ui.Option{Value: "points", Label: "Points", Help: "By what is spent"}, ui.Option{Value: "stamps", Label: "Stamps", Help: "By the visit, like a stamp card"})
	v.Points, v.Per = form.Field("points_per_unit", "Points"), form.Field("unit_cents", "Spend")
	v.Stamps = form.Field("stamps_per_transaction", "Stamps for each sale")
	v.Least, v.Most = form.Field("min_spend_cents", "Least spend"), form.Field("max_award", "Most that a sale earns")
	if old != nil {
		active := form.Field("active", "The till and the API may use it")
		v.Active = &active
	}
	v.Problem = form.Problem()
	// On the page they are parts of a sentence, of which a message cannot speak.
	v.Per.Label, v.Least.Label, v.Most.Label = "for every", "Only from", "At most"
	symbol := page.Symbol(currency)
	v.Points.Mode, v.Stamps.Mode, v.Most.Mode = "numeric", "numeric", "numeric"
	v.Per.Before, v.Per.Mode, v.Per.Help = symbol, "decimal", "Only whole multiples count: "+page.Amount(250, currency)+" earns as much as "+page.Amount(200, currency)+"."
	v.Least.Before, v.Least.Mode, v.Least.Optional, v.Least.Help = symbol, "decimal", true, "A smaller sale is recorded and earns nothing."
	v.Most.After, v.Most.Optional, v.Most.Help = "per sale", true, "However much is spent."
	if form.Value("example") == "" {
		form.SetAmount("example", 2450, currency)
	}
	v.Earns = a.exampleEarns(c, form)
	v.Example = form.Field("example", "What would this earn?")
	v.Example.Before, v.Example.Mode = symbol, "decimal"
	return a.Render(c, status, views.TypeFormPage(v), nil)
}

// newTypeOf is the type that a form describes.
func newTypeOf(form *page.Form, currency string) transaction.NewType {
	n := transaction.NewType{Name: form.Value("name"), RuleType: transaction.RuleType(form.Value("rule_type"))}
	n.PointsPerUnit = value(form.Integer("points_per_unit"))
	n.UnitCents = value(form.Amount("unit_cents", currency))
	if n.UnitCents == 0 {
		n.UnitCents = -1 // typed or left empty: core would take 0 for its default
	}
	n.StampsPerTransaction = value(form.Integer("stamps_per_transaction"))
	n.MinSpendCents = value(form.Amount("min_spend_cents", currency))
	n.MaxAward = form.Integer("max_award")
	n.Malformed = form.Malformed
	return n
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// exampleEarns says what the example on the form would earn by its rule, as far as both can be
// read.
func (a *Admin) exampleEarns(c echo.Context, form *page.Form) views.Earns {
	currency := page.Actor(c).Tenant.Currency
	draft := page.Query(maps.Clone(form.Values)) // what is wrong so far is said when it is sent
	cents := draft.Amount("example", currency)
	if cents == nil {
		return views.Earns{Note: "Type an amount such as " + page.AmountExample(currency) + "."}
	}
	n := newTypeOf(draft, currency)
	award, unit, err := n.Preview(cents)
	if err != nil && unit != "" {
		return earnsView(page.AwardTooLarge(unit))
	}
	if err != nil {
		return views.Earns{Note: "The rule is not complete yet."}
	}
	v := views.Earns{Text: amount(award, unit)}
	if award == 0 && *cents < n.MinSpendCents {
		v.Note = "(from " + page.Money(n.MinSpendCents, currency) + " on)"
	}
	return v
}

func (a *Admin) previewType(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	return a.Render(c, http.StatusOK, views.EarnsLine(a.exampleEarns(c, form)), nil)
}

// tryType shows the form again with what its rule earns: the preview without scripts.
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
	id, err := number(c)
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
				Name: touched(form, &n.Name, "name"), RuleType: touched(form, new(string(n.RuleType)), "rule_type"),
				Active:        touched(form, new(form.Checked("active")), "active"),
				PointsPerUnit: touched(form, &n.PointsPerUnit, "points_per_unit"), UnitCents: touched(form, &n.UnitCents, "unit_cents"),
				StampsPerTransaction: touched(form, &n.StampsPerTransaction, "stamps_per_transaction"),
				MinSpendCents:        touched(form, &n.MinSpendCents, "min_spend_cents"), MaxAward: touched(form, n.MaxAward, "max_award"),
				Malformed: n.Malformed,
			})
		},
		Refused: func(status int, form *page.Form) error { return a.typeForm(c, status, &old, form) },
		To:      page.To[transaction.Type](typesPath),
		Done: func(t transaction.Type) string {
			return "“" + t.Name + "” was saved. Earlier sales keep what they earned."
		},
	})
}

func (a *Admin) setTypeActive(c echo.Context) error {
	id, err := number(c)
	if err != nil {
		return err
	}
	return page.Submit(a.Kit, c, page.Submission[transaction.Type]{
		Run: func(ctx context.Context, by core.Actor, form *page.Form) (transaction.Type, error) {
			return page.Switch(form, "active", func(on bool) (transaction.Type, error) { return a.Transactions.SetTypeActive(ctx, by, id, on) })
		},
		To: page.To[transaction.Type](typesPath),
		Done: func(t transaction.Type) string {
			if t.Active {
				return "“" + t.Name + "” is active again."
			}
			return "“" + t.Name + "” is inactive: new sales can't use it. Earlier sales stay."
		},
	})
}
