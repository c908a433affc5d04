package operations

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	views "example.com/loyalty/views/platform/operations"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) tokenRoutes() []route.Route {
	return []route.Route{
		route.Get(links.PlatformTokens, route.SuperAdmins, h.listTokens),
		route.Get(links.NewPlatformToken, route.SuperAdmins, h.newToken),
		route.Post(links.NewPlatformToken, route.SuperAdmins, h.createToken),
		route.Get(links.PlatformTokens+"/:id", route.SuperAdmins, h.showToken),
		route.Get(links.PlatformTokens+"/:id/revoke", route.SuperAdmins, h.askRevoke),
		route.Post(links.PlatformTokens+"/:id/revoke", route.SuperAdmins, h.revokeToken),
	}
}

func tokensCrumb() ui.Crumb { return ui.Crumb{Label: "API tokens", Path: links.PlatformTokens} }

func (h *Handlers) listTokens(c echo.Context) error {
	list, err := h.Tokens.List(c.Request().Context(), page.Actor(c), forms.Position(c.QueryParams()))
	if err != nil {
		return err
	}
	v := views.Tokens{
		Frame: h.Frame(c, "API tokens", links.PlatformTokens), List: list.Items,
		Pager: page.Pager(list, c.Request().URL, "token", "tokens", "#tokens"),
	}
	return h.Render(c, http.StatusOK, views.TokensPage(v), views.TokenTable(v))
}

// showToken shows what a token was used for in the last days.
func (h *Handlers) showToken(c echo.Context) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	u, err := h.Tokens.FindUse(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	v := views.TokenDetail{Frame: h.Frame(c, u.Name, links.PlatformTokens, tokensCrumb()), Use: u}
	v.Badge = panelviews.TokenStatus(v.Reader, u.Token, u.RevokedAt != nil)
	panel.LoadCharts(&v.Frame)
	return h.Render(c, http.StatusOK, views.TokenPage(v), nil)
}

func (h *Handlers) newToken(c echo.Context) error {
	return h.tokenForm(c, http.StatusOK, &forms.Form{})
}

func (h *Handlers) tokenForm(c echo.Context, status int, form *forms.Form) error {
	v := views.TokenForm{Frame: h.Frame(c, "Create token", links.PlatformTokens, tokensCrumb()), Form: form, FormKey: h.NewFormKey()}
	return h.Render(c, status, views.TokenFormPage(v), nil)
}

// createToken shows the secret in its response, since it isn't stored.
func (h *Handlers) createToken(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	n := token.New{Name: form.Value("name"), Scopes: &[]string{}}
	if day := form.Date("expires_at"); day != nil {
		n.ExpiresAt = new(core.StartOfDate(day.AddDate(0, 0, 1), time.UTC))
	}
	n.Malformed = form.Malformed
	made, err := h.Tokens.Create(c.Request().Context(), page.Actor(c), n, page.Once(c, form, page.To[token.Created](links.PlatformTokens)))
	to, again := page.ReplayedPath(made)
	switch {
	case again:
		h.Flash(c, ui.Warning, "Already submitted: the token was created. If you didn't copy its secret, revoke it and create another.")
		return h.Redirect(c, to)
	case form.Refused(err):
		return h.tokenForm(c, http.StatusUnprocessableEntity, form)
	case err != nil:
		return err
	}
	v := views.TokenCreated{Frame: h.Frame(c, "Create token", links.PlatformTokens, tokensCrumb()), Token: made.Result}
	return h.Render(c, http.StatusOK, views.TokenCreatedPage(v), nil)
}

func (h *Handlers) askRevoke(c echo.Context) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	t, err := h.Tokens.Find(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	title := "Revoke “" + t.Name + "”?"
	v := panelviews.Confirm{Frame: h.Frame(c, title, links.PlatformTokens, tokensCrumb()), Confirm: ui.Confirm{
		Action: links.PlatformToken(t.ID) + "/revoke", Button: "Revoke token", Danger: true, Cancel: links.PlatformTokens,
		Words:  []string{"Requests with this token are refused from now on. This can't be undone."},
		Hidden: []ui.Pair{{Name: page.FormKey, Value: h.NewFormKey()}},
	}}
	return h.Confirm(c, http.StatusOK, v)
}

func (h *Handlers) revokeToken(c echo.Context) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[token.Token]{
		RunOnce: func(ctx context.Context, by core.Actor, _ *forms.Form, once *core.Once[token.Token]) (core.Reply[token.Token], error) {
			return h.Tokens.Revoke(ctx, by, id, once)
		},
		To:   page.To[token.Token](links.PlatformTokens),
		Done: func(t token.Token) string { return "“" + t.Name + "” was revoked." },
	})
}
