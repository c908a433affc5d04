package email_test

import (
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/report"
)

// weeklyEmail returns an e-mail about a week with two things that need attention.
func weeklyEmail() notification.WeeklyEmail {
	monday := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	mug, since := core.FirstID(monday), monday.AddDate(0, 0, -7)
	return notification.WeeklyEmail{
		Tenant: core.Tenant{Name: "Café Åro", Slug: "aro", Currency: "EUR", TimeZone: time.UTC}, Person: "Maja Sund",
		From: monday, To: monday.AddDate(0, 0, 6),
		Week:   report.Figures{TransactionsCount: 412, SpendTotalCents: 531_240, PointsAwarded: 5_122, PointsRedeemed: 1_875, NewCustomers: 9},
		Before: report.Figures{TransactionsCount: 398, SpendTotalCents: 501_990, PointsAwarded: 4_871, PointsRedeemed: 2_100, NewCustomers: 1},
		Notifications: []notification.Notification{
			{Kind: notification.StockEmpty, RewardID: &mug, Name: "Åro mug\nfree"},
			{Kind: notification.RedemptionsPending, Figure: 3, Total: 7, Since: &since},
		},
		Unsubscribe: "TOKEN",
	}
}

// The weekly e-mail has last week's figures with the week before, what needs attention with links, and a link
// that turns it off (RFC 8058).
func TestWeeklyEmail(t *testing.T) {
	t.Parallel()
	quiet := weeklyEmail()
	quiet.Notifications, quiet.From, quiet.To = nil, quiet.From.AddDate(0, 0, 14), quiet.To.AddDate(0, 0, 14)
	for name, e := range map[string]notification.WeeklyEmail{"weekly": weeklyEmail(), "weekly-quiet": quiet} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(t, mails(t).Weekly(maja, e))
			golden(t, name, got)
			if !strings.HasSuffix(got.Unsubscribe, "/unsubscribe/weekly/TOKEN") {
				t.Errorf("the e-mail is turned off at %q", got.Unsubscribe)
			}
		})
	}
	many := weeklyEmail()
	for range 20 {
		many.Notifications = append(many.Notifications, many.Notifications[0])
	}
	if got := render(t, mails(t).Weekly(maja, many)); !strings.Contains(got.Text, "12 more notifications in the panel.") {
		t.Errorf("with 22 notifications: %s", got.Text)
	}
}
