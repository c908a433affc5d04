package auth

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	views "example.com/loyalty/views/auth"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

const newPasswordHelp = "At least 12 characters, such as a short sentence"

func (p *Pages) showAccount(c echo.Context) error {
	return p.accountPage(c, http.StatusOK, nil, nil)
}

// accountPage shows the person's account. name and password are refused forms, or nil.
func (p *Pages) accountPage(c echo.Context, status int, name, password *forms.Form) error {
	ctx, person := c.Request().Context(), page.Person(c)
	twoFactor, err := p.Auth.TwoFactor(ctx, person.Actor)
	if err != nil {
		return err
	}
	list, err := p.Auth.Sessions(ctx, person.Actor, person.Session)
	if err != nil {
		return err
	}
	if name == nil {
		name = forms.Blank(map[string]string{"name": person.Name})
	}
	if password == nil {
		password = &forms.Form{}
	}
	v := views.Account{
		Path: p.Account, Email: person.Email,
		Name:    name.Field("name", ui.Field{Label: "Name"}),
		Current: password.Field("current_password", ui.Field{Label: "Current password"}), Password: password.Field("password", ui.Field{Label: "New password"}),
		TwoFactor: views.TwoFactor{
			Path: p.Account, On: twoFactor.On, Required: p.platform(),
			Codes: format.Count(int64(twoFactor.RecoveryCodes), "recovery code", "recovery codes"), Few: twoFactor.RecoveryCodes < 3,
		},
	}
	v.NameProblem, v.PasswordProblem = name.Problem(), password.Problem()
	v.Name.Autocomplete = "name"
	v.Current.Type, v.Current.Autocomplete, v.Current.Value = "password", "current-password", ""
	v.Password.Type, v.Password.Autocomplete, v.Password.Value = "password", "new-password", ""
	v.Password.Help = newPasswordHelp
	if p.Card != nil {
		if v.Card, err = p.Card(c); err != nil {
			return err
		}
	}
	for _, s := range list {
		v.Sessions = append(v.Sessions, p.sessionRow(s, person.Actor))
	}
	return p.framed(c, status, AccountTitle, views.AccountCards(v))
}

func (p *Pages) sessionRow(s auth.Session, by core.Actor) views.SessionRow {
	zone := p.zone(by)
	return views.SessionRow{
		Browser: browser(s.UserAgent), Address: s.Address, Current: s.Current,
		Seen: format.Ago(s.LastSeenAt, p.Now(), zone), Since: format.Time(s.CreatedAt, zone), End: p.sessionsPath() + "/" + s.ID + "/end",
	}
}

func (p *Pages) rename(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	err = p.Staff.Rename(c.Request().Context(), page.Actor(c), form.Value("name"))
	if form.Refused(err) {
		return p.accountPage(c, http.StatusUnprocessableEntity, form, nil)
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, "Your name was changed.")
	return p.Redirect(c, p.Account)
}

func (p *Pages) changePassword(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	proof, err := p.Auth.ChangePassword(c.Request().Context(), page.Actor(c), form.Value("current_password"), form.Value("password"))
	if form.Refused(err) {
		return p.accountPage(c, page.RefusedStatus(c, err), nil, form)
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, "Your password was changed. You were signed out everywhere else.")
	// The change ended all sessions, so this browser gets a new one.
	if err := p.startSession(c, proof); err != nil {
		return err
	}
	return page.Redirect(c, p.Account)
}

func (p *Pages) endSession(c echo.Context) error {
	err := p.Auth.EndSession(c.Request().Context(), page.Actor(c), c.Param("id"))
	if errors.Is(err, core.ErrNotFound) {
		return p.Redirect(c, p.Account) // it has already ended
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, "The session was ended.")
	return p.Redirect(c, p.Account)
}

func (p *Pages) endOthers(c echo.Context) error {
	person := page.Person(c)
	ended, err := p.Auth.EndOtherSessions(c.Request().Context(), person.Actor, person.Session)
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, "Signed out of "+format.Count(ended, "other browser", "other browsers")+".")
	return p.Redirect(c, p.Account)
}
