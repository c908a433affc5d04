package operations

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/platform/operations"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

func (h *Handlers) deprecationRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Deprecations, route.SuperAdmins, h.deprecations),
		route.Get(links.NewDeprecation, route.SuperAdmins, h.newDeprecation),
		route.Post(links.Deprecations, route.SuperAdmins, h.announce),
	}
}

func (h *Handlers) deprecations(c echo.Context) error {
	list, err := h.Deprecations.List(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.DeprecationsPage(views.Deprecations{Frame: h.Frame(c, "Deprecations", links.Deprecations), List: list}), nil)
}

func (h *Handlers) newDeprecation(c echo.Context) error {
	return h.deprecationForm(c, http.StatusOK, forms.Blank(nil))
}

func (h *Handlers) deprecationForm(c echo.Context, status int, form *forms.Form) error {
	v := views.DeprecationForm{
		Frame: h.Frame(c, "Announce deprecation", links.Deprecations, ui.Crumb{Label: "Deprecations", Path: links.Deprecations}),
		Form:  form, FormKey: h.NewFormKey(), Requests: h.Requests,
	}
	return h.Render(c, status, views.DeprecationFormPage(v), nil)
}

func (h *Handlers) announce(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[deprecation.Deprecation]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[deprecation.Deprecation]) (core.Reply[deprecation.Deprecation], error) {
			n := deprecation.New{Sunset: form.Date("sunset"), Link: form.Value("link")}
			n.Malformed = form.Malformed
			if method, path, found := strings.Cut(form.Value("request"), " "); found {
				n.Method, n.Path = method, path
			} else {
				n.Method = "GET" // only the path counts as missing: the page has one field for both
			}
			return h.Deprecations.Add(ctx, by, n, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.deprecationForm(c, status, form) },
		To:      page.To[deprecation.Deprecation](links.Deprecations),
		Done: func(d deprecation.Deprecation) string {
			return d.Method + " " + d.Path + " ends on " + h.Reader(c).Date(d.Sunset) + ". Owners with active tokens are being e-mailed."
		},
	})
}
