package admin

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/usage"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const (
	staffPath = settingsPath + "/staff"
	allTokens = "tokens/revoke" // below a person's page
)

func (a *Admin) staffRoutes() []route {
	routes := []route{
		{method: get, path: staffPath, least: core.Owner, handle: a.listStaff},
		{method: get, path: staffPath + "/new", least: core.Owner, handle: a.newInvitation},
		{method: post, path: staffPath + "/new", least: core.Owner, handle: a.invite},
		{method: get, path: staffPath + "/:id", least: core.Owner, handle: a.showStaff},
		{method: post, path: staffPath + "/:id", least: core.Owner, handle: a.setRole},
	}
	for _, m := range a.measures() {
		routes = append(routes,
			route{method: get, path: staffPath + "/:id/" + m.path, least: core.Owner, handle: a.askMeasure(m)},
			route{method: post, path: staffPath + "/:id/" + m.path, least: core.Owner, handle: a.takeMeasure(m)},
		)
	}
	return append(routes,
		route{method: get, path: staffPath + "/:id/tokens/:token/revoke", least: core.Owner, handle: a.askRevokeOf},
		route{method: post, path: staffPath + "/:id/tokens/:token/revoke", least: core.Owner, handle: a.revokeTokenOf},
	)
}

func (a *Admin) listStaff(c echo.Context) error {
	by := page.Actor(c)
	people, err := a.Staff.List(c.Request().Context(), by)
	if err != nil {
		return err
	}
	v := views.StaffList{Settings: a.settings(c, "People", staffPath)}
	if v.Notices, err = a.planNotices(c, usage.Staff); err != nil {
		return err
	}
	for _, p := range people {
		v.Rows = append(v.Rows, views.StaffRow{
			Path: personPath(p.ID), Name: p.Name, Email: p.Email, Role: roleNames[p.Role], You: p.ID == by.StaffID,
			Status: personStatus(p, by.Tenant.TimeZone), TwoFactor: p.TwoFactor, Tokens: "None",
		})
		if p.LiveTokens > 0 {
			v.Rows[len(v.Rows)-1].Tokens = strconv.Itoa(p.LiveTokens)
		}
	}
	return a.Render(c, http.StatusOK, views.StaffListPage(v), nil)
}

func personPath(id int64) string { return staffPath + "/" + strconv.FormatInt(id, 10) }

// personStatus is whether a person can sign in.
func personStatus(p staff.Member, zone *time.Location) ui.Badge {
	switch {
	case !p.Active:
		return ui.Badge{Label: "Inactive", Tone: ui.Neutral}
	case p.Invited && p.InvitedUntil != nil:
		return ui.Badge{Label: "Invited until " + page.Date(*p.InvitedUntil, zone), Tone: ui.Info}
	case p.Invited:
		return ui.Badge{Label: "Invitation ran out", Tone: ui.Notice}
	}
	return ui.Badge{Label: "Active", Tone: ui.Good}
}

// roleChoices are the roles, and what each may do.
func roleChoices() []ui.Option {
	return []ui.Option{
		{Value: string(core.Cashier), Label: "Cashier", Help: "The till: customers, sales, rewards and vouchers."},
		{Value: string(core.Manager), Label: "Manager", Help: "Everything but people, tokens and the business's settings."},
		{Value: string(core.Owner), Label: "Owner", Help: "Everything, these settings included."},
	}
}

func (a *Admin) newInvitation(c echo.Context) error {
	return a.inviteForm(c, http.StatusOK, page.Blank(map[string]string{"role": string(core.Cashier)}))
}

func (a *Admin) inviteForm(c echo.Context, status int, form *page.Form) error {
	v := views.Invitation{
		Settings: a.settings(c, "Invite somebody", staffPath, ui.Crumb{Label: "People", Path: staffPath}),
		Key:      a.NewFormKey(),
		Email:    form.Field("email", "E-mail"), Name: form.Field("name", "Name"), Role: form.Field("role", "Role"),
	}
	v.Problem = form.Problem()
	v.Email.Type, v.Email.Autofocus, v.Email.Help = "email", true, "The invitation goes there. With it they choose a password, within 7 days."
	v.Name.Help = "As it stands beside what they do. They can change it."
	v.Role.Options = form.Options("role", roleChoices()...)
	return a.Render(c, status, views.InvitationPage(v), nil)
}

func (a *Admin) invite(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	by := page.IdempotentActor(c, form, func(staff.Person) string { return staffPath })
	_, err = a.Staff.Invite(c.Request().Context(), by, staff.New{
		Email: form.Value("email"), Name: form.Value("name"), Role: core.Role(form.Value("role")),
	})
	to, again := page.ReplayedPath(by, err)
	switch {
	case again:
		return a.Redirect(c, to)
	case form.Refused(err):
		return a.inviteForm(c, http.StatusUnprocessableEntity, form)
	case err != nil:
		return err
	}
	a.Flash(c, ui.Done, form.Value("name")+" is invited. The mail is on its way to "+form.Value("email")+".")
	return a.Redirect(c, staffPath)
}

// personOf is the person that the path names.
func (a *Admin) personOf(c echo.Context) (staff.Member, error) {
	id, err := number(c)
	if err != nil {
		return staff.Member{}, err
	}
	return a.Staff.Find(c.Request().Context(), page.Actor(c), id)
}

func (a *Admin) showStaff(c echo.Context) error {
	p, err := a.personOf(c)
	if err != nil {
		return err
	}
	return a.staffDetail(c, http.StatusOK, p, page.Blank(map[string]string{"role": string(p.Role)}))
}

func (a *Admin) staffDetail(c echo.Context, status int, p staff.Member, form *page.Form) error {
	by := page.Actor(c)
	zone := by.Tenant.TimeZone
	v := views.StaffDetail{
		Settings: a.settings(c, p.Name, staffPath, ui.Crumb{Label: "People", Path: staffPath}),
		Facts:    []ui.Pair{{Name: "E-mail", Value: p.Email}, {Name: "Added", Value: page.Date(p.CreatedAt, zone)}, {Name: "Second factor", Value: "Off"}},
		Status:   personStatus(p, zone), Action: personPath(p.ID), Role: form.Field("role", "Role"), You: p.ID == by.StaffID,
	}
	v.Problem = form.Problem()
	v.Role.Options = form.Options("role", roleChoices()...)
	if p.TwoFactor {
		v.Facts[2].Value = "On"
		v.ResetTwoFactor = personPath(p.ID) + "/two-step"
	}
	if p.Active {
		v.Deactivate = personPath(p.ID) + "/deactivate"
	} else {
		v.Activate = personPath(p.ID) + "/activate"
	}
	if p.Active && p.Invited {
		v.InviteAgain = personPath(p.ID) + "/invite"
	}
	if p.LiveTokens > 0 {
		v.RevokeAll = personPath(p.ID) + "/" + allTokens
		tokens, err := a.Tokens.ListLive(c.Request().Context(), by, p.ID)
		if err != nil {
			return err
		}
		for _, t := range tokens {
			v.Tokens = append(v.Tokens, a.staffToken(p, t, zone))
		}
	}
	return a.Render(c, status, views.StaffDetailPage(v), nil)
}

// staffToken is a line of a person's live tokens.
func (a *Admin) staffToken(p staff.Member, t token.Token, zone *time.Location) views.TokenRow {
	row := a.API.tokenRow(t, a.Now(), zone)
	row.Revoke = personTokenPath(p.ID, t.ID)
	if t.LastUsedAt == nil {
		row.LastUsed = "Never"
	}
	if t.ExpiresAt == nil {
		row.Expires = "Never"
	}
	return row
}

func (a *Admin) setRole(c echo.Context) error {
	p, err := a.personOf(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	by, role := page.Actor(c), core.Role(form.Value("role"))
	err = a.Staff.SetRole(c.Request().Context(), by, p.ID, role)
	if form.Refused(err) {
		return a.staffDetail(c, http.StatusUnprocessableEntity, p, form)
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, p.Name+" has the role: "+roleNames[role]+".")
	if p.ID == by.StaffID && role != core.Owner {
		return a.Redirect(c, accountPath) // the others are closed to them now
	}
	return a.Redirect(c, personPath(p.ID))
}

// measure is something that an owner does about a person, once they were asked.
type measure struct {
	path                       string
	title, words, button, done string // {name} and {email} are the person's
	danger                     bool
	take                       func(ctx context.Context, by core.Actor, person int64) error
}

func (a *Admin) measures() []measure {
	return []measure{
		{
			path: "invite", title: "Invite {name} again?", button: "Send the invitation", take: a.Auth.InviteAgain,
			words: "Another mail goes to {email}. The link in the one before stops working.",
			done:  "Another invitation is on its way to {email}.",
		},
		{
			path: "two-step", title: "Turn off the second factor of {name}?", button: "Turn it off", danger: true, take: a.Auth.RemoveTwoFactor,
			words: "This is for somebody who lost their phone and their recovery codes. They sign in with the password alone then, and can set it up anew. " +
				"Be sure that it is them who asks.",
			done: "The second factor of {name} is off.",
		},
		{
			path: "deactivate", title: "Deactivate {name}?", button: "Deactivate", danger: true, take: a.Staff.Deactivate,
			words: "They are signed out everywhere, cannot sign in, and their API tokens are refused, all at once. What they recorded stays. You can activate them again.",
			done:  "{name} is deactivated.",
		},
		{
			path: "activate", title: "Activate {name}?", button: "Activate", take: a.Staff.Activate,
			words: "They can sign in again, with the password, the role and the API tokens that they had.",
			done:  "{name} is active again.",
		},
		{
			path: allTokens, title: "Revoke all API tokens of {name}?", button: "Revoke all tokens", danger: true, take: a.Tokens.RevokeAllForPerson,
			words: "Programs that use them stop working immediately. This can't be undone.",
			done:  "All API tokens of {name} are revoked.",
		},
	}
}

// personNotice says something about a person.
func personNotice(p staff.Member, words string) string {
	return strings.NewReplacer("{name}", p.Name, "{email}", p.Email).Replace(words)
}

func (a *Admin) askMeasure(m measure) echo.HandlerFunc {
	return func(c echo.Context) error {
		p, err := a.personOf(c)
		if err != nil {
			return err
		}
		return a.measureForm(c, http.StatusOK, m, p, &page.Form{})
	}
}

func (a *Admin) measureForm(c echo.Context, status int, m measure, p staff.Member, form *page.Form) error {
	v := views.Confirm{
		Frame: a.frame(c, personNotice(p, m.title), settingsPath,
			ui.Crumb{Label: "People", Path: staffPath}, ui.Crumb{Label: p.Name, Path: personPath(p.ID)}),
		Confirm: ui.Confirm{
			Action: personPath(p.ID) + "/" + m.path, Words: []string{personNotice(p, m.words)},
			Button: m.button, Danger: m.danger, Cancel: personPath(p.ID), Problem: form.Problem(),
		},
	}
	if p.ID == page.Actor(c).StaffID {
		v.Words = append([]string{"This is you."}, v.Words...)
	}
	return a.Render(c, status, views.ConfirmPage(v), views.ConfirmDialog(v))
}

func (a *Admin) takeMeasure(m measure) echo.HandlerFunc {
	return func(c echo.Context) error {
		p, err := a.personOf(c)
		if err != nil {
			return err
		}
		form := &page.Form{}
		err = m.take(c.Request().Context(), page.Actor(c), p.ID)
		switch {
		case form.Refused(err):
			return a.measureForm(c, http.StatusUnprocessableEntity, m, p, form)
		case errors.Is(err, core.ErrNotFound):
			return a.Redirect(c, personPath(p.ID)) // it is so already, as is seen there
		case err != nil:
			return err
		}
		a.Flash(c, ui.Done, personNotice(p, m.done))
		return a.Redirect(c, personPath(p.ID))
	}
}

func personTokenPath(person, id int64) string {
	return personPath(person) + "/tokens/" + strconv.FormatInt(id, 10) + "/revoke"
}

// tokenNumber is the id of the token that the path names.
func tokenNumber(c echo.Context) (int64, error) {
	n, err := strconv.ParseInt(c.Param("token"), 10, 64)
	if err != nil {
		return 0, core.ErrNotFound
	}
	return n, nil
}

func (a *Admin) askRevokeOf(c echo.Context) error {
	p, err := a.personOf(c)
	if err != nil {
		return err
	}
	id, err := tokenNumber(c)
	if err != nil {
		return err
	}
	t, err := a.Tokens.FindForPerson(c.Request().Context(), page.Actor(c), p.ID, id)
	if err != nil {
		return err
	}
	v := views.Confirm{
		Frame: a.frame(c, "Revoke “"+t.Name+"”?", settingsPath,
			ui.Crumb{Label: "People", Path: staffPath}, ui.Crumb{Label: p.Name, Path: personPath(p.ID)}),
		Confirm: ui.Confirm{
			Action: personTokenPath(p.ID, t.ID), Button: "Revoke token", Danger: true, Cancel: personPath(p.ID),
			Words:  []string{"Programs that use this token of " + p.Name + " stop working immediately. This can't be undone."},
			Hidden: []ui.Pair{{Name: page.FormKey, Value: a.NewFormKey()}},
		},
	}
	return a.Render(c, http.StatusOK, views.ConfirmPage(v), views.ConfirmDialog(v))
}

func (a *Admin) revokeTokenOf(c echo.Context) error {
	person, err := number(c)
	if err != nil {
		return err
	}
	id, err := tokenNumber(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	by := page.IdempotentActor(c, form, func(token.Token) string { return personPath(person) })
	t, err := a.Tokens.RevokeForPerson(c.Request().Context(), by, person, id)
	if path, again := page.ReplayedPath(by, err); again {
		return a.Redirect(c, path)
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "“"+t.Name+"” is revoked.")
	return a.Redirect(c, personPath(person))
}
