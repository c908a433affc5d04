package admin

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const (
	securityPath = settingsPath + "/security"
	factorPath   = securityPath + "/factor"
	codesPath    = securityPath + "/codes"
	sessionsPath = securityPath + "/sessions"
)

func (a *Admin) securityRoutes() []route {
	return []route{
		{method: get, path: securityPath, least: core.Cashier, handle: a.showSecurity},
		{method: post, path: securityPath + "/name", least: core.Cashier, handle: a.rename},
		{method: post, path: securityPath + "/password", least: core.Cashier, handle: a.changePassword},
		{method: post, path: factorPath + "/begin", least: core.Cashier, handle: a.beginFactor},
		{method: get, path: factorPath, least: core.Cashier, handle: a.showFactor},
		{method: post, path: factorPath, least: core.Cashier, handle: a.confirmFactor},
		{method: get, path: factorPath + "/off", least: core.Cashier, handle: a.askFactorOff},
		{method: post, path: factorPath + "/off", least: core.Cashier, handle: a.factorOff},
		{method: get, path: codesPath, least: core.Cashier, handle: a.askCodes},
		{method: post, path: codesPath, least: core.Cashier, handle: a.renewCodes},
		{method: post, path: sessionsPath + "/others", least: core.Cashier, handle: a.endOthers},
		{method: post, path: sessionsPath + "/:id/end", least: core.Cashier, handle: a.endSession},
	}
}

func (a *Admin) showSecurity(c echo.Context) error {
	return a.securityPage(c, http.StatusOK, nil, nil)
}

// securityPage shows a person's own account, with a form that was refused, if one was.
// Three round trips: the session, the second factor and the sessions.
func (a *Admin) securityPage(c echo.Context, status int, name, password *page.Form) error {
	ctx, person := c.Request().Context(), page.Person(c)
	factor, err := a.Auth.TwoFactor(ctx, person.Actor)
	if err != nil {
		return err
	}
	list, err := a.Auth.Sessions(ctx, person.Actor, person.Session)
	if err != nil {
		return err
	}
	if name == nil {
		name = page.Blank(map[string]string{"name": person.Name})
	}
	if password == nil {
		password = &page.Form{}
	}
	v := views.Security{
		Settings: a.settings(c, "Your account", securityPath), Email: person.Email,
		Name:    name.Field("name", "Name"),
		Current: password.Field("current_password", "Present password"), Password: password.Field("password", "New password"),
		Factor: views.Factor{
			On: factor.On, Codes: page.Count(int64(factor.RecoveryCodes), "recovery code", "recovery codes"), Few: factor.RecoveryCodes < 3,
		},
	}
	v.NameProblem, v.PasswordProblem = name.Problem(), password.Problem()
	v.Name.Autocomplete = "name"
	v.Current.Type, v.Current.Autocomplete, v.Current.Value = "password", "current-password", ""
	v.Password.Type, v.Password.Autocomplete, v.Password.Value = "password", "new-password", ""
	v.Password.Help = "At least 12 characters. A short sentence is easy to keep in mind."
	for _, s := range list {
		v.Sessions = append(v.Sessions, a.sessionRow(s, person.Actor))
	}
	return a.Render(c, status, views.SecurityPage(v), nil)
}

func (a *Admin) sessionRow(s auth.Session, by core.Actor) views.SessionRow {
	zone := by.Tenant.TimeZone
	return views.SessionRow{
		Browser: browser(s.UserAgent), Address: s.Address, Current: s.Current,
		Seen: page.Ago(s.LastSeenAt, a.Now(), zone), Since: page.Time(s.CreatedAt, zone), End: sessionsPath + "/" + s.ID + "/end",
	}
}

// Names of browsers and systems as they stand in what a browser calls itself. The first
// one that does is right: most call themselves by several.
var (
	browsers = [][2]string{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Vivaldi/", "Vivaldi"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	}
	systems = [][2]string{
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Android", "Android"},
		{"CrOS", "ChromeOS"},
		{"Windows", "Windows"},
		{"Mac OS X", "Mac"},
		{"Linux", "Linux"},
	}
)

// browser is a browser in words, or as it calls itself where we do not know it.
func browser(agent string) string {
	name, system := named(browsers, agent), named(systems, agent)
	switch {
	case name != "" && system != "":
		return name + " on " + system
	case agent == "":
		return "An unnamed browser"
	}
	return agent
}

func named(names [][2]string, agent string) string {
	for _, n := range names {
		if strings.Contains(agent, n[0]) {
			return n[1]
		}
	}
	return ""
}

func (a *Admin) rename(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	err = a.Staff.Rename(c.Request().Context(), page.Actor(c), form.Value("name"))
	if form.Refused(err) {
		return a.securityPage(c, http.StatusUnprocessableEntity, form, nil)
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "Your name is changed.")
	return a.Redirect(c, securityPath)
}

func (a *Admin) changePassword(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	proof, err := a.Auth.ChangePassword(c.Request().Context(), page.Actor(c), form.Value("current_password"), form.Value("password"))
	if form.Refused(err) {
		return a.securityPage(c, http.StatusUnprocessableEntity, nil, form)
	}
	if err != nil {
		return err
	}
	// Every session has ended, this one too: it goes on as a new one.
	if err := a.SignIn(c, proof); err != nil {
		return err
	}
	a.Flash(c, ui.Done, "The password is changed. You are signed out everywhere else.")
	return a.Redirect(c, securityPath)
}

func (a *Admin) beginFactor(c echo.Context) error {
	_, err := a.Auth.BeginTwoFactor(c.Request().Context(), page.Actor(c))
	if said, refused := page.Sentence(err); refused {
		a.Flash(c, ui.Refused, said)
		return a.Redirect(c, securityPath)
	}
	if err != nil {
		return err
	}
	return a.Redirect(c, factorPath)
}

func (a *Admin) showFactor(c echo.Context) error {
	return a.factorForm(c, http.StatusOK, &page.Form{})
}

func (a *Admin) factorForm(c echo.Context, status int, form *page.Form) error {
	setup, err := a.Auth.PendingTwoFactor(c.Request().Context(), page.Actor(c))
	if errors.Is(err, core.ErrNotFound) {
		return a.Redirect(c, securityPath) // it is on, or nobody began
	}
	if err != nil {
		return err
	}
	v := views.FactorSetup{
		Settings: a.securitySettings(c, "Set up the second factor"),
		Secret:   spaced(setup.Secret), Code: form.Field("code", "Code"),
	}
	if v.QR, err = page.QR(setup.URI, "The key below, for the camera of your phone"); err != nil {
		return err
	}
	v.Problem = form.Problem()
	v.Code.Value, v.Code.Mode, v.Code.Autocomplete, v.Code.MaxLength = "", "numeric", "one-time-code", 7
	return a.Render(c, status, views.FactorSetupPage(v), nil)
}

// securitySettings is the frame of a page behind that of the account.
func (a *Admin) securitySettings(c echo.Context, title string) views.Settings {
	return a.settings(c, title, securityPath, ui.Crumb{Label: "Your account", Path: securityPath})
}

// spaced is a key in groups of four, so that it can be typed.
func spaced(key string) string {
	var groups []string
	for len(key) > 4 {
		groups, key = append(groups, key[:4]), key[4:]
	}
	return strings.Join(append(groups, key), " ")
}

// confirmFactor shows the recovery codes in its own answer: they are kept nowhere.
func (a *Admin) confirmFactor(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	enrolled, err := a.Auth.ConfirmTwoFactor(c.Request().Context(), page.Actor(c), form.Value("code"))
	switch {
	case form.Refused(err):
		return a.factorForm(c, http.StatusUnprocessableEntity, form)
	case errors.Is(err, core.ErrNotFound): // sent twice, or ended meanwhile
		a.Flash(c, ui.Warning, "There is nothing to confirm any more. Recovery codes are shown once: if the second factor is on and you do not have them, make new ones.")
		return a.Redirect(c, securityPath)
	case err != nil:
		return err
	}
	// Every session has ended, this one too: it goes on as a new one.
	if err := a.SignIn(c, enrolled.Proof); err != nil {
		return err
	}
	return a.showCodes(c, "The second factor is on.", enrolled.RecoveryCodes)
}

func (a *Admin) showCodes(c echo.Context, intro string, codes []string) error {
	v := views.RecoveryCodes{Settings: a.securitySettings(c, "Recovery codes"), Intro: intro, Codes: strings.Join(codes, "\n")}
	return a.Render(c, http.StatusOK, views.RecoveryCodesPage(v), nil)
}

// confirmation is the field in which somebody shows once more that it is them.
func confirmation(form *page.Form) ui.Field {
	field := form.Field("confirmation", "Your password, or a code of your app")
	field.Type, field.Autocomplete, field.Value, field.Autofocus = "password", "current-password", "", true
	return field
}

func (a *Admin) askCodes(c echo.Context) error {
	return a.codesForm(c, http.StatusOK, &page.Form{})
}

func (a *Admin) codesForm(c echo.Context, status int, form *page.Form) error {
	v := views.FactorProof{Settings: a.securitySettings(c, "New recovery codes"), Confirmation: confirmation(form)}
	v.Problem = form.Problem()
	return a.Render(c, status, views.FactorProofPage(v), nil)
}

func (a *Admin) renewCodes(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	codes, err := a.Auth.RenewRecoveryCodes(c.Request().Context(), page.Actor(c), form.Value("confirmation"))
	switch {
	case form.Refused(err):
		return a.codesForm(c, http.StatusUnprocessableEntity, form)
	case errors.Is(err, core.ErrNotFound):
		return a.Redirect(c, securityPath) // it is off
	case err != nil:
		return err
	}
	return a.showCodes(c, "The codes that you had before work no more.", codes)
}

func (a *Admin) askFactorOff(c echo.Context) error {
	return a.factorOffForm(c, http.StatusOK, &page.Form{})
}

func (a *Admin) factorOffForm(c echo.Context, status int, form *page.Form) error {
	field := confirmation(form)
	v := views.Confirm{
		Frame:  a.securitySettings(c, "Turn off the second factor?").Frame,
		Action: factorPath + "/off", Button: "Turn it off", Danger: true, Cancel: securityPath, Reason: &field, Problem: form.Problem(),
		Words: []string{"Signing in asks for your password alone then, and your recovery codes stop working. You can set it up anew."},
	}
	return a.Render(c, status, views.ConfirmPage(v), views.ConfirmDialog(v))
}

func (a *Admin) factorOff(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	err = a.Auth.DisableTwoFactor(c.Request().Context(), page.Actor(c), form.Value("confirmation"))
	switch {
	case form.Refused(err):
		return a.factorOffForm(c, http.StatusUnprocessableEntity, form)
	case errors.Is(err, core.ErrNotFound):
		return a.Redirect(c, securityPath) // it is off already
	case err != nil:
		return err
	}
	a.Flash(c, ui.Done, "The second factor is off.")
	return a.Redirect(c, securityPath)
}

func (a *Admin) endSession(c echo.Context) error {
	err := a.Auth.EndSession(c.Request().Context(), page.Actor(c), c.Param("id"))
	if errors.Is(err, core.ErrNotFound) {
		return a.Redirect(c, securityPath) // it has ended, as is seen there
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "You are signed out there.")
	return a.Redirect(c, securityPath)
}

func (a *Admin) endOthers(c echo.Context) error {
	person := page.Person(c)
	ended, err := a.Auth.EndOtherSessions(c.Request().Context(), person.Actor, person.Session)
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "Signed out of "+page.Count(ended, "other browser", "other browsers")+".")
	return a.Redirect(c, securityPath)
}
