package settings

import (
	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	views "example.com/loyalty/views/admin/settings"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

func (h *Handlers) weeklyRoutes() []route.Route {
	return []route.Route{route.Post(links.Weekly, route.Managers, h.setWeekly)}
}

// WeeklyCard is the part of the account page about the weekly e-mail, or nil for cashiers, who get none.
func (h *Handlers) WeeklyCard(c echo.Context) (templ.Component, error) {
	by := page.Actor(c)
	if !by.Role.Includes(core.Manager) {
		return nil, nil //nolint:nilnil // no card
	}
	on, err := h.Notifications.Subscribed(c.Request().Context(), by)
	return views.WeeklyCard(on), err
}

// setWeekly turns the person's weekly e-mail on or off.
func (h *Handlers) setWeekly(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	on := form.Value("on") == "1"
	if err := h.Notifications.Subscribe(c.Request().Context(), page.Actor(c), on); err != nil {
		return err
	}
	message := "Weekly e-mail turned off."
	if on {
		message = "Weekly e-mail turned on."
	}
	h.Flash(c, ui.Done, message)
	return h.Redirect(c, links.Account)
}
