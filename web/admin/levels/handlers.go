// Package levels serves the pages about levels: their rules, each level, what a change would do, and their launch.
package levels

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/level"
	views "example.com/loyalty/views/admin/levels"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Business
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return []route.Route{
		route.Get(links.Levels, route.Owners, h.showLevels),
		route.Get(links.LevelRules, route.Owners, func(c echo.Context) error { return h.rulesForm(c, http.StatusOK, nil, nil) }),
		route.Get(links.NewLevel, route.Owners, func(c echo.Context) error { return h.levelForm(c, http.StatusOK, 0, nil, nil) }),
		route.Get(links.Levels+"/:id", route.Owners, h.askLevel),
		route.Post(links.PreviewLevels, route.Owners, h.preview),
		route.Post(links.Levels, route.Owners, h.change),
	}
}

// frame is the frame of a page about levels.
func (h *Handlers) frame(c echo.Context, title string) panelviews.Settings {
	if title == "" {
		return h.Settings(c, "Levels", links.Levels)
	}
	return h.Settings(c, title, links.Levels, ui.Crumb{Label: "Levels", Path: links.Levels})
}

// showLevels shows the levels. htmx asks for the progress of counting; at its end, for the whole page.
func (h *Handlers) showLevels(c echo.Context) error {
	stored, err := h.Levels.Settings(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	if page.IsFragment(c) {
		if !stored.Counting {
			c.Response().Header().Set("Hx-Redirect", links.Levels)
		}
		return h.Render(c, http.StatusOK, nil, views.Progress(views.Overview{Stored: stored}))
	}
	return h.Render(c, http.StatusOK, views.OverviewPage(views.Overview{Settings: h.frame(c, ""), Stored: stored}), nil)
}

func (h *Handlers) askLevel(c echo.Context) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	return h.levelForm(c, http.StatusOK, id, nil, nil)
}

// rulesForm shows the form of the rules. A nil form is filled with the stored ones. Where these were changed meanwhile (refusal), the next try
// changes the present ones.
func (h *Handlers) rulesForm(c echo.Context, status int, form *forms.Form, refusal error) error {
	stored, err := h.Levels.Setup(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	today := core.DateOf(h.Now(), page.Actor(c).Tenant.TimeZone)
	if form == nil {
		values := map[string]string{
			"basis": string(award.ByPoints), "period": string(award.ByYear), "year_month": "1", "year_day": "1", "drops": "1",
			"starts_on": time.Date(today.Year(), time.January, 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
		}
		if stored.Version > 0 {
			values["basis"], values["period"], values["starts_on"] = string(stored.Basis), string(stored.Period), stored.StartsOn.Format(time.DateOnly)
			values["year_month"], values["year_day"] = strconv.Itoa(int(stored.Month)), strconv.Itoa(stored.Day)
			if !stored.Drops {
				delete(values, "drops")
			}
		}
		form = forms.Blank(values)
	}
	setVersion(form, stored, refusal)
	return h.Render(c, status, views.RulesFormPage(views.RulesForm{Settings: h.frame(c, "Rules"), Stored: stored, Form: form}), nil)
}

// setVersion has a form change the levels as they are now, unless it was filled in before.
func setVersion(form *forms.Form, stored level.Setup, refusal error) {
	if form.Value("version") == "" || errors.Is(refusal, level.ErrChanged) {
		form.Values.Set("version", strconv.FormatInt(stored.Version, 10))
	}
}

// levelForm shows the form of a level, or of a new one without an ID.
func (h *Handlers) levelForm(c echo.Context, status int, id int64, form *forms.Form, refusal error) error {
	stored, err := h.Levels.Setup(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	if stored.Version == 0 {
		return core.ErrNotFound
	}
	v := views.LevelForm{Settings: h.frame(c, "New level"), Stored: stored}
	values := map[string]string{"percent": "110", "colour": "#8a8f98"}
	if id != 0 {
		i := slices.IndexFunc(stored.Levels, func(l award.Level) bool { return l.ID == id && !l.Retired })
		if i < 0 {
			return core.ErrNotFound
		}
		v.Old = &stored.Levels[i]
		v.Settings = h.frame(c, v.Old.Name)
		values = map[string]string{"name": v.Old.Name, "percent": strconv.FormatInt(v.Old.Percent, 10), "colour": v.Old.Colour, "perks": v.Old.Perks}
	}
	if form == nil {
		form = forms.Blank(values)
		switch {
		case v.Old == nil || v.Old.Threshold == 0:
		case stored.Basis == award.BySpend:
			form.SetAmount("threshold", v.Old.Threshold, page.Actor(c).Tenant.Currency)
		default:
			form.Values.Set("threshold", strconv.FormatInt(v.Old.Threshold, 10))
		}
	}
	setVersion(form, stored, refusal)
	v.Form = form
	return h.Render(c, status, views.LevelFormPage(v), nil)
}

// changeOf reads a change. Thresholds are amounts of money where customers rise by what they spend.
func (h *Handlers) changeOf(c echo.Context, form *forms.Form) (level.Change, error) {
	change := level.Change{Version: core.OrZero(form.Integer("version"))}
	switch form.Value("change") {
	case views.ChangeRules:
		change.Rules = &level.Rules{
			Basis: award.Basis(form.Value("basis")), Period: award.Period(form.Value("period")), Drops: form.Checked("drops"), StartsOn: form.Date("starts_on"),
		}
		if change.Rules.Period == award.ByYear {
			change.Rules.Month, change.Rules.Day = form.Integer("year_month"), form.Integer("year_day")
		}
	case views.ChangeLevel:
		stored, err := h.Levels.Setup(c.Request().Context(), page.Actor(c))
		if err != nil {
			return level.Change{}, err
		}
		change.Level = &level.Edit{
			ID: core.OrZero(form.Integer("id")), Name: form.Text("name"), Percent: form.Integer("percent"), Colour: form.Text("colour"), Perks: form.Text("perks"),
		}
		if stored.Basis == award.BySpend {
			change.Level.Threshold = form.Amount("threshold", page.Actor(c).Tenant.Currency)
		} else {
			change.Level.Threshold = form.Integer("threshold")
		}
	case views.ChangeRetire:
		change.Retire = new(core.OrZero(form.Integer("id")))
	case views.ChangeOn, views.ChangeOff:
		change.On = new(form.Value("change") == views.ChangeOn)
	default:
		return level.Change{}, core.ErrNotFound
	}
	change.Malformed = form.Malformed
	return change, nil
}

// refused shows the form of a change that was refused; buttons lead back to the levels.
func (h *Handlers) refused(c echo.Context, status int, form *forms.Form, refusal error) error {
	switch form.Value("change") {
	case views.ChangeRules:
		return h.rulesForm(c, status, form, refusal)
	case views.ChangeLevel:
		return h.levelForm(c, status, core.OrZero(form.Integer("id")), form, refusal)
	}
	h.Flash(c, ui.Refused, forms.RefusalOf(refusal).Message)
	return h.Redirect(c, links.Levels)
}

// preview shows what a change would do.
func (h *Handlers) preview(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	change, err := h.changeOf(c, form)
	if err != nil {
		return err
	}
	p, err := h.Levels.Preview(c.Request().Context(), page.Actor(c), change)
	if form.Refused(err) {
		return h.refused(c, http.StatusUnprocessableEntity, form, err)
	}
	if err != nil {
		return err
	}
	if p.ChangesNothing() {
		h.Flash(c, ui.Done, "Nothing changed.")
		return h.Redirect(c, links.Levels)
	}
	v := views.Preview{Preview: p, Sent: form.Pairs(), Danger: change.Retire != nil || change.On != nil && !*change.On}
	title, button := wordsOf(change, p)
	v.Settings, v.Button = h.frame(c, title), button
	return h.Render(c, http.StatusOK, views.PreviewPage(v), nil)
}

// wordsOf are the title and the button of a preview.
func wordsOf(c level.Change, p level.Preview) (title, button string) {
	switch {
	case c.Rules != nil:
		return "Save rules?", "Save rules"
	case c.Level != nil && c.Level.ID == 0:
		return "Add " + core.OrZero(c.Level.Name) + "?", "Add level"
	case c.Level != nil:
		return "Change " + core.OrZero(c.Level.Name) + "?", "Save level"
	case c.Retire != nil:
		for _, l := range p.Before.Levels {
			if l.ID == *c.Retire {
				return "Retire " + l.Name + "?", "Retire level"
			}
		}
	case !*c.On:
		return "Switch levels off?", "Switch levels off"
	}
	return "Launch levels?", "Launch levels"
}

// change saves a change that was previewed.
func (h *Handlers) change(c echo.Context) error {
	var refusal error
	return page.Submit(h.Kit, c, page.Submission[level.Setup]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (s level.Setup, err error) {
			change, err := h.changeOf(c, form)
			if err != nil {
				return level.Setup{}, err
			}
			s, refusal = h.Levels.Change(ctx, by, change)
			return s, refusal
		},
		Refused: func(status int, form *forms.Form) error { return h.refused(c, status, form, refusal) },
		To:      page.To[level.Setup](links.Levels),
		Done:    func(level.Setup) string { return "Levels saved." },
	})
}
