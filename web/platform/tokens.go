package platform

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/platform"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const tokensPath = home + "/tokens"

func (p *Platform) tokenRoutes() []route.Route {
	return []route.Route{
		route.Get(tokensPath, route.SuperAdmins, p.listTokens),
		route.Get(tokensPath+"/new", route.SuperAdmins, p.newToken),
		route.Post(tokensPath+"/new", route.SuperAdmins, p.createToken),
		route.Get(tokensPath+"/:id/revoke", route.SuperAdmins, p.askRevoke),
		route.Post(tokensPath+"/:id/revoke", route.SuperAdmins, p.revokeToken),
	}
}

func tokensCrumb() ui.Crumb { return ui.Crumb{Label: "API tokens", Path: tokensPath} }

func (p *Platform) listTokens(c echo.Context) error {
	list, err := p.Tokens.List(c.Request().Context(), page.Actor(c), forms.Position(c.QueryParams()))
	if err != nil {
		return err
	}
	v := views.Tokens{
		Frame: p.frame(c, "API tokens", tokensPath),
		Pager: page.Pager(list, c.Request().URL, "token", "tokens", "#tokens"),
	}
	for _, t := range list.Items {
		v.Rows = append(v.Rows, tokenRow(t, p.Now()))
	}
	return p.Render(c, http.StatusOK, views.TokensPage(v), views.TokenTable(v))
}

func tokenRow(t token.Token, now time.Time) views.Token {
	row := views.Token{Name: t.Name, Created: format.Date(t.CreatedAt, zone), LastUsed: "Never", Expires: "Never", Revoke: tokenPath(t.ID) + "/revoke"}
	if t.LastUsedAt != nil {
		row.LastUsed = format.Ago(*t.LastUsedAt, now, zone)
	}
	if t.ExpiresAt != nil {
		// The last full or partial day: tokens created by the API can expire at any time of day.
		row.Expires = format.Date(t.ExpiresAt.Add(-time.Millisecond), zone)
		row.Expired = !now.Before(*t.ExpiresAt)
	}
	return row
}

func tokenPath(id int64) string { return tokensPath + "/" + strconv.FormatInt(id, 10) }

func (p *Platform) newToken(c echo.Context) error {
	return p.tokenForm(c, http.StatusOK, &forms.Form{})
}

func (p *Platform) tokenForm(c echo.Context, status int, form *forms.Form) error {
	v := views.TokenForm{
		Frame: p.frame(c, "Create token", tokensPath, tokensCrumb()), Key: p.NewFormKey(), Problem: form.Problem(),
		Name: form.Field("name", "Name"), Expires: form.Field("expires_at", "Expires"),
	}
	v.Name.Autofocus, v.Name.Help = true, "The program that uses it"
	v.Expires.Type, v.Expires.Optional, v.Expires.Help = "date", true, "Works until the end of this day (UTC)"
	return p.Render(c, status, views.TokenFormPage(v), nil)
}

// createToken shows the secret in its response, since it isn't stored.
func (p *Platform) createToken(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	n := token.New{Name: form.Text("name"), Scopes: &[]string{}}
	if day := form.Date("expires_at"); day != nil {
		n.ExpiresAt = new(core.StartOfDate(day.AddDate(0, 0, 1), zone))
	}
	n.Malformed = form.Malformed
	by := page.IdempotentActor(c, form, func(token.Created) string { return tokensPath })
	made, err := p.Tokens.Create(c.Request().Context(), by, n)
	to, again := page.ReplayedPath(by, err)
	switch {
	case again:
		p.Flash(c, ui.Warning, "Already submitted: the token was created. If you didn't copy its secret, revoke it and create another.")
		return p.Redirect(c, to)
	case form.Refused(err):
		return p.tokenForm(c, http.StatusUnprocessableEntity, form)
	case err != nil:
		return err
	}
	return p.Render(c, http.StatusOK, views.TokenCreatedPage(views.TokenCreated{
		Frame: p.frame(c, "Create token", tokensPath, tokensCrumb()), Name: made.Name, Secret: made.Secret, List: tokensPath,
	}), nil)
}

func (p *Platform) askRevoke(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	t, err := p.Tokens.Find(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	title := "Revoke “" + t.Name + "”?"
	v := views.Confirm{Frame: p.frame(c, title, tokensPath, tokensCrumb()), Confirm: ui.Confirm{
		Action: tokenPath(t.ID) + "/revoke", Button: "Revoke token", Danger: true, Cancel: tokensPath,
		Words:  []string{"Requests with this token are refused from now on. This can't be undone."},
		Hidden: []ui.Pair{{Name: page.FormKey, Value: p.NewFormKey()}},
	}}
	return p.confirm(c, http.StatusOK, v)
}

func (p *Platform) revokeToken(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	return page.Submit(p.Kit, c, page.Submission[token.Token]{
		Run: func(ctx context.Context, by core.Actor, _ *forms.Form) (token.Token, error) {
			return p.Tokens.Revoke(ctx, by, id)
		},
		To: page.To[token.Token](tokensPath), Once: true,
		Done: func(t token.Token) string { return "“" + t.Name + "” was revoked." },
	})
}
