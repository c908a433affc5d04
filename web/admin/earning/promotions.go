package earning

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/promotion"
	views "example.com/loyalty/views/admin/earning"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) promotionRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Earning, route.Managers, h.listPromotions),
		route.Get(links.NewPromotion, route.Managers, h.newPromotion),
		route.Post(links.NewPromotion, route.Managers, h.addPromotion),
		route.Post(links.PromotionSentence, route.Managers, h.readBack),
		route.Post(links.PromotionDraft, route.Managers, h.draftPromotion),
		route.Get(links.Earning+"/:id", route.Managers, h.showPromotion),
		route.Post(links.Earning+"/:id", route.Managers, h.editPromotion),
		route.Post(links.Earning+"/:id/active", route.Managers, h.setActive),
	}
}

func (h *Handlers) listPromotions(c echo.Context) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	list, err := h.Promotions.List(ctx, by, q.Filled("state"), q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	parts, err := h.Promotions.Parts(ctx, by)
	if err != nil {
		return err
	}
	v := views.PromotionList{
		Tab: h.tab(c, links.Earning), State: promotion.State(q.Value("state")), List: list.Items, Parts: parts,
		Pager: page.Pager(list, c.Request().URL, "promotion", "promotions", "#promotions"), Problem: q.Problem(),
	}
	return h.Render(c, status, views.PromotionListPage(v), views.PromotionPart(v))
}

// newPromotion shows the form, perhaps filled for an hour that is slow.
func (h *Handlers) newPromotion(c echo.Context) error {
	q := forms.Query(c.QueryParams())
	values := map[string]string{
		"unit": string(ledger.Points), "gives": "percent", "percent": "200", "audience": string(award.Everyone), "limit_per": string(award.PerDay),
		"starts_on": h.Reader(c).Today().Format(time.DateOnly),
	}
	weekday, from, to := q.Integer("weekday"), q.Integer("from"), q.Integer("to")
	if weekday != nil && from != nil && to != nil && *weekday >= 0 && *weekday < 7 && *from >= 0 && *from < 24 && *to > 0 && *to <= 24 {
		values["windows.0.days"] = strconv.FormatInt(*weekday+1, 10)
		values["windows.0.from"], values["windows.0.to"] = clock(award.Clock(*from*60)), clock(award.Clock(*to%24*60))
		values["name"] = "Double points on " + award.Weekday(*weekday+1).Time().String() + "s"
		values["ends_on"] = h.Reader(c).Today().AddDate(0, 0, 55).Format(time.DateOnly) // eight weeks
	}
	return h.promotionForm(c, http.StatusOK, nil, forms.Blank(values))
}

func clock(c award.Clock) string { return c.String() }

// promotionForm shows the form of a new promotion, or of an existing one.
func (h *Handlers) promotionForm(c echo.Context, status int, old *promotion.Promotion, form *forms.Form) error {
	parts, err := h.Promotions.Parts(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	f := h.Frame(c, "New promotion", links.Earning, trail("", links.Earning)...)
	if old != nil {
		f.Title = old.Name
	}
	v := views.PromotionForm{Frame: f, Form: form, Original: form.Original(), FormKey: h.NewFormKey(), Old: old, Parts: parts, Windows: windowsOn(form) + 1}
	v.Windows = min(v.Windows, promotion.MaxWindows)
	v.Sentence = h.sentence(c, form, parts)
	return h.Render(c, status, views.PromotionFormPage(v), nil)
}

// windowsOn is how many times of the week a form has, up to the last one that is filled.
func windowsOn(form *forms.Form) (n int) {
	for i := range promotion.MaxWindows {
		name := views.WindowField(i, "")
		for field := range form.Values {
			if strings.HasPrefix(field, name) && form.Filled(field) != nil {
				n = i + 1
			}
		}
	}
	return n
}

// promotionOf is the promotion that a form describes.
func promotionOf(form *forms.Form, currency string) award.Promotion {
	p := award.Promotion{
		Name: form.Value("name"), Unit: ledger.Unit(form.Value("unit")), TypeIDs: numbers(form, "type_ids"), LocationIDs: numbers(form, "location_ids"),
		CategoryIDs: numbers(form, "category_ids"), MinSpendCents: core.OrZero(form.Amount("min_spend_cents", currency)),
		StartsOn: core.OrZero(form.Date("starts_on")), EndsOn: form.Date("ends_on"), Audience: award.Audience(form.Value("audience")),
		LimitTimes: form.Integer("limit_times"),
	}
	if form.Value("gives") == "extra" {
		if p.Extra = form.Integer("extra"); p.Extra == nil && form.Malformed["extra"] == nil {
			form.Require("extra")
		}
	} else {
		p.Percent = form.Integer("percent")
	}
	if p.LimitTimes != nil {
		p.LimitPer = new(award.Per(form.Value("limit_per")))
	}
	if p.Audience == award.AtLevel {
		p.LevelID = form.Integer("level_id")
	}
	if p.Audience == award.OnBirthday {
		if days := form.Integer("birthday_days"); days != nil {
			p.BirthdayDays = new(int(min(max(*days, -1), 1000)))
		}
	}
	for i := range promotion.MaxWindows {
		w, filled := windowOf(form, i)
		if filled {
			p.Windows = append(p.Windows, w)
		}
	}
	return p
}

// windowOf is a time of the week on a form. A line without a day and times isn't one.
func windowOf(form *forms.Form, i int) (w award.Window, filled bool) {
	for _, day := range numbers(form, views.WindowField(i, "days")) {
		w.Days = append(w.Days, award.Weekday(min(max(day, 0), 8)))
	}
	for name, to := range map[string]*award.Clock{"from": &w.From, "to": &w.To} {
		text := form.Filled(views.WindowField(i, name))
		if text == nil {
			continue
		}
		filled = true
		read, err := award.ParseClock(*text)
		if err != nil {
			if form.Malformed == nil {
				form.Malformed = core.Fields{}
			}
			form.Malformed[views.WindowField(i, name)] = []core.Violation{{Rule: "clock"}}
		}
		*to = read
	}
	return w, filled || len(w.Days) > 0
}

// numbers are the chosen records of a field.
func numbers(form *forms.Form, name string) (ids []int64) {
	for _, text := range form.Values[name] {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// sentence reads the promotion on a form back, as far as it is complete.
func (h *Handlers) sentence(c echo.Context, form *forms.Form, parts promotion.Parts) string {
	draft := forms.Query(maps.Clone(form.Values)) // violations are shown when the form is submitted
	p := promotionOf(draft, page.Actor(c).Tenant.Currency)
	if len(draft.Malformed) > 0 || p.Percent == nil && p.Extra == nil {
		return views.Incomplete
	}
	for _, w := range p.Windows {
		if len(w.Days) == 0 {
			return views.Incomplete
		}
	}
	return h.Reader(c).Promotion(p, parts)
}

func (h *Handlers) readBack(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	parts, err := h.Promotions.Parts(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.Sentence(h.sentence(c, form, parts)), nil)
}

// draftPromotion shows the form again with its sentence and a further time of the week.
func (h *Handlers) draftPromotion(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	var old *promotion.Promotion
	if id := form.Integer("id"); id != nil {
		p, err := h.Promotions.Find(c.Request().Context(), page.Actor(c), *id)
		if err != nil {
			return err
		}
		old = &p
	}
	return h.promotionForm(c, http.StatusOK, old, form)
}

func (h *Handlers) addPromotion(c echo.Context) error {
	currency := page.Actor(c).Tenant.Currency
	return page.Submit(h.Kit, c, page.Submission[promotion.Promotion]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[promotion.Promotion]) (core.Reply[promotion.Promotion], error) {
			p := promotionOf(form, currency)
			return h.Promotions.Add(ctx, by, promotion.New{Promotion: p, Malformed: form.Malformed}, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.promotionForm(c, status, nil, form) },
		To:      page.To[promotion.Promotion](links.Earning),
		Done:    func(p promotion.Promotion) string { return "“" + p.Name + "” was created." },
	})
}

func (h *Handlers) find(c echo.Context) (promotion.Promotion, error) {
	id, err := panel.PathNumber(c)
	if err != nil {
		return promotion.Promotion{}, err
	}
	return h.Promotions.Find(c.Request().Context(), page.Actor(c), id)
}

func (h *Handlers) showPromotion(c echo.Context) error {
	p, err := h.find(c)
	if err != nil {
		return err
	}
	return h.promotionForm(c, http.StatusOK, &p, formOf(p, page.Actor(c).Tenant.Currency))
}

// formOf is the form of a stored promotion.
func formOf(p promotion.Promotion, currency string) *forms.Form {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	form := forms.Blank(map[string]string{
		"name": p.Name, "unit": string(p.Unit), "gives": "percent", "audience": string(p.Audience), "starts_on": p.StartsOn.Format(time.DateOnly),
		"limit_per": string(award.PerDay),
	})
	set := func(name string, n *int64) {
		if n != nil {
			form.Values.Set(name, number(*n))
		}
	}
	if p.Extra != nil {
		form.Values.Set("gives", "extra")
	}
	set("percent", p.Percent)
	set("extra", p.Extra)
	set("level_id", p.LevelID)
	set("limit_times", p.LimitTimes)
	if p.LimitPer != nil {
		form.Values.Set("limit_per", string(*p.LimitPer))
	}
	if p.BirthdayDays != nil {
		form.Values.Set("birthday_days", strconv.Itoa(*p.BirthdayDays))
	}
	if p.EndsOn != nil {
		form.Values.Set("ends_on", p.EndsOn.Format(time.DateOnly))
	}
	if p.MinSpendCents > 0 {
		form.SetAmount("min_spend_cents", p.MinSpendCents, currency)
	}
	for name, ids := range map[string][]int64{"type_ids": p.TypeIDs, "location_ids": p.LocationIDs, "category_ids": p.CategoryIDs} {
		for _, id := range ids {
			form.Values.Add(name, number(id))
		}
	}
	for i, w := range p.Windows {
		for _, day := range w.Days {
			form.Values.Add(views.WindowField(i, "days"), strconv.Itoa(int(day)))
		}
		form.Values.Set(views.WindowField(i, "from"), clock(w.From))
		form.Values.Set(views.WindowField(i, "to"), clock(w.To))
	}
	return form
}

// editPromotion saves the form as a whole: a promotion is read and understood as one sentence.
func (h *Handlers) editPromotion(c echo.Context) error {
	old, err := h.find(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[promotion.Promotion]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (promotion.Promotion, error) {
			e := promotion.Of(promotionOf(form, by.Tenant.Currency))
			e.Malformed = form.Malformed
			return h.Promotions.Edit(ctx, by, old.ID, e)
		},
		Refused: func(status int, form *forms.Form) error { return h.promotionForm(c, status, &old, form) },
		To:      page.To[promotion.Promotion](links.Earning),
		Done: func(p promotion.Promotion) string {
			return "“" + p.Name + "” was saved. Past sales keep what they earned."
		},
	})
}

func (h *Handlers) setActive(c echo.Context) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	set := func(ctx context.Context, by core.Actor, active bool) (promotion.Promotion, error) {
		return h.Promotions.SetActive(ctx, by, id, active)
	}
	return panel.SetActive(&h.Panel, c, links.Earning, set, func(p promotion.Promotion) string {
		return panel.ActiveMessage(p.Name, p.Active, "It doesn't count for new sales.")
	})
}
