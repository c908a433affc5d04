package auth

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/staff"
	views "example.com/loyalty/views/auth"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

const revokeTokens = "revoke_tokens" // the checkbox of a reset

func (p *Pages) showForgot(c echo.Context) error {
	return p.forgotForm(c, http.StatusOK, &forms.Form{})
}

func (p *Pages) forgotForm(c echo.Context, status int, form *forms.Form) error {
	t, err := p.tenant(c)
	if err != nil {
		return err
	}
	v := views.Forgot{
		Frame: p.Bare(c, "Reset your password", t.Name), Action: p.forgotPath(), SignIn: p.signInPath(),
		Email: form.Field("email", ui.Field{Label: "E-mail"}),
	}
	v.Problem = form.Problem()
	v.Email.Type, v.Email.Autocomplete, v.Email.Autofocus = "email", "username", true
	return p.Render(c, status, views.ForgotPage(v), nil)
}

func (p *Pages) forgot(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	v, err := p.visitor(c)
	if err != nil {
		return err
	}
	err = p.Auth.RequestReset(c.Request().Context(), v, form.Value("email"))
	if form.Refused(err) {
		return p.forgotForm(c, page.RefusedStatus(c, err), form)
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, "If an account with that address exists, we sent it a link.")
	return p.Redirect(c, p.signInPath())
}

func (p *Pages) showReset(c echo.Context) error {
	return p.resetForm(c, http.StatusOK, &forms.Form{})
}

func (p *Pages) resetForm(c echo.Context, status int, form *forms.Form) error {
	v, err := p.visitor(c)
	if err != nil {
		return err
	}
	link, err := p.Auth.FindReset(c.Request().Context(), v, c.Param("secret"))
	if err != nil {
		return err
	}
	choice := views.NewPassword{
		Frame: p.Bare(c, "Reset your password", v.Tenant.Name),
		Intro: "For " + link.Email + ". Signs you out everywhere.", Email: link.Email, Button: "Set password",
	}
	if link.LiveTokens > 0 {
		revoke := form.Field(revokeTokens, ui.Field{Label: "Also revoke my API tokens"})
		revoke.Checked = form.Checked(revokeTokens)
		revoke.Help = "You have " + format.Count(int64(link.LiveTokens), "active token", "active tokens")
		choice.RevokeTokens = &revoke
	}
	return p.passwordForm(c, status, form, choice)
}

// passwordForm shows the form for a new password.
func (p *Pages) passwordForm(c echo.Context, status int, form *forms.Form, v views.NewPassword) error {
	v.Password = form.Field("password", ui.Field{Label: "New password"})
	v.Problem = form.Problem()
	v.Password.Type, v.Password.Autocomplete, v.Password.Value = "password", "new-password", ""
	v.Password.Help = newPasswordHelp
	return p.Render(c, status, views.NewPasswordPage(v), nil)
}

func (p *Pages) reset(c echo.Context) error {
	if err := p.countStranger(c); err != nil {
		return err
	}
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	v, err := p.visitor(c)
	if err != nil {
		return err
	}
	n := auth.NewPassword{Password: form.Value("password"), RevokeTokens: form.Checked(revokeTokens)}
	err = p.Auth.Reset(c.Request().Context(), v, c.Param("secret"), n)
	if form.Refused(err) {
		return p.resetForm(c, page.RefusedStatus(c, err), form)
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, "Your password was changed. Sign in with it.")
	return p.Redirect(c, p.signInPath())
}

func (p *Pages) showInvitation(c echo.Context) error {
	return p.invitationForm(c, http.StatusOK, nil)
}

func (p *Pages) invitationForm(c echo.Context, status int, form *forms.Form) error {
	v, err := p.visitor(c)
	if err != nil {
		return err
	}
	link, err := p.Auth.FindInvitation(c.Request().Context(), v, c.Param("secret"))
	if err != nil {
		return err
	}
	if form == nil {
		form = forms.Blank(map[string]string{"name": link.EnteredName()})
	}
	name := form.Field("name", ui.Field{Label: "Your name"})
	name.Autocomplete, name.Autofocus = "name", true
	return p.passwordForm(c, status, form, views.NewPassword{
		Frame: p.Bare(c, "Welcome to "+v.Tenant.Name, v.Tenant.Name),
		Intro: "You will sign in with " + link.Email + ".",
		Email: link.Email, Name: &name, Button: "Create account",
	})
}

func (p *Pages) acceptInvitation(c echo.Context) error {
	if err := p.countStranger(c); err != nil {
		return err
	}
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	v, err := p.visitor(c)
	if err != nil {
		return err
	}
	in, err := p.Staff.Join(c.Request().Context(), v, c.Param("secret"), staff.Joining{
		Name: form.Value("name"), Password: form.Value("password"),
	})
	if form.Refused(err) {
		return p.invitationForm(c, page.RefusedStatus(c, err), form)
	}
	if err != nil {
		return err
	}
	to := ""
	if p.Welcome != nil {
		to = p.Welcome(in.Role)
	}
	return p.enter(c, in, to)
}
