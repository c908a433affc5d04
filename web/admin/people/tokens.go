package people

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
	views "example.com/loyalty/views/admin/people"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// API describes the API for the examples shown with a new token.
type API struct {
	Base      string // https://localhost:8443
	Authority string // file of the certificate authority to trust; "": a public one

	RecordScope token.Ability // required to record a sale
}

func (h *Handlers) tokenRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Tokens, route.Owners, h.listTokens),
		route.Get(links.Tokens+"/new", route.Owners, h.newToken),
		route.Post(links.Tokens+"/new", route.Owners, h.createToken),
		route.Get(links.Tokens+"/:id/revoke", route.Owners, h.askRevoke),
		route.Post(links.Tokens+"/:id/revoke", route.Owners, h.revokeToken),
	}
}

// abilityText words an ability, with an example request that changes nothing.
type abilityText struct {
	ability       token.Ability
	label, help   string
	path, returns string // of the example; "": none
}

var abilityTexts = []abilityText{
	{token.CustomersRead, "View customers", "Find customers and view their details, balances and sales.", "/customers", "the newest customers"},
	{token.CustomersWrite, "Add and edit customers", "Add customers and change their details.", "", ""},
	{token.TransactionsWrite, "View and void sales", "Look up sales and void them.", "", ""},
	{token.RewardsRead, "View and redeem rewards", "View rewards, redeem them for customers and fulfil redemptions.", "/rewards", "your rewards"},
	{token.CouponsRead, "View coupons, redeem vouchers", "View coupons and redeem customers' vouchers.", "/coupons", "your coupons"},
	{token.ReportsRead, "View reports", "Read the figures of your reports.", "/reports/summary", "the figures of the last 30 days"},
}

// abilities lists the abilities. Recording sales is configurable: it is named with the ability that
// it requires.
func (api API) abilities() []abilityText {
	list := slices.Clone(abilityTexts)
	for i, s := range list {
		switch {
		case s.ability != api.RecordScope:
		case s.ability == token.TransactionsWrite:
			list[i].label, list[i].help = "Record sales", "Record, look up and void sales."
		default:
			list[i].label += ", record sales"
			list[i].help += " Record sales."
		}
	}
	return list
}

// quickStart is the guide for a first request, which the hosts of businesses don't have.
func (api API) quickStart() string { return api.Base + "/docs/quickstart" }

func (h *Handlers) listTokens(c echo.Context) error {
	by := page.Actor(c)
	list, err := h.Tokens.List(c.Request().Context(), by, forms.Position(c.QueryParams()))
	if err != nil {
		return err
	}
	v := views.TokenList{
		Settings: h.Settings(c, "API tokens", links.Tokens),
		Pager:    page.Pager(list, c.Request().URL, "token", "tokens", "#tokens"),
		Guide:    h.API.quickStart(),
	}
	for _, t := range list.Items {
		v.Rows = append(v.Rows, h.tokenRow(t, by.Tenant.TimeZone, links.Token(t.ID)+"/revoke"))
	}
	return h.Render(c, http.StatusOK, views.TokenListPage(v), views.TokenTable(v))
}

func (h *Handlers) tokenRow(t token.Token, zone *time.Location, revokePath string) views.TokenRow {
	now := h.Now()
	row := views.TokenRow{
		Name: t.Name, Abilities: h.API.abilityLabels(t.Abilities), Created: format.Date(t.CreatedAt, zone), LastUsed: "Never", Expires: "Never", Revoke: revokePath,
	}
	if t.LastUsedAt != nil {
		row.LastUsed = format.Ago(*t.LastUsedAt, now, zone)
	}
	if t.ExpiresAt != nil {
		// The last day on which it works: expiry at midnight belongs to the day before.
		row.Expires = format.Date(t.ExpiresAt.Add(-time.Millisecond), zone)
		row.Expired = !now.Before(*t.ExpiresAt)
	}
	return row
}

func (api API) abilityLabels(abilities []token.Ability) string {
	switch len(abilities) {
	case 0:
		return "Manage tokens"
	case len(abilityTexts):
		return "Everything"
	}
	var labels []string
	for _, x := range api.abilities() {
		if slices.Contains(abilities, x.ability) {
			labels = append(labels, x.label)
		}
	}
	return strings.Join(labels, " · ")
}

func (h *Handlers) newToken(c echo.Context) error {
	return h.tokenForm(c, http.StatusOK, &forms.Form{})
}

func (h *Handlers) tokenForm(c echo.Context, status int, form *forms.Form) error {
	v := views.TokenForm{
		Settings: h.Settings(c, "Create token", links.Tokens, ui.Crumb{Label: "API tokens", Path: links.Tokens}),
		Key:      h.NewFormKey(),
		Name:     form.Field("name", ui.Field{Label: "Name"}), Abilities: form.Field("scopes", ui.Field{Label: "Abilities"}), Expires: form.Field("expires_at", ui.Field{Label: "Expires"}),
	}
	v.Problem = form.Problem()
	v.Name.Autofocus, v.Name.Help = true, "The program that will use it"
	for _, x := range h.API.abilities() {
		v.Abilities.Options = append(v.Abilities.Options, ui.Option{Value: string(x.ability), Label: x.label, Help: x.help + " (" + string(x.ability) + ")"})
	}
	v.Abilities.Options = form.Options("scopes", v.Abilities.Options...)
	v.Abilities.Help = "Select only what the program needs. Every token can manage your tokens."
	v.Expires.Type, v.Expires.Optional, v.Expires.Help = "date", true, "Last day it works. Leave empty to never expire"
	return h.Render(c, status, views.TokenFormPage(v), nil)
}

// createToken shows the secret in its own response, without a redirect: the secret isn't stored, so no
// other page could show it.
func (h *Handlers) createToken(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	n := token.New{Name: form.Text("name"), Scopes: &[]string{}, ExpiresAt: endOfDay(form.Date("expires_at"), by.Tenant.TimeZone)}
	n.Malformed = form.Malformed
	if chosen := form.Values["scopes"]; chosen != nil {
		n.Scopes = &chosen
	}
	// A repeated form leads to the list: the response with the secret must not be stored.
	by = page.IdempotentActor(c, form, func(token.Created) string { return links.Tokens })
	created, err := h.Tokens.Create(c.Request().Context(), by, n)
	to, again := page.ReplayedPath(by, err)
	switch {
	case again:
		h.Flash(c, ui.Warning, "Already submitted. If you don't have the secret, revoke the token and create another.")
		return h.Redirect(c, to)
	case form.Refused(err):
		return h.tokenForm(c, http.StatusUnprocessableEntity, form)
	case err != nil:
		return err
	}
	v := views.TokenCreated{
		Settings: h.Settings(c, "Create token", links.Tokens, ui.Crumb{Label: "API tokens", Path: links.Tokens}),
		Name:     created.Name, Secret: created.Secret, Guide: h.API.quickStart(),
	}
	v.Curl, v.Returns = h.API.example(created)
	return h.Render(c, http.StatusOK, views.TokenCreatedPage(v), nil)
}

// endOfDay returns the instant at which a day ends; nil for none.
func endOfDay(day *time.Time, zone *time.Location) *time.Time {
	if day == nil {
		return nil
	}
	end := core.StartOfDate(day.AddDate(0, 0, 1), zone)
	return &end
}

// example returns a request that the token may make and that changes nothing, and what it returns.
func (api API) example(t token.Created) (curl, returns string) {
	path, returns := "/tokens", "your tokens"
	for _, x := range slices.Backward(abilityTexts) {
		if x.path != "" && slices.Contains(t.Abilities, x.ability) {
			path, returns = x.path, x.returns
		}
	}
	lines := []string{"curl"}
	if api.Authority != "" {
		lines[0] += " --cacert " + shellQuoted(api.Authority)
	}
	lines = append(lines, "  -H "+shellQuoted("Authorization: Bearer "+t.Secret), "  "+api.Base+"/api/v1"+path)
	return strings.Join(lines, " \\\n"), returns
}

// shellQuoted quotes a word for a POSIX shell.
func shellQuoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

func (h *Handlers) askRevoke(c echo.Context) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	t, err := h.Tokens.Find(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	return h.confirmRevoke(c, t, links.Token(t.ID)+"/revoke", ui.Crumb{Label: "API tokens", Path: links.Tokens})
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
	return h.submitRevoke(c, links.Tokens, func(ctx context.Context, by core.Actor) (token.Token, error) {
		return h.Tokens.Revoke(ctx, by, id)
	})
}

func (h *Handlers) submitRevoke(c echo.Context, to string, revoke func(context.Context, core.Actor) (token.Token, error)) error {
	return page.Submit(h.Kit, c, page.Submission[token.Token]{
		Run:  func(ctx context.Context, by core.Actor, _ *forms.Form) (token.Token, error) { return revoke(ctx, by) },
		Once: true,
		To:   page.To[token.Token](to),
		Done: func(t token.Token) string { return "“" + t.Name + "” was revoked." },
	})
}
