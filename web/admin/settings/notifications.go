package settings

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/notification"
	views "example.com/loyalty/views/admin/settings"
	"example.com/loyalty/views/format"
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
	by := page.Actor(c)
	list, err := h.Notifications.List(c.Request().Context(), by)
	if err != nil {
		return err
	}
	// After the list, which notes that its notifications were seen: the bell counts none of them.
	v := views.NotificationList{Frame: h.Frame(c, "Notifications", links.Notifications)}
	if by.Role.Includes(core.Owner) {
		v.SettingsPath = links.NotificationSettings
	}
	for _, n := range list {
		v.Rows = append(v.Rows, h.notificationRow(n, by))
	}
	return h.Render(c, http.StatusOK, views.NotificationListPage(v), nil)
}

// notificationRow says what needs attention, and what to do about it.
func (h *Handlers) notificationRow(n notification.Notification, by core.Actor) views.NotificationRow {
	zone := by.Tenant.TimeZone
	told := page.NotificationOf(n, zone)
	return views.NotificationRow{
		Icon: told.Icon, Urgent: n.Kind == notification.StockEmpty || n.Kind == notification.SendFailed,
		Title: told.Title, Advice: told.Advice, Path: told.Path,
		At: n.CreatedAt.UTC().Format(time.RFC3339), When: format.Moment(n.CreatedAt, h.Now(), zone),
		New: n.Unread, Dismiss: links.Notification(n.ID) + "/dismiss",
	}
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

// showStaffDay lists the voids and adjustments that a notification is about.
func (h *Handlers) showStaffDay(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	day, err := h.Notifications.FindStaffDay(c.Request().Context(), by, id)
	if err != nil {
		return err
	}
	date := format.Date(day.Day, time.UTC)
	v := views.StaffDay{
		Frame:   h.Frame(c, "Voids and adjustments by "+day.Name, links.Notifications, ui.Crumb{Label: "Notifications", Path: links.Notifications}),
		Summary: format.Count(int64(len(day.List)), "void or adjustment", "voids and adjustments") + " on " + date + ".",
		Audit:   "/admin/audit?actor=staff%3A" + strconv.FormatInt(day.StaffID, 10),
	}
	if day.Average > 0 {
		v.Summary += " In the 30 days before: " + strconv.FormatFloat(day.Average, 'f', 1, 64) + " a day on average."
	}
	for _, x := range day.List {
		v.Rows = append(v.Rows, activityRow(x, by.Tenant))
	}
	return h.Render(c, http.StatusOK, views.StaffDayPage(v), nil)
}

// activityRow is the line of a void or an adjustment.
func activityRow(x notification.Activity, t core.Tenant) views.StaffDayRow {
	row := views.StaffDayRow{When: format.Clock(x.CreatedAt, t.TimeZone), Customer: x.CustomerName, Reason: core.OrZero(x.Reason)}
	if x.CustomerID != nil {
		row.CustomerPath = links.Customer(*x.CustomerID)
	}
	switch x.Action {
	case "transaction.void":
		row.What, row.Path = "Voided sale", links.Transactions+"/"+x.SubjectID
		if x.SpendCents != nil {
			row.What += " of " + format.Money(*x.SpendCents, t.Currency)
		}
	case "redemption.void":
		row.What, row.Path = "Voided redemption of "+x.Name, links.Redemptions+"/"+x.SubjectID
	default:
		unit := ledger.Unit(core.OrZero(x.Unit))
		row.What = "Adjusted by " + format.Signed(core.OrZero(x.Amount)) + " " + format.UnitName(core.OrZero(x.Amount), unit)
	}
	return row
}
