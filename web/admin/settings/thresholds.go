package settings

import (
	"context"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/notification"
	views "example.com/loyalty/views/admin/settings"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// notificationSettings shows the thresholds. A form without values is filled with the stored ones.
func (h *Handlers) notificationSettings(c echo.Context, status int, form *forms.Form) error {
	stored, err := h.Notifications.Settings(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	if len(form.Values) == 0 {
		form = forms.Blank(map[string]string{
			"stock_low": number(stored.StockLow), "coupon_percent": number(stored.CouponPercent), "pending_days": number(stored.PendingDays),
			"staff_daily": number(stored.StaffDaily), "staff_factor": number(stored.StaffFactor),
		})
	}
	return h.Render(c, status, views.ThresholdsPage(h.Settings(c, "Notifications", links.NotificationSettings), form), nil)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func (h *Handlers) editNotificationSettings(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[notification.Settings]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (notification.Settings, error) {
			sent := func(name string) core.Optional[int64] {
				if !form.Values.Has(name) || !form.Changed(name) {
					return core.Optional[int64]{}
				}
				return core.Optional[int64]{Set: true, Value: form.Integer(name)}
			}
			e := notification.SettingsEdit{
				StockLow: sent("stock_low"), CouponPercent: sent("coupon_percent"), PendingDays: sent("pending_days"),
				StaffDaily: sent("staff_daily"), StaffFactor: sent("staff_factor"),
			}
			e.Malformed = form.Malformed // after the fields were read
			return h.Notifications.EditSettings(ctx, by, e)
		},
		Refused: func(status int, form *forms.Form) error { return h.notificationSettings(c, status, form) },
		To:      page.To[notification.Settings](links.NotificationSettings),
		Done:    func(notification.Settings) string { return "Notification settings saved." },
	})
}
