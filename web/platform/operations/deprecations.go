package operations

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/platform/operations"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) deprecationRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Deprecations, route.SuperAdmins, h.deprecations),
		route.Get(links.Deprecations+"/new", route.SuperAdmins, h.newDeprecation),
		route.Post(links.Deprecations, route.SuperAdmins, h.announce),
	}
}

func (h *Handlers) deprecations(c echo.Context) error {
	list, err := h.Deprecations.List(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	now := h.Now()
	v := views.Deprecations{Frame: h.Frame(c, "Deprecations", links.Deprecations)}
	for _, d := range list {
		v.Rows = append(v.Rows, views.Deprecation{
			Method: d.Method, Path: d.Path, Link: d.Link, Notified: format.Number(d.Told),
			Sunset: panel.MomentAt(format.Date(d.Sunset, panel.PlatformZone), d.Sunset), Ended: !d.Sunset.After(now),
			Announced: panel.MomentAt(format.Date(d.CreatedAt, panel.PlatformZone), d.CreatedAt),
		})
	}
	return h.Render(c, http.StatusOK, views.DeprecationsPage(v), nil)
}

func (h *Handlers) newDeprecation(c echo.Context) error {
	return h.deprecationForm(c, http.StatusOK, forms.Blank(nil))
}

func (h *Handlers) deprecationForm(c echo.Context, status int, form *forms.Form) error {
	v := views.DeprecationForm{
		Frame: h.Frame(c, "Announce deprecation", links.Deprecations, ui.Crumb{Label: "Deprecations", Path: links.Deprecations}),
		Key:   h.NewFormKey(),
	}
	v.Request = form.FieldOf("path", "request", ui.Field{Label: "API request"})
	choices := []ui.Option{{Label: "Choose a request"}}
	for _, r := range h.Requests {
		choices = append(choices, ui.Option{Value: r, Label: r})
	}
	v.Request.Options = form.Options("request", choices...)
	v.Sunset = form.Field("sunset", ui.Field{Label: "Sunset"})
	v.Sunset.Type, v.Sunset.Help = "date", "It works until this day starts (UTC). At least 90 days ahead"
	v.Link = form.Field("link", ui.Field{Label: "Link"})
	v.Link.Type, v.Link.Placeholder, v.Link.Help = "url", "https://", "A page with the replacement"
	v.Problem = form.Problem()
	return h.Render(c, status, views.DeprecationFormPage(v), nil)
}

func (h *Handlers) announce(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[deprecation.Deprecation]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (deprecation.Deprecation, error) {
			n := deprecation.New{Sunset: form.Date("sunset"), Link: form.Text("link")}
			n.Malformed = form.Malformed
			if method, path, found := strings.Cut(form.Value("request"), " "); found {
				n.Method, n.Path = &method, &path
			} else {
				n.Method = new("GET") // so that only the path is missing: both are one field of the form
			}
			return h.Deprecations.Add(ctx, by, n)
		},
		Refused: func(status int, form *forms.Form) error { return h.deprecationForm(c, status, form) },
		To:      page.To[deprecation.Deprecation](links.Deprecations), Once: true,
		Done: func(d deprecation.Deprecation) string {
			return d.Method + " " + d.Path + " ends on " + format.Date(d.Sunset, panel.PlatformZone) + ". Owners with active tokens are being e-mailed."
		},
	})
}
