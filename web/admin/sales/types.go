package sales

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin/sales"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) typeRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Types, route.Managers, h.listTypes),
		route.Get(links.Types+"/new", route.Managers, h.newType),
		route.Post(links.Types+"/new", route.Managers, h.addType),
		route.Post(links.Types+"/earns", route.Managers, h.previewType),
		route.Post(links.Types+"/try", route.Managers, h.tryType),
		route.Get(links.Types+"/:id", route.Managers, h.showType),
		route.Post(links.Types+"/:id", route.Managers, h.editType),
		route.Post(links.Types+"/:id/active", route.Managers, h.setTypeActive),
	}
}

func (h *Handlers) listTypes(c echo.Context) error {
	by := page.Actor(c)
	types, err := h.Transactions.Types(c.Request().Context(), by)
	if err != nil {
		return err
	}
	v := views.TypeList{Frame: h.Frame(c, "Transaction types", links.Types)}
	for _, t := range types {
		v.Rows = append(v.Rows, views.TypeRow{
			Path: links.Type(t.ID), Name: t.Name, Rule: ruleInWords(t, by.Tenant.Currency), Limits: limitsInWords(t, by.Tenant.Currency),
			Active: t.Active,
		})
	}
	return h.Render(c, http.StatusOK, views.TypeListPage(v), nil)
}

// ruleInWords is "1 point for every € 1.00".
func ruleInWords(t transaction.Type, currency string) string {
	if t.RuleType == "stamps" {
		return format.Units(t.StampsPerTransaction, t.RuleType)
	}
	return format.Units(t.PointsPerUnit, t.RuleType) + " for every " + format.Money(t.UnitCents, currency)
}

// limitsInWords is "Minimum spend € 10.00 · Maximum 50 points", or "" without limits.
func limitsInWords(t transaction.Type, currency string) string {
	var limits []string
	if t.MinSpendCents > 0 {
		limits = append(limits, "Minimum spend "+format.Money(t.MinSpendCents, currency))
	}
	if t.MaxAward != nil {
		limits = append(limits, "Maximum "+format.Units(*t.MaxAward, t.RuleType))
	}
	return strings.Join(limits, " · ")
}

func (h *Handlers) newType(c echo.Context) error {
	currency := page.Actor(c).Tenant.Currency
	form := forms.Blank(map[string]string{"rule_type": "points", "points_per_unit": "1", "stamps_per_transaction": "1"})
	form.SetAmount("unit_cents", 100, currency)
	return h.typeForm(c, http.StatusOK, nil, form)
}

// typeForm shows the form of a new type, or of an existing one.
func (h *Handlers) typeForm(c echo.Context, status int, old *transaction.Type, form *forms.Form) error {
	currency := page.Actor(c).Tenant.Currency
	v := views.TypeForm{Frame: h.Frame(c, "New transaction type", links.Types, ui.Crumb{Label: "Transaction types", Path: links.Types}), Action: links.Types + "/new", Button: "Create transaction type", FormKey: h.NewFormKey()}
	if old != nil {
		v.Title, v.Action, v.Button, v.Began = old.Name, links.Type(old.ID), "Save", form.Original()
	}
	v.Name = form.Field("name", ui.Field{Label: "Name"})
	v.Name.Help = "Shown at the till, e.g. Drinks or Catering"
	v.Unit = form.Field("rule_type", ui.Field{Label: "A sale earns"})
	v.Unit.Options = form.Options("rule_type", unitOptions...)
	v.Points, v.Spend = form.Field("points_per_unit", ui.Field{Label: "Points"}), form.Field("unit_cents", ui.Field{Label: "For every"})
	v.Stamps = form.Field("stamps_per_transaction", ui.Field{Label: "Stamps per sale"})
	v.Minimum, v.Maximum = form.Field("min_spend_cents", ui.Field{Label: "Minimum spend"}), form.Field("max_award", ui.Field{Label: "Maximum per sale"})
	if old != nil {
		active := form.Field("active", ui.Field{Label: "Active: available at the till and in the API"})
		v.Active = &active
	}
	v.Problem = form.Problem()
	symbol := format.Symbol(currency)
	v.Points.Mode, v.Stamps.Mode, v.Maximum.Mode, v.Maximum.Optional = "numeric", "numeric", "numeric", true
	v.Spend.Before, v.Spend.Mode, v.Spend.Help = symbol, "decimal", "Whole multiples only: "+format.Amount(250, currency)+" earns the same as "+format.Amount(200, currency)
	v.Minimum.Before, v.Minimum.Mode, v.Minimum.Optional, v.Minimum.Help = symbol, "decimal", true, "Smaller sales earn nothing"
	if form.Value("example") == "" {
		form.SetAmount("example", 2450, currency)
	}
	v.Earns = h.exampleEarns(c, form)
	v.Example = form.Field("example", ui.Field{Label: "Sale amount"})
	v.Example.Before, v.Example.Mode = symbol, "decimal"
	return h.Render(c, status, views.TypeFormPage(v), nil)
}

// unitOptions are the two kinds of earning rules.
var unitOptions = []ui.Option{
	{Value: "points", Label: "Points", Help: "By amount spent"}, {Value: "stamps", Label: "Stamps", Help: "Per visit, like a stamp card"},
}

// newTypeOf is the type that a form describes.
func newTypeOf(form *forms.Form, currency string) transaction.NewType {
	n := transaction.NewType{Name: form.Value("name"), RuleType: transaction.RuleType(form.Value("rule_type"))}
	n.PointsPerUnit = core.OrZero(form.Integer("points_per_unit"))
	n.UnitCents = core.OrZero(form.Amount("unit_cents", currency))
	if n.UnitCents == 0 {
		n.UnitCents = -1 // core would read 0 as its default
	}
	n.StampsPerTransaction = core.OrZero(form.Integer("stamps_per_transaction"))
	n.MinSpendCents = core.OrZero(form.Amount("min_spend_cents", currency))
	n.MaxAward = form.Integer("max_award")
	n.Malformed = form.Malformed
	return n
}

// exampleEarns is what the form's rule would earn for its example sale.
func (h *Handlers) exampleEarns(c echo.Context, form *forms.Form) panelviews.Earns {
	currency := page.Actor(c).Tenant.Currency
	draft := forms.Query(maps.Clone(form.Values)) // violations are shown when the form is submitted
	cents := draft.Amount("example", currency)
	if cents == nil {
		return panelviews.Earns{Note: panel.EnterAmount(currency)}
	}
	n := newTypeOf(draft, currency)
	award, unit, err := n.Preview(cents)
	if err != nil && unit != "" {
		return panel.EarnsView(format.AwardTooLarge(unit))
	}
	if err != nil {
		return panelviews.Earns{Note: panel.CompleteRule}
	}
	v := panelviews.Earns{Text: format.Units(award, unit)}
	if award == 0 && *cents < n.MinSpendCents {
		v.Note = "(minimum spend " + format.Money(n.MinSpendCents, currency) + ")"
	}
	return v
}

func (h *Handlers) previewType(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.EarnsLine(h.exampleEarns(c, form)), nil)
}

// tryType shows the form again with what its rule earns, for browsers without scripts.
func (h *Handlers) tryType(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	return h.typeForm(c, http.StatusOK, nil, form)
}

func (h *Handlers) addType(c echo.Context) error {
	currency := page.Actor(c).Tenant.Currency
	return page.Submit(h.Kit, c, page.Submission[transaction.Type]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (transaction.Type, error) {
			return h.Transactions.AddType(ctx, by, newTypeOf(form, currency))
		},
		Refused: func(status int, form *forms.Form) error { return h.typeForm(c, status, nil, form) },
		Once:    true,
		To:      page.To[transaction.Type](links.Types),
		Done: func(t transaction.Type) string {
			return "“" + t.Name + "” was created: " + ruleInWords(t, currency) + "."
		},
	})
}

func (h *Handlers) showType(c echo.Context) error {
	t, err := h.typeOf(c)
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
	form := forms.Blank(values)
	form.SetAmount("unit_cents", t.UnitCents, currency)
	if t.MinSpendCents > 0 {
		form.SetAmount("min_spend_cents", t.MinSpendCents, currency)
	}
	return h.typeForm(c, http.StatusOK, &t, form)
}

func (h *Handlers) typeOf(c echo.Context) (transaction.Type, error) {
	id, err := panel.PathNumber(c)
	if err != nil {
		return transaction.Type{}, err
	}
	return h.Transactions.FindType(c.Request().Context(), page.Actor(c), id)
}

func (h *Handlers) editType(c echo.Context) error {
	old, err := h.typeOf(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[transaction.Type]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (transaction.Type, error) {
			n := newTypeOf(form, by.Tenant.Currency)
			return h.Transactions.EditType(ctx, by, old.ID, transaction.EditType{
				Name: panel.IfChanged(form, &n.Name, "name"), RuleType: panel.IfChanged(form, new(string(n.RuleType)), "rule_type"),
				Active:        panel.IfChanged(form, new(form.Checked("active")), "active"),
				PointsPerUnit: panel.IfChanged(form, &n.PointsPerUnit, "points_per_unit"), UnitCents: panel.IfChanged(form, &n.UnitCents, "unit_cents"),
				StampsPerTransaction: panel.IfChanged(form, &n.StampsPerTransaction, "stamps_per_transaction"),
				MinSpendCents:        panel.IfChanged(form, &n.MinSpendCents, "min_spend_cents"), MaxAward: panel.IfChanged(form, n.MaxAward, "max_award"),
				Malformed: n.Malformed,
			})
		},
		Refused: func(status int, form *forms.Form) error { return h.typeForm(c, status, &old, form) },
		To:      page.To[transaction.Type](links.Types),
		Done: func(t transaction.Type) string {
			return "“" + t.Name + "” was saved. Past sales keep what they earned."
		},
	})
}

func (h *Handlers) setTypeActive(c echo.Context) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	set := func(ctx context.Context, by core.Actor, active bool) (transaction.Type, error) {
		return h.Transactions.SetTypeActive(ctx, by, id, active)
	}
	return panel.SetActive(&h.Panel, c, links.Types, set, func(t transaction.Type) string {
		return panel.ActiveMessage(t.Name, t.Active, "It can't be used for new sales.")
	})
}
