package platform

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/platform"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const deprecationsPath = home + "/deprecations"

func (p *Platform) deprecationRoutes() []route.Route {
	return []route.Route{
		route.Get(deprecationsPath, route.SuperAdmins, p.deprecations),
		route.Get(deprecationsPath+"/new", route.SuperAdmins, p.newDeprecation),
		route.Post(deprecationsPath, route.SuperAdmins, p.announce),
	}
}

func (p *Platform) deprecations(c echo.Context) error {
	list, err := p.Deprecations.List(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	now := p.Now()
	v := views.Deprecations{Frame: p.frame(c, "Deprecations", deprecationsPath)}
	for _, d := range list {
		v.Rows = append(v.Rows, views.Deprecation{
			Method: d.Method, Path: d.Path, Link: d.Link, Notified: format.Number(d.Told),
			Sunset: moment(format.Date(d.Sunset, zone), d.Sunset), Ended: !d.Sunset.After(now),
			Announced: moment(format.Date(d.CreatedAt, zone), d.CreatedAt),
		})
	}
	return p.Render(c, http.StatusOK, views.DeprecationsPage(v), nil)
}

func (p *Platform) newDeprecation(c echo.Context) error {
	return p.deprecationForm(c, http.StatusOK, forms.Blank(nil))
}

func (p *Platform) deprecationForm(c echo.Context, status int, form *forms.Form) error {
	v := views.DeprecationForm{
		Frame: p.frame(c, "Announce deprecation", deprecationsPath, ui.Crumb{Label: "Deprecations", Path: deprecationsPath}),
		Key:   p.NewFormKey(),
	}
	v.Request = form.FieldOf("path", "request", "API request")
	choices := []ui.Option{{Label: "Choose a request"}}
	for _, r := range p.Requests {
		choices = append(choices, ui.Option{Value: r, Label: r})
	}
	v.Request.Options = form.Options("request", choices...)
	v.Sunset = form.Field("sunset", "Sunset")
	v.Sunset.Type, v.Sunset.Help = "date", "It works until this day starts (UTC). At least 90 days ahead"
	v.Link = form.Field("link", "Link")
	v.Link.Type, v.Link.Placeholder, v.Link.Help = "url", "https://", "A page with the replacement"
	v.Problem = form.Problem()
	return p.Render(c, status, views.DeprecationFormPage(v), nil)
}

func (p *Platform) announce(c echo.Context) error {
	return page.Submit(p.Kit, c, page.Submission[deprecation.Deprecation]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (deprecation.Deprecation, error) {
			n := deprecation.New{Sunset: form.Date("sunset"), Link: form.Text("link")}
			n.Malformed = form.Malformed
			if method, path, found := strings.Cut(form.Value("request"), " "); found {
				n.Method, n.Path = &method, &path
			} else {
				n.Method = new("GET") // so that only the path is missing: both are one field of the form
			}
			return p.Deprecations.Add(ctx, by, n)
		},
		Refused: func(status int, form *forms.Form) error { return p.deprecationForm(c, status, form) },
		To:      page.To[deprecation.Deprecation](deprecationsPath), Once: true,
		Done: func(d deprecation.Deprecation) string {
			return d.Method + " " + d.Path + " ends on " + format.Date(d.Sunset, zone) + ". Owners with active tokens are being e-mailed."
		},
	})
}
