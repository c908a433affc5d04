package settings

import (
	"net/http"

	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/admin/settings"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) notificationRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Notifications, route.Managers, h.listNotifications),
		route.Get(links.Notifications+"/:ulid", route.Managers, h.showStaffDay),
		route.Post(links.Notifications+"/:ulid/dismiss", route.Managers, h.dismissNotification),
		route.Get(links.NotificationSettings, route.Owners, panel.WithEmptyForm(h.notificationSettings)),
		route.Post(links.NotificationSettings, route.Owners, h.editNotificationSettings),
	}
}

func (h *Handlers) listNotifications(c echo.Context) error {
	list, err := h.Notifications.List(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	// After the list, which notes that its notifications were seen: the bell counts none of them.
	frame := h.Frame(c, "Notifications", links.Notifications)
	return h.Render(c, http.StatusOK, views.NotificationListPage(frame, list), nil)
}

func (h *Handlers) dismissNotification(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	if err := h.Notifications.Dismiss(c.Request().Context(), page.Actor(c), id); err != nil {
		return err
	}
	h.Flash(c, ui.Done, "Notification dismissed.")
	return h.Redirect(c, links.Notifications)
}

// showStaffDay lists the voids, refunds and adjustments that a notification is about.
func (h *Handlers) showStaffDay(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	day, err := h.Notifications.FindStaffDay(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	frame := h.Frame(c, "Voids and adjustments by "+day.Name, links.Notifications, ui.Crumb{Label: "Notifications", Path: links.Notifications})
	return h.Render(c, http.StatusOK, views.StaffDayPage(frame, day), nil)
}
