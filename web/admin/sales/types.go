package sales

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin/sales"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) typeRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Types, route.Managers, h.listTypes),
		route.Get(links.NewType, route.Managers, h.newType),
		route.Post(links.NewType, route.Managers, h.addType),
		route.Post(links.TypeEarns, route.Managers, h.previewType),
		route.Post(links.TryType, route.Managers, h.tryType),
		route.Get(links.Types+"/:id", route.Managers, h.showType),
		route.Post(links.Types+"/:id", route.Managers, h.editType),
		route.Post(links.Types+"/:id/active", route.Managers, h.setTypeActive),
	}
}

func (h *Handlers) listTypes(c echo.Context) error {
	types, err := h.Transactions.Types(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	v := views.TypeList{Frame: h.Frame(c, "Transaction types", links.Types), Types: types}
	if slices.ContainsFunc(types, func(t transaction.Type) bool { return len(t.ExcludedCategories) > 0 }) {
		if v.Categories, err = h.Promotions.Categories(c.Request().Context(), page.Actor(c)); err != nil {
			return err
		}
	}
	return h.Render(c, http.StatusOK, views.TypeListPage(v), nil)
}

func (h *Handlers) newType(c echo.Context) error {
	currency := page.Actor(c).Tenant.Currency
	form := forms.Blank(map[string]string{"rule_type": "points", "points_per_unit": "1", "stamps_per_transaction": "1"})
	form.SetAmount("unit_cents", 100, currency)
	return h.typeForm(c, http.StatusOK, nil, form)
}

// typeForm shows the form of a new type, or of an existing one.
func (h *Handlers) typeForm(c echo.Context, status int, old *transaction.Type, form *forms.Form) error {
	f := h.Frame(c, "New transaction type", links.Types, ui.Crumb{Label: "Transaction types", Path: links.Types})
	if old != nil {
		f.Title = old.Name
	}
	v := views.TypeForm{Frame: f, Form: form, Original: form.Original(), FormKey: h.NewFormKey(), Old: old}
	if old != nil {
		var err error
		if v.Categories, err = h.Promotions.Categories(c.Request().Context(), page.Actor(c)); err != nil {
			return err
		}
	}
	if form.Value("example") == "" {
		form.SetAmount("example", 2450, page.Actor(c).Tenant.Currency)
	}
	v.Earns = h.exampleEarns(c, form)
	return h.Render(c, status, views.TypeFormPage(v), nil)
}

// newTypeOf is the type that a form describes.
func newTypeOf(form *forms.Form, currency string) transaction.NewType {
	n := transaction.NewType{Name: form.Value("name"), RuleType: transaction.RuleType(form.Value("rule_type"))}
	n.PointsPerUnit = core.OrZero(form.Integer("points_per_unit"))
	n.UnitCents = core.OrZero(form.Amount("unit_cents", currency))
	if n.UnitCents == 0 {
		n.UnitCents = -1 // refused, while 0 means core's default
	}
	n.StampsPerTransaction = core.OrZero(form.Integer("stamps_per_transaction"))
	n.MinSpendCents = core.OrZero(form.Amount("min_spend_cents", currency))
	n.MaxAward = form.Integer("max_award")
	n.Malformed = form.Malformed
	return n
}

// exampleEarns is what the form's rule would earn for its example sale.
func (h *Handlers) exampleEarns(c echo.Context, form *forms.Form) format.Award {
	currency := page.Actor(c).Tenant.Currency
	draft := forms.Query(maps.Clone(form.Values)) // violations are shown when the form is submitted
	cents := draft.Amount("example", currency)
	if cents == nil {
		return format.AwardOfNothing(currency)
	}
	n := newTypeOf(draft, currency)
	award, unit, err := n.Preview(cents)
	if err != nil && unit != "" {
		return format.AwardTooLarge(unit)
	}
	if err != nil {
		return format.IncompleteRule
	}
	earns := format.Award{Amount: award, Unit: unit}
	if award == 0 && *cents < n.MinSpendCents {
		earns.Note = "(minimum spend " + format.Money(n.MinSpendCents, currency) + ")"
	}
	return earns
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
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[transaction.Type]) (core.Reply[transaction.Type], error) {
			return h.Transactions.AddType(ctx, by, newTypeOf(form, currency), once)
		},
		Refused: func(status int, form *forms.Form) error { return h.typeForm(c, status, nil, form) },
		To:      page.To[transaction.Type](links.Types),
		Done: func(t transaction.Type) string {
			return "“" + t.Name + "” was created: " + h.Reader(c).Rule(t) + "."
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
	for _, id := range t.ExcludedCategories {
		form.Values.Add(excludedField, strconv.FormatInt(id, 10))
	}
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
				ExcludedCategories: excluded(form),
				Malformed:          n.Malformed,
			})
		},
		Refused: func(status int, form *forms.Form) error { return h.typeForm(c, status, &old, form) },
		To:      page.To[transaction.Type](links.Types),
		Done: func(t transaction.Type) string {
			return "“" + t.Name + "” was saved. Past sales keep what they earned."
		},
	})
}

const excludedField = "excluded_categories"

// excluded are the chosen categories, where the person changed them.
func excluded(form *forms.Form) core.Optional[[]int64] {
	ids := []int64{}
	for _, text := range form.Values[excludedField] {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	original, err := url.ParseQuery(form.Original())
	if err == nil && slices.Equal(original[excludedField], form.Values[excludedField]) {
		return core.Optional[[]int64]{}
	}
	return core.Set(ids)
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
