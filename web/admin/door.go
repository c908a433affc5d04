package admin

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/staff"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const (
	signInPath = page.SignInPath
	codePath   = signInPath + "/code"

	revokeTokens = "revoke_tokens" // the checkbox of a reset
)

func (a *Admin) doorRoutes() []route {
	return []route{
		{method: get, path: signInPath, handle: a.showSignIn},
		{method: post, path: signInPath, handle: a.signIn},
		{method: get, path: codePath, handle: a.showCode},
		{method: post, path: codePath, handle: a.giveCode},
		{method: post, path: "/admin/sign-out", handle: a.signOut},
		{method: get, path: "/admin/forgot", handle: a.showForgot},
		{method: post, path: "/admin/forgot", handle: a.forgot},
		{method: get, path: "/admin/reset/:secret", handle: a.showReset},
		{method: post, path: "/admin/reset/:secret", handle: a.reset},
		{method: get, path: "/admin/invitation/:secret", handle: a.showInvitation},
		{method: post, path: "/admin/invitation/:secret", handle: a.takeInvitation},
	}
}

// visitor is who asks, without being signed in.
func (a *Admin) visitor(c echo.Context) (auth.Visitor, error) {
	t, err := a.Tenant(c)
	visit := page.Visit(c)
	return auth.Visitor{Tenant: t, Address: visit.Address, RequestID: visit.RequestID}, err
}

func (a *Admin) showSignIn(c echo.Context) error {
	if page.Person(c) != nil {
		return a.Redirect(c, wanted(c.QueryParam("to"), page.Actor(c).Role))
	}
	return a.signInForm(c, http.StatusOK, page.Blank(map[string]string{"to": c.QueryParam("to")}))
}

func (a *Admin) signInForm(c echo.Context, status int, form *page.Form) error {
	t, err := a.Tenant(c)
	if err != nil {
		return err
	}
	v := views.SignIn{
		Door: a.door(c, "Sign in", t.Name), To: form.Value("to"),
		Email: form.Field("email", "E-mail"), Password: form.Field("password", "Password"),
	}
	v.Problem = form.Problem()
	if c.QueryParam(page.Unsent) != "" && v.Problem.None() {
		v.Flashes = append(v.Flashes, ui.Flash{Kind: ui.Warning, Message: "You are no longer signed in, so what you sent was not done. Sign in and send it again."})
	}
	v.Email.Type, v.Email.Autocomplete, v.Email.Autofocus = "email", "username", v.Email.Value == ""
	v.Password.Type, v.Password.Autocomplete, v.Password.Value = "password", "current-password", ""
	v.Password.Autofocus = v.Email.Value != ""
	return a.Render(c, status, views.SignInPage(v), nil)
}

func (a *Admin) signIn(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	v, err := a.visitor(c)
	if err != nil {
		return err
	}
	in, err := a.Auth.SignIn(c.Request().Context(), v, auth.Credentials{Email: form.Value("email"), Password: form.Value("password")})
	if form.Refused(err) {
		return a.signInForm(c, refusedStatus(err), form)
	}
	if err != nil {
		return err
	}
	if in.NeedsCode {
		a.keepProof(c, in.Proof)
		return a.Redirect(c, page.WithQuery(codePath, "to", form.Value("to")))
	}
	return a.enter(c, in, form.Value("to"))
}

// refusedStatus is what a refused sign-in is answered: too many attempts have a status
// of their own.
func refusedStatus(err error) int {
	if core.IsKind(err, core.KindThrottled) {
		return http.StatusTooManyRequests
	}
	return http.StatusUnprocessableEntity
}

// enter signs the person in and leads to the page they wanted.
func (a *Admin) enter(c echo.Context, in auth.SignedIn, to string) error {
	if err := a.SignIn(c, in.Proof); err != nil {
		return err
	}
	return a.Redirect(c, wanted(to, in.Role))
}

// firstPage is where people begin: cashiers at the point of sale, everybody else at the
// dashboard.
func firstPage(role core.Role) string {
	if role == core.Cashier {
		return page.TillPath
	}
	return page.PanelPath
}

// wanted is the page that a person was on their way to, or their first one.
func wanted(to string, role core.Role) string {
	if to = page.Inside(to); to == page.PanelPath {
		return firstPage(role)
	}
	return to
}

// The proof of a password waits in the session for the code that must follow.
const (
	proofKey   = "proof"
	provedKey  = "proved"
	millisBase = 10
)

func (a *Admin) keepProof(c echo.Context, p auth.Proof) {
	a.Keep(c, proofKey, strconv.FormatInt(p.StaffID, millisBase))
	a.Keep(c, provedKey, strconv.FormatInt(p.At.UnixMilli(), millisBase))
}

func (a *Admin) keptProof(c echo.Context) (auth.Proof, bool) {
	id, err := strconv.ParseInt(a.Kept(c, proofKey), millisBase, 64)
	at, err2 := strconv.ParseInt(a.Kept(c, provedKey), millisBase, 64)
	return auth.Proof{StaffID: id, At: time.UnixMilli(at).UTC()}, err == nil && err2 == nil
}

func (a *Admin) showCode(c echo.Context) error {
	if _, waiting := a.keptProof(c); !waiting {
		return a.Redirect(c, page.WithQuery(signInPath, "to", c.QueryParam("to")))
	}
	return a.codeForm(c, http.StatusOK, page.Blank(map[string]string{"to": c.QueryParam("to")}), c.QueryParam("recovery") != "")
}

func (a *Admin) codeForm(c echo.Context, status int, form *page.Form, recovery bool) error {
	t, err := a.Tenant(c)
	if err != nil {
		return err
	}
	v := views.Code{Door: a.door(c, "Second step", t.Name), To: form.Value("to"), Recovery: recovery}
	label := "Code of the app"
	if recovery {
		label = "Recovery code"
	}
	v.Code = form.Field("code", label)
	v.Problem = form.Problem()
	v.Code.Value, v.Code.Autocomplete, v.Code.Autofocus = "", "one-time-code", true
	if !recovery {
		v.Code.Mode, v.Code.MaxLength = "numeric", 7
	}
	return a.Render(c, status, views.CodePage(v), nil)
}

func (a *Admin) giveCode(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	v, err := a.visitor(c)
	if err != nil {
		return err
	}
	proof, waiting := a.keptProof(c)
	if !waiting {
		return a.Redirect(c, signInPath)
	}
	in, err := a.Auth.VerifyCode(c.Request().Context(), v, proof, form.Value("code"))
	switch {
	case errors.Is(err, auth.ErrSignInAgain):
		a.Flash(c, ui.Warning, auth.ErrSignInAgain.Message)
		return a.Redirect(c, page.WithQuery(signInPath, "to", form.Value("to")))
	case form.Refused(err):
		return a.codeForm(c, refusedStatus(err), form, len(form.Value("code")) > 7)
	case err != nil:
		return err
	}
	a.Forget(c, proofKey)
	a.Forget(c, provedKey)
	return a.enter(c, in, form.Value("to"))
}

// signOut also forgets what the session of a stranger keeps.
func (a *Admin) signOut(c echo.Context) error {
	if person := page.Person(c); person != nil {
		if err := a.Auth.SignOut(c.Request().Context(), person.Actor, person.Session); err != nil {
			return err
		}
	}
	if err := a.SignOut(c); err != nil {
		return err
	}
	return a.Redirect(c, signInPath)
}

func (a *Admin) showForgot(c echo.Context) error {
	return a.forgotForm(c, http.StatusOK, &page.Form{})
}

func (a *Admin) forgotForm(c echo.Context, status int, form *page.Form) error {
	t, err := a.Tenant(c)
	if err != nil {
		return err
	}
	v := views.Forgot{Door: a.door(c, "Choose another password", t.Name), Email: form.Field("email", "E-mail")}
	v.Problem = form.Problem()
	v.Email.Type, v.Email.Autocomplete, v.Email.Autofocus = "email", "username", true
	return a.Render(c, status, views.ForgotPage(v), nil)
}

func (a *Admin) forgot(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	v, err := a.visitor(c)
	if err != nil {
		return err
	}
	err = a.Auth.RequestReset(c.Request().Context(), v, form.Value("email"))
	if form.Refused(err) {
		return a.forgotForm(c, refusedStatus(err), form)
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "If somebody signs in here with that address, a mail with a link is on its way to it.")
	return a.Redirect(c, signInPath)
}

func (a *Admin) showReset(c echo.Context) error {
	return a.resetForm(c, http.StatusOK, &page.Form{})
}

func (a *Admin) resetForm(c echo.Context, status int, form *page.Form) error {
	v, err := a.visitor(c)
	if err != nil {
		return err
	}
	link, err := a.Auth.FindReset(c.Request().Context(), v, c.Param("secret"))
	if err != nil {
		return err
	}
	choice := views.NewPassword{
		Door:  a.door(c, "Choose another password", v.Tenant.Name),
		Intro: "This is the new password of " + link.Email + ". You will be signed out everywhere.", Email: link.Email, Button: "Set the password",
	}
	if link.LiveTokens > 0 {
		revoke := form.Field(revokeTokens, "Also revoke my API tokens")
		revoke.Checked = form.Checked(revokeTokens)
		revoke.Help = "This stops " + page.Count(int64(link.LiveTokens), "active token", "active tokens") + " from working."
		choice.RevokeTokens = &revoke
	}
	return a.passwordForm(c, status, form, choice)
}

// passwordForm shows the form with the password that somebody with a link chooses.
func (a *Admin) passwordForm(c echo.Context, status int, form *page.Form, v views.NewPassword) error {
	v.Password = form.Field("password", "New password")
	v.Problem = form.Problem()
	v.Password.Type, v.Password.Autocomplete, v.Password.Value = "password", "new-password", ""
	v.Password.Help = "At least 12 characters. A short sentence is easy to keep in mind."
	return a.Render(c, status, views.NewPasswordPage(v), nil)
}

func (a *Admin) reset(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	v, err := a.visitor(c)
	if err != nil {
		return err
	}
	n := auth.NewPassword{Password: form.Value("password"), RevokeTokens: form.Checked(revokeTokens)}
	err = a.Auth.Reset(c.Request().Context(), v, c.Param("secret"), n)
	if form.Refused(err) {
		return a.resetForm(c, refusedStatus(err), form)
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "The password is set. Sign in with it.")
	return a.Redirect(c, signInPath)
}

func (a *Admin) showInvitation(c echo.Context) error {
	return a.invitationForm(c, http.StatusOK, nil)
}

func (a *Admin) invitationForm(c echo.Context, status int, form *page.Form) error {
	v, err := a.visitor(c)
	if err != nil {
		return err
	}
	link, err := a.Auth.FindInvitation(c.Request().Context(), v, c.Param("secret"))
	if err != nil {
		return err
	}
	if form == nil {
		form = page.Blank(map[string]string{"name": link.Name})
	}
	name := form.Field("name", "Your name")
	name.Autocomplete, name.Autofocus = "name", true
	return a.passwordForm(c, status, form, views.NewPassword{
		Door:  a.door(c, "Welcome to "+v.Tenant.Name, v.Tenant.Name),
		Intro: "Say who you are and choose a password. You sign in with " + link.Email + ".",
		Email: link.Email, Name: &name, Button: "Begin",
	})
}

func (a *Admin) takeInvitation(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	v, err := a.visitor(c)
	if err != nil {
		return err
	}
	in, err := a.Staff.Join(c.Request().Context(), v, c.Param("secret"), staff.Joining{
		Name: form.Value("name"), Password: form.Value("password"),
	})
	if form.Refused(err) {
		return a.invitationForm(c, refusedStatus(err), form)
	}
	if err != nil {
		return err
	}
	return a.enter(c, in, "")
}
