package page

import (
	"time"

	"example.com/loyalty/core/notification"
	"example.com/loyalty/views/format"
)

// Notification is a notification in words: what needs attention, what to do, and where.
type Notification struct {
	Icon   string
	Title  string
	Advice string
	Path   string // in the panel
}

// NotificationOf words a notification, with dates in the time zone of the business.
func NotificationOf(n notification.Notification, zone *time.Location) Notification {
	switch n.Kind {
	case notification.StockEmpty:
		return Notification{"package", "“" + n.Name + "” is out of stock", "Refill the stock, or deactivate the reward.", rewardsPath + n.RewardID.String()}
	case notification.StockLow:
		return Notification{"package", "Only " + format.Number(n.Figure) + " left of “" + n.Name + "”", "Refill the stock soon.", rewardsPath + n.RewardID.String()}
	case notification.CouponLimit:
		told := Notification{
			Icon: "ticket", Path: couponsPath + n.CouponID.String(), Advice: "Raise the limit, or let the coupon end.",
			Title: "“" + n.Name + "” is near its limit: " + format.Number(n.Figure) + " of " + format.Count(n.Total, "redemption", "redemptions") + " used",
		}
		if n.Figure >= n.Total {
			told.Title = "“" + n.Name + "” has reached its limit of " + format.Count(n.Total, "redemption", "redemptions")
			told.Advice = "Its other vouchers can't be redeemed. Raise the limit, or deactivate the coupon."
		}
		return told
	case notification.RedemptionsPending:
		return pendingNotification(n, zone)
	case notification.SendFailed:
		told := Notification{
			Icon: "send", Path: couponsPath + n.CouponID.String() + "/sends/" + n.SendID.String(), Advice: "Open the send to see why, and to retry.",
			Title: format.Number(n.Figure) + " of " + format.Count(n.Total, "e-mail", "e-mails") + " of “" + n.Name + "” failed",
		}
		if n.Figure == 0 {
			told.Title, told.Advice = "Sending “"+n.Name+"” failed", "Open the send to see why. No vouchers were created."
		}
		return told
	case notification.SendHeld:
		return Notification{
			"clock", "A send of “" + n.Name + "” is on hold", "It was due while the business was suspended. Continue or cancel it.",
			couponsPath + n.CouponID.String() + "/sends/" + n.SendID.String(),
		}
	case notification.StaffActivity:
		return Notification{
			Icon: "user", Path: PanelPath + "/notifications/" + n.ID.String(), Advice: "More than usual. View the reasons.",
			Title: format.Count(n.Figure, "void or adjustment", "voids and adjustments") + " by " + n.Name + " on " + format.Date(*n.Day, time.UTC),
		}
	case notification.PlanLimit:
		told := Notification{
			"users", format.Number(n.Figure) + " of " + format.Count(n.Total, "customer", "customers") + " in your plan",
			"New customers can't join beyond that. Move to a larger plan, or deactivate customers who no longer come.", PanelPath + "/customers",
		}
		if n.Figure >= n.Total {
			told.Title = "Your plan has no room for new customers"
			told.Advice = "It allows " + format.Number(n.Total) + ". Move to a larger plan, or deactivate customers who no longer come."
		}
		return told
	case notification.JoinsFast:
		return Notification{
			"users", format.Count(n.Figure, "customer", "customers") + " joined online within an hour on " + format.Date(*n.Day, time.UTC),
			"More than usual. Check whether they are real.", PanelPath + "/customers",
		}
	}
	return Notification{Icon: "bell", Title: n.Name, Path: PanelPath + "/notifications"} // of a newer version
}

const (
	rewardsPath = PanelPath + "/rewards/"
	couponsPath = PanelPath + "/coupons/"
)

func pendingNotification(n notification.Notification, zone *time.Location) Notification {
	count := format.Count(min(n.Figure, notification.PendingLimit), "redemption", "redemptions")
	if n.Figure > notification.PendingLimit {
		count = "More than " + count
	}
	told := Notification{"list-check", count + " pending for more than " + format.Count(n.Total, "day", "days"), "", PanelPath + "/redemptions"}
	if n.Since != nil {
		told.Advice = "The oldest is from " + format.Date(*n.Since, zone) + ". Fulfil or void them."
		if n.Figure == 1 {
			told.Advice = "It is from " + format.Date(*n.Since, zone) + ". Fulfil or void it."
		}
	}
	return told
}
