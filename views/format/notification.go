package format

import (
	"time"

	"example.com/loyalty/core/notification"
	"example.com/loyalty/views/links"
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
		return Notification{"package", "“" + n.Name + "” is out of stock", "Refill the stock, or deactivate the reward.", links.Reward(*n.RewardID)}
	case notification.StockLow:
		return Notification{"package", "Only " + Number(n.Figure) + " left of “" + n.Name + "”", "Refill the stock soon.", links.Reward(*n.RewardID)}
	case notification.CouponLimit:
		told := Notification{
			Icon: "ticket", Path: links.Coupon(*n.CouponID), Advice: "Raise the limit, or let the coupon end.",
			Title: "“" + n.Name + "” is near its limit: " + Number(n.Figure) + " of " + Count(n.Total, "redemption", "redemptions") + " used",
		}
		if n.Figure >= n.Total {
			told.Title = "“" + n.Name + "” has reached its limit of " + Count(n.Total, "redemption", "redemptions")
			told.Advice = "Its other vouchers can't be redeemed. Raise the limit, or deactivate the coupon."
		}
		return told
	case notification.RedemptionsPending:
		return pendingNotification(n, zone)
	case notification.SendFailed:
		told := Notification{
			Icon: "send", Path: links.Send(*n.CouponID, *n.SendID), Advice: "Open the send to see why, and to retry.",
			Title: Number(n.Figure) + " of " + Count(n.Total, "e-mail", "e-mails") + " of “" + n.Name + "” failed",
		}
		if n.Figure == 0 {
			told.Title, told.Advice = "Sending “"+n.Name+"” failed", "Open the send to see why. No vouchers were created."
		}
		return told
	case notification.SendHeld:
		return Notification{
			"clock", "A send of “" + n.Name + "” is on hold", "It was due while the business was suspended. Continue or cancel it.",
			links.Send(*n.CouponID, *n.SendID),
		}
	case notification.StaffActivity:
		return Notification{
			Icon: "user", Path: links.Notification(n.ID), Advice: "More than usual. View the reasons.",
			Title: Count(n.Figure, "void, refund or adjustment", "voids, refunds and adjustments") + " by " + n.Name + " on " + Date(*n.Day, time.UTC),
		}
	case notification.PlanLimit:
		told := Notification{
			"users", Number(n.Figure) + " of " + Count(n.Total, "customer", "customers") + " in your plan",
			"New customers can't join beyond that. Move to a larger plan, or deactivate customers who no longer come.", links.Customers,
		}
		if n.Figure >= n.Total {
			told.Title = "Your plan has no room for new customers"
			told.Advice = "It allows " + Number(n.Total) + ". Move to a larger plan, or deactivate customers who no longer come."
		}
		return told
	case notification.JoinsFast:
		return Notification{
			"users", Count(n.Figure, "customer", "customers") + " joined online within an hour on " + Date(*n.Day, time.UTC),
			"More than usual. Check whether they are real.", links.Customers,
		}
	}
	return Notification{Icon: "bell", Title: n.Name, Path: links.Notifications} // of a newer version
}

func pendingNotification(n notification.Notification, zone *time.Location) Notification {
	count := Count(min(n.Figure, notification.PendingLimit), "redemption", "redemptions")
	if n.Figure > notification.PendingLimit {
		count = "More than " + count
	}
	told := Notification{"list-check", count + " pending for more than " + Count(n.Total, "day", "days"), "", links.Redemptions}
	if n.Since != nil {
		told.Advice = "The oldest is from " + Date(*n.Since, zone) + ". Fulfil or void them."
		if n.Figure == 1 {
			told.Advice = "It is from " + Date(*n.Since, zone) + ". Fulfil or void it."
		}
	}
	return told
}
