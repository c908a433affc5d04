package people

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/usage"
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

func (h *Handlers) staffRoutes() []route.Route {
	routes := []route.Route{
		route.Get(links.Staff, route.Owners, h.listStaff),
		route.Get(links.NewStaff, route.Owners, h.newInvitation),
		route.Post(links.NewStaff, route.Owners, h.invite),
		route.Get(links.Staff+"/:id", route.Owners, h.showStaff),
		route.Post(links.Staff+"/:id", route.Owners, h.setRole),
	}
	for _, x := range h.personActions() {
		routes = append(routes,
			route.Get(links.Staff+"/:id/"+x.path, route.Owners, h.askPersonAction(x)),
			route.Post(links.Staff+"/:id/"+x.path, route.Owners, h.runPersonAction(x)),
		)
	}
	return append(routes,
		route.Get(links.Staff+"/:id/tokens/:token/revoke", route.Owners, h.askRevokeOf),
		route.Post(links.Staff+"/:id/tokens/:token/revoke", route.Owners, h.revokeTokenOf),
	)
}

func (h *Handlers) listStaff(c echo.Context) error {
	people, err := h.Staff.List(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	v := views.StaffList{Settings: h.Settings(c, "Staff", links.Staff), People: people}
	if v.Notices, err = h.PlanNotices(c, usage.Staff); err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.StaffListPage(v), nil)
}

func (h *Handlers) newInvitation(c echo.Context) error {
	return h.inviteForm(c, http.StatusOK, forms.Blank(map[string]string{"role": string(core.Cashier)}))
}

func (h *Handlers) inviteForm(c echo.Context, status int, form *forms.Form) error {
	v := views.Invitation{
		Settings: h.Settings(c, "Invite staff", links.Staff, ui.Crumb{Label: "Staff", Path: links.Staff}), Form: form, FormKey: h.NewFormKey(),
	}
	return h.Render(c, status, views.InvitationPage(v), nil)
}

func (h *Handlers) invite(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[staff.Person]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[staff.Person]) (core.Reply[staff.Person], error) {
			return h.Staff.Invite(ctx, by, staff.New{Email: form.Value("email"), Name: form.Value("name"), Role: core.Role(form.Value("role"))}, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.inviteForm(c, status, form) },
		To:      page.To[staff.Person](links.Staff),
		Done: func(p staff.Person) string {
			return p.Name + " was invited. The invitation was sent to " + p.Email + "."
		},
	})
}

// personOf returns the person in the path.
func (h *Handlers) personOf(c echo.Context) (staff.Member, error) {
	id, err := panel.PathNumber(c)
	if err != nil {
		return staff.Member{}, err
	}
	return h.Staff.Find(c.Request().Context(), page.Actor(c), id)
}

func personCrumbs(p staff.Member) []ui.Crumb {
	return []ui.Crumb{{Label: "Staff", Path: links.Staff}, {Label: p.Name, Path: links.Person(p.ID)}}
}

func (h *Handlers) showStaff(c echo.Context) error {
	p, err := h.personOf(c)
	if err != nil {
		return err
	}
	return h.staffDetail(c, http.StatusOK, p, forms.Blank(map[string]string{"role": string(p.Role)}))
}

func (h *Handlers) staffDetail(c echo.Context, status int, p staff.Member, form *forms.Form) error {
	v := views.StaffDetail{
		Settings: h.Settings(c, p.Name, links.Staff, ui.Crumb{Label: "Staff", Path: links.Staff}), Person: p, Form: form, API: h.API,
	}
	if p.LiveTokens > 0 {
		var err error
		if v.Tokens, err = h.Tokens.ListLive(c.Request().Context(), page.Actor(c), p.ID); err != nil {
			return err
		}
	}
	return h.Render(c, status, views.StaffDetailPage(v), nil)
}

func (h *Handlers) setRole(c echo.Context) error {
	p, err := h.personOf(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[core.Role]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (core.Role, error) {
			role := core.Role(form.Value("role"))
			return role, h.Staff.SetRole(ctx, by, p.ID, role)
		},
		Refused: func(status int, form *forms.Form) error { return h.staffDetail(c, status, p, form) },
		To: func(role core.Role) string {
			if p.ID == page.Actor(c).StaffID && role != core.Owner {
				return links.Account // the other settings are for owners
			}
			return links.Person(p.ID)
		},
		Done: func(role core.Role) string { return p.Name + "'s role is now " + format.Role(role) + "." },
	})
}

// personAction is something that an owner does to a person, after a confirmation.
type personAction struct {
	path                       string
	title, words, button, done string // {name} and {email} are replaced with the person's
	undo                       string // the path of the action that undoes it; "": it can't be undone
	danger                     bool
	run                        func(ctx context.Context, by core.Actor, person int64) error
}

func (h *Handlers) personActions() []personAction {
	return []personAction{
		{
			path: "invite", title: "Resend the invitation to {name}?", button: "Resend invitation", run: h.Auth.InviteAgain,
			words: "{email} gets a new link. The previous link stops working.",
			done:  "A new invitation was sent to {email}.",
		},
		{
			path: "two-step", title: "Turn off two-step verification for {name}?", button: "Turn off", danger: true, run: h.Auth.RemoveTwoFactor,
			words: "They'll sign in with their password only. Do this if they lost their phone and recovery codes. Verify their identity first.",
			done:  "Two-step verification is off for {name}.",
		},
		{
			path: "deactivate", title: "Deactivate {name}?", button: "Deactivate", danger: true, run: h.Staff.Deactivate,
			words: "They're signed out everywhere and can't sign in. Their API tokens stop working. You can activate them again.",
			done:  "{name} was deactivated.", undo: "activate",
		},
		{
			path: "activate", title: "Activate {name}?", button: "Activate", run: h.Staff.Activate,
			words: "They can sign in again with the same password and role. Their API tokens work again.",
			done:  "{name} is active again.", undo: "deactivate",
		},
		{
			path: "tokens/revoke", title: "Revoke all API tokens of {name}?", button: "Revoke tokens", danger: true, run: h.Tokens.RevokeAllForPerson,
			words: "Programs that use them stop working immediately. This can't be undone.",
			done:  "All API tokens of {name} were revoked.",
		},
	}
}

func personText(p staff.Member, template string) string {
	return strings.NewReplacer("{name}", p.Name, "{email}", p.Email).Replace(template)
}

func (h *Handlers) askPersonAction(x personAction) echo.HandlerFunc {
	return func(c echo.Context) error {
		p, err := h.personOf(c)
		if err != nil {
			return err
		}
		return h.confirmPersonAction(c, http.StatusOK, x, p, &forms.Form{})
	}
}

func (h *Handlers) confirmPersonAction(c echo.Context, status int, x personAction, p staff.Member, form *forms.Form) error {
	path := links.Person(p.ID)
	v := panelviews.Confirm{
		Frame: h.Frame(c, personText(p, x.title), links.Settings, personCrumbs(p)...),
		Confirm: ui.Confirm{
			Action: path + "/" + x.path, Words: []string{personText(p, x.words)}, Button: x.button, Danger: x.danger, Cancel: path, Problem: form.Problem(),
		},
	}
	if p.ID == page.Actor(c).StaffID {
		v.Words = append([]string{"This is you."}, v.Words...)
	}
	return h.Confirm(c, status, v)
}

func (h *Handlers) runPersonAction(x personAction) echo.HandlerFunc {
	return func(c echo.Context) error {
		p, err := h.personOf(c)
		if err != nil {
			return err
		}
		return page.Submit(h.Kit, c, page.Submission[staff.Member]{
			Run: func(ctx context.Context, by core.Actor, _ *forms.Form) (staff.Member, error) {
				err := x.run(ctx, by, p.ID)
				if errors.Is(err, core.ErrNotFound) {
					err = nil // already done, for example by a double click
				}
				return p, err
			},
			Refused: func(status int, form *forms.Form) error { return h.confirmPersonAction(c, status, x, p, form) },
			To:      page.To[staff.Member](links.Person(p.ID)),
			Done:    func(p staff.Member) string { return personText(p, x.done) },
			Undo: func(p staff.Member) *ui.Undo {
				if x.undo == "" {
					return nil
				}
				return &ui.Undo{Path: links.Person(p.ID) + "/" + x.undo}
			},
		})
	}
}

func (h *Handlers) askRevokeOf(c echo.Context) error {
	p, err := h.personOf(c)
	if err != nil {
		return err
	}
	id, err := page.PathNumber(c, "token")
	if err != nil {
		return err
	}
	t, err := h.Tokens.FindForPerson(c.Request().Context(), page.Actor(c), p.ID, id)
	if err != nil {
		return err
	}
	return h.confirmRevoke(c, t, links.RevokeTokenOf(p.ID, t.ID), personCrumbs(p)...)
}

func (h *Handlers) revokeTokenOf(c echo.Context) error {
	person, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	id, err := page.PathNumber(c, "token")
	if err != nil {
		return err
	}
	return h.submitRevoke(c, links.Person(person), func(ctx context.Context, by core.Actor, once *core.Once[token.Token]) (core.Reply[token.Token], error) {
		return h.Tokens.RevokeForPerson(ctx, by, person, id, once)
	})
}
