package admin

import (
	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const weeklyPath = accountPath + "/weekly"

func (a *Admin) weeklyRoutes() []route.Route {
	return []route.Route{route.Post(weeklyPath, route.Managers, a.setWeekly)}
}

// weeklyCard is the part of the account page about the weekly e-mail, or nil for cashiers, who get none.
func (a *Admin) weeklyCard(c echo.Context) (templ.Component, error) {
	by := page.Actor(c)
	if !by.Role.Includes(core.Manager) {
		return nil, nil //nolint:nilnil // no card
	}
	on, err := a.Notifications.Subscribed(c.Request().Context(), by)
	return views.WeeklyCard(weeklyPath, on), err
}

// setWeekly turns the person's weekly e-mail on or off.
func (a *Admin) setWeekly(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	on := form.Value("on") == "1"
	if err := a.Notifications.Subscribe(c.Request().Context(), page.Actor(c), on); err != nil {
		return err
	}
	message := "Weekly e-mail turned off."
	if on {
		message = "Weekly e-mail turned on."
	}
	a.Flash(c, ui.Done, message)
	return a.Redirect(c, accountPath)
}
