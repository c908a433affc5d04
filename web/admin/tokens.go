package admin

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const tokensPath = settingsPath + "/tokens"

// API is where programs find the business, for the examples that are there to paste.
type API struct {
	Base      string // https://localhost:8443
	Authority string // the file of certificates that they must trust; "" where everybody does

	RecordScope token.Ability // what recording a sale asks for
}

func (a *Admin) tokenRoutes() []route {
	return []route{
		{method: get, path: tokensPath, least: core.Owner, handle: a.listTokens},
		{method: get, path: tokensPath + "/new", least: core.Owner, handle: a.newToken},
		{method: post, path: tokensPath + "/new", least: core.Owner, handle: a.makeToken},
		{method: get, path: tokensPath + "/:id/revoke", least: core.Owner, handle: a.askRevoke},
		{method: post, path: tokensPath + "/:id/revoke", least: core.Owner, handle: a.revokeToken},
	}
}

// abilityRow is what a token may do, in words, and a request that shows it.
type abilityRow struct {
	ability     token.Ability
	label, help string
	try, does   string // "" where the request would change something
}

var scopes = []abilityRow{
	{token.CustomersRead, "See customers", "Find customers, and see their details, balances and sales.", "/customers", "the newest customers"},
	{token.CustomersWrite, "Add and edit customers", "Add customers who are new, and change their details.", "", ""},
	{token.TransactionsWrite, "Look up and void sales", "Look sales up and void them.", "", ""},
	{token.RewardsRead, "See and redeem rewards", "See rewards, redeem them for customers and hand them over.", "/rewards", "the rewards"},
	{token.CouponsRead, "See coupons, redeem vouchers", "See coupons, and redeem the vouchers that customers have.", "/coupons", "the coupons"},
	{token.ReportsRead, "Read reports", "Read the figures of the reports.", "/reports/summary", "the figures of the last 30 days"},
}

// abilityRows are all there are, by the scope that recording a sale asks for here.
func (api API) abilityRows() []abilityRow {
	list := slices.Clone(scopes)
	for i, s := range list {
		switch {
		case s.ability != api.RecordScope:
		case s.ability == token.TransactionsWrite:
			list[i].label, list[i].help = "Record sales", "Record sales, look them up and void them."
		default:
			list[i].label += ", record sales"
			list[i].help += " Record sales."
		}
	}
	return list
}

func (a *Admin) listTokens(c echo.Context) error {
	by := page.Actor(c)
	list, err := a.Tokens.List(c.Request().Context(), by, page.Position(c.QueryParams()))
	if err != nil {
		return err
	}
	v := views.TokenList{
		Settings: a.settings(c, "API tokens", tokensPath),
		Pager:    page.Pager(list, c.Request().URL, page.Count(int64(len(list.Items)), "token", "tokens"), "#tokens"),
	}
	for _, t := range list.Items {
		v.Rows = append(v.Rows, a.API.tokenRow(t, a.Now(), by.Tenant.TimeZone))
	}
	return a.Render(c, http.StatusOK, views.TokenListPage(v), views.TokenTable(v))
}

func (api API) tokenRow(t token.Token, now time.Time, zone *time.Location) views.TokenRow {
	row := views.TokenRow{
		Name: t.Name, Created: page.Date(t.CreatedAt, zone), LastUsed: "never", Revoke: tokenPath(t.ID) + "/revoke",
	}
	switch len(t.Abilities) {
	case 0:
		row.Scopes = "Manage tokens"
	case len(scopes):
		row.Scopes = "Everything"
	default:
		row.Scopes = api.inWords(t.Abilities)
	}
	if t.LastUsedAt != nil {
		row.LastUsed = page.Ago(*t.LastUsedAt, now, zone)
	}
	if t.ExpiresAt != nil {
		// The day that ends then: a token that the API made may end within one.
		row.Expires = page.Date(t.ExpiresAt.Add(-time.Millisecond), zone)
		row.Expired = !now.Before(*t.ExpiresAt)
	}
	return row
}

func (api API) inWords(abilities []token.Ability) string {
	var words []string
	for _, s := range api.abilityRows() {
		if slices.Contains(abilities, s.ability) {
			words = append(words, s.label)
		}
	}
	return strings.Join(words, " · ")
}

func tokenPath(id int64) string { return tokensPath + "/" + strconv.FormatInt(id, 10) }

func (a *Admin) newToken(c echo.Context) error {
	return a.tokenForm(c, http.StatusOK, &page.Form{})
}

// tokenForm shows the form of a token to be.
func (a *Admin) tokenForm(c echo.Context, status int, form *page.Form) error {
	v := views.TokenForm{
		Settings: a.settings(c, "New token", tokensPath, ui.Crumb{Label: "API tokens", Path: tokensPath}),
		Key:      a.NewFormKey(),
		Name:     form.Field("name", "Name"), Scopes: form.Field("scopes", "What it may do"), LastDay: form.Field("expires_at", "Last day"),
	}
	v.Problem = form.Problem()
	v.Name.Autofocus, v.Name.Help = true, "Which program will use it, so that you know later what you revoke."
	for _, s := range a.API.abilityRows() {
		v.Scopes.Options = append(v.Scopes.Options, ui.Option{Value: string(s.ability), Label: s.label, Help: s.help + " (" + string(s.ability) + ")"})
	}
	v.Scopes.Options = form.Options("scopes", v.Scopes.Options...)
	v.Scopes.Help = "Tick no more than the program needs. With nothing ticked, the token can only make, list and revoke tokens, as every token can."
	v.LastDay.Type, v.LastDay.Optional, v.LastDay.Help = "date", true, "It stops working at the end of this day. Without one, it works until you revoke it."
	return a.Render(c, status, views.TokenFormPage(v), nil)
}

// makeToken shows the secret in its own answer: it is kept nowhere, so that nothing could
// show it again.
func (a *Admin) makeToken(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	n := token.New{Name: form.Text("name"), Scopes: &[]string{}, ExpiresAt: endOf(form.Date("expires_at"), by.Tenant.TimeZone)}
	n.Malformed = form.Malformed
	if chosen := form.Values["scopes"]; chosen != nil {
		n.Scopes = &chosen
	}
	// The secret is no part of what is remembered.
	by = page.IdempotentActor(c, form, func(token.Created) string { return tokensPath })
	made, err := a.Tokens.Create(c.Request().Context(), by, n)
	to, again := page.ReplayedPath(by, err)
	switch {
	case again:
		a.Flash(c, ui.Warning, "This form was sent already. It makes one token, and the secret is shown once: if you do not have it, revoke the token and make another.")
		return a.Redirect(c, to)
	case form.Refused(err):
		return a.tokenForm(c, http.StatusUnprocessableEntity, form)
	case err != nil:
		return err
	}
	v := views.TokenMade{
		Settings: a.settings(c, "New token", tokensPath, ui.Crumb{Label: "API tokens", Path: tokensPath}),
		Name:     made.Name, Secret: made.Secret,
	}
	v.Curl, v.Does = a.API.example(made)
	return a.Render(c, http.StatusOK, views.TokenMadePage(v), nil)
}

// endOf is the instant at which a day is over.
func endOf(day *time.Time, zone *time.Location) *time.Time {
	if day == nil {
		return nil
	}
	end := core.StartOfDate(day.AddDate(0, 0, 1), zone)
	return &end
}

// example is a request that a token may make and that changes nothing, and what it
// answers with.
func (api API) example(t token.Created) (curl, does string) {
	path, does := "/tokens", "your tokens"
	for _, s := range slices.Backward(scopes) {
		if s.try != "" && slices.Contains(t.Abilities, s.ability) {
			path, does = s.try, s.does
		}
	}
	lines := []string{"curl"}
	if api.Authority != "" {
		lines[0] += " --cacert " + shellQuoted(api.Authority)
	}
	lines = append(lines, "  -H "+shellQuoted("Authorization: Bearer "+t.Secret), "  "+api.Base+"/api/v1"+path)
	return strings.Join(lines, " \\\n"), does
}

// shellQuoted is a word of a shell.
func shellQuoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

func (a *Admin) askRevoke(c echo.Context) error {
	t, err := a.tokenOf(c)
	if err != nil {
		return err
	}
	v := views.Confirm{
		Frame: a.frame(c, "Revoke “"+t.Name+"”?", settingsPath, ui.Crumb{Label: "API tokens", Path: tokensPath}),
		Confirm: ui.Confirm{
			Action: tokenPath(t.ID) + "/revoke", Button: "Revoke the token", Danger: true, Cancel: tokensPath,
			Words:  []string{"What uses this token is refused from then on. A revoked token cannot be brought back, but you can make another."},
			Hidden: []ui.Pair{{Name: page.FormKey, Value: a.NewFormKey()}},
		},
	}
	return a.Render(c, http.StatusOK, views.ConfirmPage(v), views.ConfirmDialog(v))
}

// tokenOf is the token that the path names.
func (a *Admin) tokenOf(c echo.Context) (token.Token, error) {
	id, err := number(c)
	if err != nil {
		return token.Token{}, err
	}
	return a.Tokens.Find(c.Request().Context(), page.Actor(c), id)
}

func (a *Admin) revokeToken(c echo.Context) error {
	id, err := number(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	by := page.IdempotentActor(c, form, func(token.Token) string { return tokensPath })
	t, err := a.Tokens.Revoke(c.Request().Context(), by, id)
	if path, again := page.ReplayedPath(by, err); again {
		return a.Redirect(c, path)
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "“"+t.Name+"” is revoked. It is refused from now on.")
	return a.Redirect(c, tokensPath)
}
