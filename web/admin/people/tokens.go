package people

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
	views "example.com/loyalty/views/admin/people"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// API describes the API for the examples shown with a new token.
type API = views.API

func (h *Handlers) tokenRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Tokens, route.Owners, h.listTokens),
		route.Get(links.NewToken, route.Owners, h.newToken),
		route.Post(links.NewToken, route.Owners, h.createToken),
		route.Get(links.Tokens+"/:id", route.Owners, h.showToken),
		route.Get(links.Tokens+"/:id/revoke", route.Owners, h.askRevoke),
		route.Post(links.Tokens+"/:id/revoke", route.Owners, h.revokeToken),
	}
}

func (h *Handlers) listTokens(c echo.Context) error {
	list, err := h.Tokens.List(c.Request().Context(), page.Actor(c), forms.Position(c.QueryParams()))
	if err != nil {
		return err
	}
	v := views.TokenList{
		Settings: h.Settings(c, "API tokens", links.Tokens), API: h.API, Tokens: list.Items,
		Pager: page.Pager(list, c.Request().URL, "token", "tokens", "#tokens"),
	}
	return h.Render(c, http.StatusOK, views.TokenListPage(v), views.TokenTable(v))
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
	v := views.TokenDetail{Settings: h.Settings(c, u.Name, links.Tokens, tokensCrumb()), API: h.API, Use: u}
	v.Badge = panelviews.TokenStatus(v.Reader, u.Token, u.RevokedAt != nil)
	panel.LoadCharts(&v.Frame)
	return h.Render(c, http.StatusOK, views.TokenPage(v), nil)
}

func tokensCrumb() ui.Crumb { return ui.Crumb{Label: "API tokens", Path: links.Tokens} }

func (h *Handlers) newToken(c echo.Context) error {
	return h.tokenForm(c, http.StatusOK, &forms.Form{})
}

func (h *Handlers) tokenForm(c echo.Context, status int, form *forms.Form) error {
	v := views.TokenForm{Settings: h.tokenSettings(c), API: h.API, Form: form, FormKey: h.NewFormKey()}
	return h.Render(c, status, views.TokenFormPage(v), nil)
}

// tokenSettings is the frame of a page below the list of tokens.
func (h *Handlers) tokenSettings(c echo.Context) panelviews.Settings {
	return h.Settings(c, "Create token", links.Tokens, tokensCrumb())
}

// createToken shows the secret in its own response, without a redirect: the secret isn't stored, so no
// other page could show it.
func (h *Handlers) createToken(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	n := token.New{Name: form.Value("name"), Scopes: &[]string{}, ExpiresAt: endOfDay(form.Date("expires_at"), by.Tenant.TimeZone)}
	n.Malformed = form.Malformed
	if chosen := form.Values["scopes"]; chosen != nil {
		n.Scopes = &chosen
	}
	// A repeated form leads to the list: the response with the secret must not be stored.
	created, err := h.Tokens.Create(c.Request().Context(), by, n, page.Once(c, form, page.To[token.Created](links.Tokens)))
	to, again := page.ReplayedPath(created)
	switch {
	case again:
		h.Flash(c, ui.Warning, "Already submitted. If you don't have the secret, revoke the token and create another.")
		return h.Redirect(c, to)
	case form.Refused(err):
		return h.tokenForm(c, http.StatusUnprocessableEntity, form)
	case err != nil:
		return err
	}
	return h.Render(c, http.StatusOK, views.TokenCreatedPage(views.TokenCreated{Settings: h.tokenSettings(c), API: h.API, Token: created.Result}), nil)
}

// endOfDay returns the instant at which a day ends; nil for none.
func endOfDay(day *time.Time, zone *time.Location) *time.Time {
	if day == nil {
		return nil
	}
	end := core.StartOfDate(day.AddDate(0, 0, 1), zone)
	return &end
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
	return h.confirmRevoke(c, t, links.RevokeToken(t.ID), tokensCrumb())
}

// confirmRevoke asks for confirmation. Cancel leads to the last of the crumbs.
func (h *Handlers) confirmRevoke(c echo.Context, t token.Token, action string, crumbs ...ui.Crumb) error {
	return h.Confirm(c, http.StatusOK, panelviews.Confirm{
		Frame: h.Frame(c, "Revoke “"+t.Name+"”?", links.Settings, crumbs...),
		Confirm: ui.Confirm{
			Action: action, Button: "Revoke token", Danger: true, Cancel: crumbs[len(crumbs)-1].Path,
			Words:  []string{"Programs that use this token stop working immediately. This can't be undone."},
			Hidden: []ui.Pair{{Name: page.FormKey, Value: h.NewFormKey()}},
		},
	})
}

func (h *Handlers) revokeToken(c echo.Context) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	return h.submitRevoke(c, links.Tokens, func(ctx context.Context, by core.Actor, once *core.Once[token.Token]) (core.Reply[token.Token], error) {
		return h.Tokens.Revoke(ctx, by, id, once)
	})
}

func (h *Handlers) submitRevoke(c echo.Context, to string, revoke func(context.Context, core.Actor, *core.Once[token.Token]) (core.Reply[token.Token], error)) error {
	return page.Submit(h.Kit, c, page.Submission[token.Token]{
		RunOnce: func(ctx context.Context, by core.Actor, _ *forms.Form, once *core.Once[token.Token]) (core.Reply[token.Token], error) {
			return revoke(ctx, by, once)
		},
		To:   page.To[token.Token](to),
		Done: func(t token.Token) string { return "“" + t.Name + "” was revoked." },
	})
}
