package admin

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/notification"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const notificationsPath = "/admin/notifications"

func (a *Admin) notificationRoutes() []route.Route {
	return []route.Route{
		route.Get(notificationsPath, route.Managers, a.listNotifications),
		route.Get(notificationsPath+"/:ulid", route.Managers, a.showStaffDay),
		route.Post(notificationsPath+"/:ulid/dismiss", route.Managers, a.dismissNotification),
		route.Get(notificationSettingsPath, route.Owners, withEmptyForm(a.notificationSettings)),
		route.Post(notificationSettingsPath, route.Owners, a.editNotificationSettings),
	}
}

func notificationPath(id core.ID) string { return notificationsPath + "/" + id.String() }

func (a *Admin) listNotifications(c echo.Context) error {
	by := page.Actor(c)
	list, err := a.Notifications.List(c.Request().Context(), by)
	if err != nil {
		return err
	}
	// After the list, which notes that its notifications were seen: the bell counts none of them.
	v := views.NotificationList{Frame: a.frame(c, "Notifications", notificationsPath)}
	if by.Role.Includes(core.Owner) {
		v.SettingsPath = notificationSettingsPath
	}
	for _, n := range list {
		v.Rows = append(v.Rows, a.notificationRow(n, by))
	}
	return a.Render(c, http.StatusOK, views.NotificationListPage(v), nil)
}

// notificationRow says what needs attention, and what to do about it.
func (a *Admin) notificationRow(n notification.Notification, by core.Actor) views.NotificationRow {
	zone := by.Tenant.TimeZone
	told := page.NotificationOf(n, zone)
	return views.NotificationRow{
		Icon: told.Icon, Urgent: n.Kind == notification.StockEmpty || n.Kind == notification.SendFailed,
		Title: told.Title, Advice: told.Advice, Path: told.Path,
		At: n.CreatedAt.UTC().Format(time.RFC3339), When: page.Moment(n.CreatedAt, a.Now(), zone),
		New: n.Unread, Dismiss: notificationPath(n.ID) + "/dismiss",
	}
}

func (a *Admin) dismissNotification(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	if err := a.Notifications.Dismiss(c.Request().Context(), page.Actor(c), id); err != nil {
		return err
	}
	a.Flash(c, ui.Done, "Notification dismissed.")
	return a.Redirect(c, notificationsPath)
}

// showStaffDay lists the voids and adjustments that a notification is about.
func (a *Admin) showStaffDay(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	day, err := a.Notifications.FindStaffDay(c.Request().Context(), by, id)
	if err != nil {
		return err
	}
	date := page.Date(day.Day, time.UTC)
	v := views.StaffDay{
		Frame:   a.frame(c, "Voids and adjustments by "+day.Name, notificationsPath, ui.Crumb{Label: "Notifications", Path: notificationsPath}),
		Summary: page.Count(int64(len(day.List)), "void or adjustment", "voids and adjustments") + " on " + date + ".",
		Audit:   "/admin/audit?actor=staff%3A" + strconv.FormatInt(day.StaffID, 10),
	}
	if day.Average > 0 {
		v.Summary += " In the 30 days before: " + strconv.FormatFloat(day.Average, 'f', 1, 64) + " a day on average."
	}
	for _, x := range day.List {
		v.Rows = append(v.Rows, activityRow(x, by.Tenant))
	}
	return a.Render(c, http.StatusOK, views.StaffDayPage(v), nil)
}

// activityRow is the line of a void or an adjustment.
func activityRow(x notification.Activity, t core.Tenant) views.StaffDayRow {
	row := views.StaffDayRow{When: page.Clock(x.CreatedAt, t.TimeZone), Customer: x.CustomerName, Reason: orZero(x.Reason)}
	if x.CustomerID != nil {
		row.CustomerPath = customerPath(*x.CustomerID)
	}
	switch x.Action {
	case "transaction.void":
		row.What, row.Path = "Voided sale", transactionsPath+"/"+x.SubjectID
		if x.SpendCents != nil {
			row.What += " of " + page.Money(*x.SpendCents, t.Currency)
		}
	case "redemption.void":
		row.What, row.Path = "Voided redemption of "+x.Name, redemptionsPath+"/"+x.SubjectID
	default:
		unit := ledger.Unit(orZero(x.Unit))
		row.What = "Adjusted by " + page.Signed(orZero(x.Amount)) + " " + page.UnitName(orZero(x.Amount), unit)
	}
	return row
}
