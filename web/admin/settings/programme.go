package settings

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/programme"
	views "example.com/loyalty/views/admin/settings"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

func (h *Handlers) programmeRoutes() []route.Route {
	routes := []route.Route{route.Get(links.Programme, route.Owners, h.showProgramme)}
	for _, unit := range []ledger.Unit{ledger.Points, ledger.Stamps} {
		path := views.RulePath(unit)
		routes = append(routes,
			route.Get(path, route.Owners, func(c echo.Context) error { return h.ruleForm(c, http.StatusOK, unit, nil, nil) }),
			route.Post(path+"/preview", route.Owners, func(c echo.Context) error { return h.previewRule(c, unit) }),
			route.Post(path, route.Owners, func(c echo.Context) error { return h.changeRule(c, unit) }),
		)
	}
	return routes
}

func (h *Handlers) showProgramme(c echo.Context) error {
	rules, err := h.Programme.Settings(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.ProgrammePage(views.Programme{Settings: h.Settings(c, "Programme", links.Programme), Rules: rules}), nil)
}

// rulePage is the frame of a page about the rule of a unit.
func (h *Handlers) rulePage(c echo.Context, unit ledger.Unit, title string) panelviews.Settings {
	return h.Settings(c, title, links.Programme, ui.Crumb{Label: "Programme", Path: links.Programme}, ui.Crumb{Label: format.UnitsTitle(unit), Path: views.RulePath(unit)})
}

// ruleForm shows the form of a rule. A nil form is filled with the stored rule. Where that was changed meanwhile (refusal), the person
// sees the present one above the form, and changes that with the next try.
func (h *Handlers) ruleForm(c echo.Context, status int, unit ledger.Unit, form *forms.Form, refusal error) error {
	rules, err := h.Programme.Settings(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	stored := rules.Of(unit)
	if form == nil {
		form = forms.Blank(ruleValues(stored))
	}
	if errors.Is(refusal, programme.ErrChanged) {
		form.Values.Set("version", number(stored.Version))
	}
	v := views.RuleForm{Settings: h.Settings(c, "Change how "+string(unit)+" expire", links.Programme, ui.Crumb{Label: "Programme", Path: links.Programme}), Stored: stored, Form: form}
	return h.Render(c, status, views.RuleFormPage(v), nil)
}

// ruleValues are the values of a stored rule. Fields of other rules have usual ones.
func ruleValues(r programme.Rule) map[string]string {
	values := map[string]string{
		"version": number(r.Version), "expiry": string(r.Rule), "months": "12", "round_to": string(core.ToMonth), "yearly_month": "12", "yearly_day": "31",
		"grace_days": strconv.Itoa(r.GraceDays), "before": string(programme.BeforePeriod),
	}
	switch r.Rule {
	case core.ExpireAfter, core.ExpireInactive:
		values["months"], values["round_to"] = strconv.Itoa(r.Months), string(r.RoundTo)
	case core.ExpireYearly:
		values["yearly_month"], values["yearly_day"] = strconv.Itoa(int(r.Month)), strconv.Itoa(r.Day)
	case core.NeverExpire:
	}
	return values
}

// ruleOf reads the form of a rule. The fields of other rules are hidden, so what they have isn't refused.
func ruleOf(form *forms.Form, unit ledger.Unit) programme.Change {
	c := programme.Change{Unit: unit, Rule: core.ExpiryRule(form.Value("expiry")), Before: programme.Before(form.Value("before")), Version: core.OrZero(form.Integer("version"))}
	switch c.Rule {
	case core.ExpireAfter, core.ExpireInactive:
		c.Months, c.RoundTo = form.Integer("months"), core.Rounding(form.Value("round_to"))
	case core.ExpireYearly:
		c.Month, c.Day = form.Integer("yearly_month"), form.Integer("yearly_day")
	case core.NeverExpire:
		c.Malformed = form.Malformed
		return c
	}
	c.GraceDays = form.Integer("grace_days")
	if c.Before == programme.BeforeDay {
		c.BeforeOn = form.Date("before_on")
	}
	c.Malformed = form.Malformed
	return c
}

// previewRule shows what a change would do.
func (h *Handlers) previewRule(c echo.Context, unit ledger.Unit) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	p, err := h.Programme.Preview(c.Request().Context(), page.Actor(c), ruleOf(form, unit))
	if form.Refused(err) {
		return h.ruleForm(c, http.StatusUnprocessableEntity, unit, form, err)
	}
	if err != nil {
		return err
	}
	if p.ChangesNothing() {
		h.Flash(c, ui.Done, "Nothing changed.")
		return h.Redirect(c, links.Programme)
	}
	v := views.RulePreview{Settings: h.rulePage(c, unit, "Change how "+string(unit)+" expire?"), Preview: p, Sent: form.Pairs()}
	return h.Render(c, http.StatusOK, views.RulePreviewPage(v), nil)
}

// changeRule saves a rule that was previewed.
func (h *Handlers) changeRule(c echo.Context, unit ledger.Unit) error {
	var refusal error
	return page.Submit(h.Kit, c, page.Submission[programme.Rule]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (r programme.Rule, err error) {
			r, refusal = h.Programme.Change(ctx, by, ruleOf(form, unit))
			return r, refusal
		},
		Refused: func(status int, form *forms.Form) error { return h.ruleForm(c, status, unit, form, refusal) },
		To:      page.To[programme.Rule](links.Programme),
		Done:    func(programme.Rule) string { return "Rule saved." },
	})
}
