package auth

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	views "example.com/loyalty/views/auth"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

const setupTitle = "Set up two-step verification"

func (p *Pages) beginning() question {
	return question{
		title: setupTitle, action: p.twoFactorPath() + "/begin", button: "Continue",
		words: "Signing in will ask for your password and a code from an app on your phone.",
	}
}

func (p *Pages) askTwoFactor(c echo.Context) error {
	return p.ask(c, http.StatusOK, p.beginning(), &forms.Form{})
}

func (p *Pages) beginTwoFactor(c echo.Context) error {
	done, err := p.answered(c, p.beginning(), func(password string) error {
		_, err := p.Auth.BeginTwoFactor(c.Request().Context(), page.Actor(c), password)
		return err
	})
	if !done {
		return err
	}
	return p.Redirect(c, p.twoFactorPath())
}

func (p *Pages) showSetup(c echo.Context) error {
	return p.setupForm(c, http.StatusOK, &forms.Form{})
}

func (p *Pages) setupForm(c echo.Context, status int, form *forms.Form) error {
	setup, err := p.Auth.PendingTwoFactor(c.Request().Context(), page.Actor(c))
	switch {
	case errors.Is(err, core.ErrNotFound) && p.MustSetUp(c):
		// A required setup starts with the sign-in.
		if err := p.SignOut(c); err != nil {
			return err
		}
		return p.Redirect(c, p.signInPath())
	case errors.Is(err, core.ErrNotFound):
		return p.Redirect(c, p.Account) // already on, or not started
	case err != nil:
		return err
	}
	v := views.Setup{
		Action: p.twoFactorPath(), Secret: spaced(setup.Secret), Code: form.Field("code", ui.Field{Label: "Authentication code"}), Button: "Turn on", Cancel: p.Account,
	}
	if v.QR, err = page.QR(setup.URI, "QR code of the key below"); err != nil {
		return err
	}
	v.Problem = form.Problem()
	v.Code.Value, v.Code.Mode, v.Code.Autocomplete, v.Code.MaxLength = "", "numeric", "one-time-code", 7
	if p.MustSetUp(c) {
		v.Intro = "Required on the platform: signing in asks for your password and a code from an app on your phone."
		return p.Render(c, status, views.SetupPage(p.Bare(c, setupTitle, ""), v), nil)
	}
	return p.framed(c, status, setupTitle, views.SetupCard(v), p.accountCrumb())
}

// spaced splits a key into groups of four, which are easier to type.
func spaced(key string) string {
	var groups []string
	for len(key) > 4 {
		groups, key = append(groups, key[:4]), key[4:]
	}
	return strings.Join(append(groups, key), " ")
}

// confirmTwoFactor shows the recovery codes in its response, since they aren't stored.
func (p *Pages) confirmTwoFactor(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	enrolment, err := p.Auth.ConfirmTwoFactor(c.Request().Context(), page.Actor(c), form.Value("code"))
	switch {
	case form.Refused(err):
		return p.setupForm(c, page.RefusedStatus(c, err), form)
	case errors.Is(err, core.ErrNotFound): // sent twice, or cancelled meanwhile
		p.Flash(c, ui.Warning, "Already confirmed or cancelled. If you didn't save your recovery codes, create new ones.")
		return p.Redirect(c, p.Account)
	case err != nil:
		return err
	}
	required, next := p.MustSetUp(c), p.Account
	if required {
		next = p.wanted(p.Forget(c, wantedKey), core.SuperAdmin)
	}
	// The change ended all sessions, so this browser gets a new one.
	if err := p.startSession(c, enrolment.Proof); err != nil {
		return err
	}
	return p.showCodes(c, required, views.RecoveryCodes{
		Intro: "Two-step verification is on.", Codes: strings.Join(enrolment.RecoveryCodes, "\n"), Next: next,
	})
}

// showCodes shows recovery codes, after a required setup in the bare frame.
func (p *Pages) showCodes(c echo.Context, bare bool, v views.RecoveryCodes) error {
	const title = "Recovery codes"
	if bare {
		return p.Render(c, http.StatusOK, views.RecoveryCodesPage(p.Bare(c, "Save your recovery codes", ""), v), nil)
	}
	return p.framed(c, http.StatusOK, title, views.RecoveryCodesCard(v), p.accountCrumb())
}

// question describes a change of two-step verification that asks for the password.
type question struct {
	title, action, words, button string
	danger                       bool
}

func (p *Pages) ask(c echo.Context, status int, q question, form *forms.Form) error {
	field := form.Field("confirmation", ui.Field{Label: "Your password"})
	field.Type, field.Autocomplete, field.Value, field.Autofocus = "password", "current-password", "", true
	return p.framed(c, status, q.title, views.ConfirmationCard(views.Confirmation{
		Action: q.action, Words: q.words, Problem: form.Problem(), Field: field, Button: q.button, Danger: q.danger, Cancel: p.Account,
	}), p.accountCrumb())
}

// answered runs a change with the entered password, and asks again if it is wrong. If the change isn't
// done, err is what the handler returns.
func (p *Pages) answered(c echo.Context, q question, run func(password string) error) (done bool, err error) {
	form, err := forms.Read(c)
	if err != nil {
		return false, err
	}
	err = run(form.Value("confirmation"))
	said, rule := page.RuleMessage(err)
	switch {
	case rule:
		p.Flash(c, ui.Refused, said)
		return false, p.Redirect(c, p.Account)
	case form.Refused(err):
		return false, p.ask(c, page.RefusedStatus(c, err), q, form)
	case errors.Is(err, core.ErrNotFound):
		return false, p.Redirect(c, p.Account) // it is already off
	}
	return err == nil, err
}

func (p *Pages) newCodes() question {
	return question{
		title: "New recovery codes", action: p.codesPath(), button: "Create new codes",
		words: "Your old codes will stop working.",
	}
}

func (p *Pages) askCodes(c echo.Context) error {
	return p.ask(c, http.StatusOK, p.newCodes(), &forms.Form{})
}

func (p *Pages) renewCodes(c echo.Context) error {
	var codes []string
	done, err := p.answered(c, p.newCodes(), func(password string) (err error) {
		codes, err = p.Auth.RenewRecoveryCodes(c.Request().Context(), page.Actor(c), password)
		return err
	})
	if !done {
		return err
	}
	return p.showCodes(c, false, views.RecoveryCodes{
		Intro: "Your old codes no longer work.", Codes: strings.Join(codes, "\n"), Next: p.Account,
	})
}

func (p *Pages) renewal() question {
	return question{
		title: "Change your authenticator app", action: p.twoFactorPath() + "/renew", button: "Continue",
		words: "Your current app works until you confirm the new one.",
	}
}

func (p *Pages) askRenewal(c echo.Context) error {
	return p.ask(c, http.StatusOK, p.renewal(), &forms.Form{})
}

func (p *Pages) renewTwoFactor(c echo.Context) error {
	done, err := p.answered(c, p.renewal(), func(password string) error {
		_, err := p.Auth.RenewTwoFactor(c.Request().Context(), page.Actor(c), password)
		return err
	})
	if !done {
		return err
	}
	return p.Redirect(c, p.twoFactorPath())
}

func (p *Pages) turningOff() question {
	return question{
		title: "Turn off two-step verification", action: p.twoFactorPath() + "/off", button: "Turn off", danger: true,
		words: "Signing in will ask only for your password, and your recovery codes will stop working.",
	}
}

func (p *Pages) askTwoFactorOff(c echo.Context) error {
	return p.ask(c, http.StatusOK, p.turningOff(), &forms.Form{})
}

func (p *Pages) turnTwoFactorOff(c echo.Context) error {
	done, err := p.answered(c, p.turningOff(), func(password string) error {
		return p.Auth.DisableTwoFactor(c.Request().Context(), page.Actor(c), password)
	})
	if !done {
		return err
	}
	p.Flash(c, ui.Done, "Two-step verification was turned off.")
	return p.Redirect(c, p.Account)
}
