package auth

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	views "example.com/loyalty/views/auth"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

func (p *Pages) showSignIn(c echo.Context) error {
	if page.Person(c) != nil {
		return p.Redirect(c, p.wanted(c.QueryParam("to"), page.Actor(c).Role))
	}
	if err := p.countStranger(c); err != nil {
		return err
	}
	return p.signInForm(c, http.StatusOK, forms.Blank(map[string]string{"to": c.QueryParam("to")}))
}

// countStranger counts what an address asks of pages that need no sign-in and read the database, or refuses it.
func (p *Pages) countStranger(c echo.Context) error {
	if p.SignInViews == nil {
		return nil
	}
	v := p.SignInViews.Take(p.AddressKey(p.Address(c.Request())))
	if v.Allowed {
		return nil
	}
	c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(v.Wait.Seconds()))))
	return echo.NewHTTPError(http.StatusTooManyRequests, "Too many requests from your network. Try again in a minute.")
}

func (p *Pages) signInForm(c echo.Context, status int, form *forms.Form) error {
	t, err := p.tenant(c)
	if err != nil {
		return err
	}
	v := views.SignIn{
		Frame: p.Bare(c, "Sign in", t.Name), Action: p.signInPath(), To: form.Value("to"),
		Email: form.Field("email", ui.Field{Label: "E-mail"}), Password: form.Field("password", ui.Field{Label: "Password"}),
	}
	if !p.platform() {
		v.Forgot = p.forgotPath()
	}
	v.Problem = form.Problem()
	if c.QueryParam(page.Unsent) != "" && v.Problem.None() {
		v.Flashes = append(v.Flashes, ui.Flash{Kind: ui.Warning, Message: "Your session ended. Your changes weren't saved: sign in and try again."})
	}
	v.Email.Type, v.Email.Autocomplete, v.Email.Autofocus = "email", "username", v.Email.Value == ""
	v.Password.Type, v.Password.Autocomplete, v.Password.Value = "password", "current-password", ""
	v.Password.Autofocus = v.Email.Value != ""
	return p.Render(c, status, views.SignInPage(v), nil)
}

func (p *Pages) signIn(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	v, err := p.visitor(c)
	if err != nil {
		return err
	}
	in, err := p.Auth.SignIn(c.Request().Context(), v, auth.Credentials{Email: form.Value("email"), Password: form.Value("password")})
	if form.Refused(err) {
		return p.signInForm(c, page.RefusedStatus(c, err), form)
	}
	if err != nil {
		return err
	}
	if in.NeedsCode {
		p.keepProof(c, in.Proof)
		return p.Redirect(c, links.WithQuery(p.codePath(), "to", form.Value("to")))
	}
	return p.enter(c, in, form.Value("to"))
}

// enter signs the person in and leads to the page they wanted, or first to the setup of two-step
// verification if that is required.
func (p *Pages) enter(c echo.Context, in auth.SignedIn, to string) error {
	next := p.wanted(to, in.Role)
	if p.platform() && !in.Code {
		v, err := p.visitor(c)
		if err != nil {
			return err
		}
		if _, err := p.Auth.BeginRequiredTwoFactor(c.Request().Context(), v, in); err != nil {
			return err
		}
		p.SetSessionText(c, wantedKey, to)
		next = p.twoFactorPath()
	}
	if err := p.startSession(c, in.Proof); err != nil {
		return err
	}
	return page.Redirect(c, next)
}

// startSession signs the person in, in a session that has what was put into it before, and remembers the browser as one they have signed in with.
func (p *Pages) startSession(c echo.Context, proof auth.Proof) error {
	known, err := p.Auth.RememberDevice(deviceOf(c), proof)
	if err != nil {
		return err
	}
	c.SetCookie(&http.Cookie{
		Name: auth.DeviceCookie, Value: known, Path: "/", MaxAge: int(auth.DeviceLifetime.Seconds()),
		Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	return p.SignIn(c, proof)
}

// deviceOf is the value of the device cookie, or "".
func deviceOf(c echo.Context) string {
	cookie, err := c.Cookie(auth.DeviceCookie)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// wantedKey is the session's key of the page to open after setting up two-step verification.
const wantedKey = "wanted"

func (a Area) firstPage(role core.Role) string {
	if a.FirstPage == nil {
		return a.Path
	}
	return a.FirstPage(role)
}

// wanted is the page to open after the sign-in: to if it is a path of a panel, else the first page.
func (a Area) wanted(to string, role core.Role) string {
	if to = page.SafePath(to, a.Path); to == a.Path {
		return a.firstPage(role)
	}
	return to
}

// The session keeps the proof of the password until the code is entered.
const (
	proofKey  = "proof"
	provedKey = "proved"
	decimal   = 10
)

func (p *Pages) keepProof(c echo.Context, proof auth.Proof) {
	p.SetSessionText(c, proofKey, strconv.FormatInt(proof.StaffID, decimal))
	p.SetSessionText(c, provedKey, strconv.FormatInt(proof.At.UnixMilli(), decimal))
}

func (p *Pages) keptProof(c echo.Context) (auth.Proof, bool) {
	id, err := strconv.ParseInt(p.SessionText(c, proofKey), decimal, 64)
	at, err2 := strconv.ParseInt(p.SessionText(c, provedKey), decimal, 64)
	return auth.Proof{StaffID: id, At: time.UnixMilli(at).UTC()}, err == nil && err2 == nil
}

func (p *Pages) showCode(c echo.Context) error {
	if _, waiting := p.keptProof(c); !waiting {
		return p.Redirect(c, links.WithQuery(p.signInPath(), "to", c.QueryParam("to")))
	}
	return p.codeForm(c, http.StatusOK, forms.Blank(map[string]string{"to": c.QueryParam("to")}), c.QueryParam("recovery") != "")
}

func (p *Pages) codeForm(c echo.Context, status int, form *forms.Form, recovery bool) error {
	t, err := p.tenant(c)
	if err != nil {
		return err
	}
	v := views.Code{Frame: p.Bare(c, "Two-step verification", t.Name), Action: p.codePath(), To: form.Value("to"), Recovery: recovery}
	label := "Authentication code"
	if recovery {
		label = "Recovery code"
		v.Help = "No phone and no recovery codes? Ask an owner of " + t.Name + " to turn off your two-step verification. " +
			"If you're the only owner, ask the operator of this installation."
		if p.platform() {
			v.Help = "No phone and no recovery codes? Ask the operator of this installation to reset your two-step verification."
		}
	}
	v.Code = form.Field("code", ui.Field{Label: label})
	v.Problem = form.Problem()
	v.Code.Value, v.Code.Autocomplete, v.Code.Autofocus = "", "one-time-code", true
	if !recovery {
		v.Code.Mode, v.Code.MaxLength = "numeric", 7
	}
	return p.Render(c, status, views.CodePage(v), nil)
}

func (p *Pages) giveCode(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	v, err := p.visitor(c)
	if err != nil {
		return err
	}
	proof, waiting := p.keptProof(c)
	if !waiting {
		return p.Redirect(c, p.signInPath())
	}
	in, err := p.Auth.VerifyCode(c.Request().Context(), v, proof, form.Value("code"))
	switch {
	case errors.Is(err, auth.ErrSignInAgain):
		p.Flash(c, ui.Warning, auth.ErrSignInAgain.Message)
		return p.Redirect(c, links.WithQuery(p.signInPath(), "to", form.Value("to")))
	case form.Refused(err):
		return p.codeForm(c, page.RefusedStatus(c, err), form, len(form.Value("code")) > 7)
	case err != nil:
		return err
	}
	p.Forget(c, proofKey)
	p.Forget(c, provedKey)
	return p.enter(c, in, form.Value("to"))
}

// signOut also clears the session of a person who didn't finish signing in.
func (p *Pages) signOut(c echo.Context) error {
	if person := page.Person(c); person != nil {
		if err := p.Auth.SignOut(c.Request().Context(), person.Actor, person.Session); err != nil {
			return err
		}
	}
	if err := p.SignOut(c); err != nil {
		return err
	}
	return p.Redirect(c, p.signInPath())
}
