package earning

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/promotion"
	views "example.com/loyalty/views/admin/earning"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) categoryRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Categories, route.Managers, h.listCategories),
		route.Post(links.Categories, route.Managers, h.addCategory),
		route.Post(links.MapCode, route.Managers, h.mapCode),
		route.Get(links.Categories+"/:id", route.Managers, h.showCategory),
		route.Post(links.Categories+"/:id", route.Managers, h.editCategory),
		route.Post(links.Categories+"/:id/active", route.Managers, h.setCategoryActive),
	}
}

func (h *Handlers) listCategories(c echo.Context) error {
	return h.categories(c, http.StatusOK, &forms.Form{})
}

// categories shows the list with the form that adds a category.
func (h *Handlers) categories(c echo.Context, status int, form *forms.Form) error {
	all, unmapped, err := h.Promotions.Catalogue(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	v := views.Categories{Tab: h.tab(c, links.Categories), List: all, Unmapped: unmapped, Form: form, FormKey: h.NewFormKey()}
	return h.Render(c, status, views.CategoriesPage(v), nil)
}

// codesOf are the codes on a form, each on a line of its own or after a comma.
func codesOf(form *forms.Form) []string {
	return strings.FieldsFunc(form.Value("codes"), func(r rune) bool { return r == '\n' || r == '\r' || r == ',' })
}

func (h *Handlers) addCategory(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[promotion.Category]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[promotion.Category]) (core.Reply[promotion.Category], error) {
			return h.Promotions.AddCategory(ctx, by, promotion.NewCategory{Name: form.Value("name"), Codes: codesOf(form)}, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.categories(c, status, form) },
		To:      page.To[promotion.Category](links.Categories),
		Done:    func(category promotion.Category) string { return "“" + category.Name + "” was added." },
	})
}

// mapCode gives a code that sales sent to a category, or to a new one of the code's name.
func (h *Handlers) mapCode(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[promotion.Category]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[promotion.Category]) (core.Reply[promotion.Category], error) {
			code := form.Value("code")
			if id := form.Integer("category_id"); id != nil {
				category, err := h.Promotions.MapCode(ctx, by, *id, code)
				return core.Reply[promotion.Category]{Result: category}, err
			}
			return h.Promotions.AddCategory(ctx, by, promotion.NewCategory{Name: code, Codes: []string{code}, Malformed: form.Malformed}, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.categories(c, status, form) },
		To:      page.To[promotion.Category](links.Categories),
		Done:    func(category promotion.Category) string { return "The code is now in “" + category.Name + "”." },
	})
}

func (h *Handlers) findCategory(c echo.Context) (promotion.Category, error) {
	id, err := panel.PathNumber(c)
	if err != nil {
		return promotion.Category{}, err
	}
	return h.Promotions.FindCategory(c.Request().Context(), page.Actor(c), id)
}

func (h *Handlers) showCategory(c echo.Context) error {
	category, err := h.findCategory(c)
	if err != nil {
		return err
	}
	return h.categoryForm(c, http.StatusOK, category, forms.Blank(map[string]string{"name": category.Name, "codes": strings.Join(category.Codes, "\n")}))
}

func (h *Handlers) categoryForm(c echo.Context, status int, category promotion.Category, form *forms.Form) error {
	v := views.CategoryForm{
		Frame: h.Frame(c, category.Name, links.Earning, trail("Categories", links.Categories)...), Category: category, Form: form, Original: form.Original(),
	}
	return h.Render(c, status, views.CategoryFormPage(v), nil)
}

func (h *Handlers) editCategory(c echo.Context) error {
	category, err := h.findCategory(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[promotion.Category]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (promotion.Category, error) {
			return h.Promotions.EditCategory(ctx, by, category.ID, promotion.EditCategory{
				Name: panel.IfChanged(form, new(form.Value("name")), "name"), Codes: panel.IfChanged(form, new(codesOf(form)), "codes"),
			})
		},
		Refused: func(status int, form *forms.Form) error { return h.categoryForm(c, status, category, form) },
		To:      page.To[promotion.Category](links.Categories),
		Done:    func(category promotion.Category) string { return "“" + category.Name + "” was saved." },
	})
}

func (h *Handlers) setCategoryActive(c echo.Context) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	set := func(ctx context.Context, by core.Actor, active bool) (promotion.Category, error) {
		return h.Promotions.EditCategory(ctx, by, id, promotion.EditCategory{Active: core.Set(active)})
	}
	return panel.SetActive(&h.Panel, c, links.Categories, set, func(category promotion.Category) string {
		return panel.ActiveMessage(category.Name, category.Active, "Its codes were removed.")
	})
}

func (h *Handlers) showLimits(c echo.Context) error {
	limits, err := h.Promotions.Limits(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	values := map[string]string{}
	for name, most := range map[string]*int64{"points_day_cap": limits.PointsDayCap, "stamps_day_cap": limits.StampsDayCap} {
		if most != nil {
			values[name] = strconv.FormatInt(*most, 10)
		}
	}
	if limits.TillCategories {
		values["till_categories"] = "1"
	}
	return h.limitsForm(c, http.StatusOK, forms.Blank(values))
}

func (h *Handlers) limitsForm(c echo.Context, status int, form *forms.Form) error {
	return h.Render(c, status, views.LimitsPage(views.Limits{Tab: h.tab(c, links.EarningLimits), Form: form, Original: form.Original()}), nil)
}

func (h *Handlers) editLimits(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[promotion.Limits]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (promotion.Limits, error) {
			return h.Promotions.EditLimits(ctx, by, promotion.EditLimits{
				PointsDayCap:   panel.IfChanged(form, form.Integer("points_day_cap"), "points_day_cap"),
				StampsDayCap:   panel.IfChanged(form, form.Integer("stamps_day_cap"), "stamps_day_cap"),
				TillCategories: panel.IfChanged(form, new(form.Checked("till_categories")), "till_categories"),
				Malformed:      form.Malformed,
			})
		},
		Refused: func(status int, form *forms.Form) error { return h.limitsForm(c, status, form) },
		To:      page.To[promotion.Limits](links.EarningLimits),
		Done:    func(promotion.Limits) string { return "Daily limits saved." },
	})
}
