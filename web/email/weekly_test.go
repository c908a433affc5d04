package email_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

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

// withMonth returns the same e-mail on the first Monday of November 2026.
func withMonth(e notification.WeeklyEmail) notification.WeeklyEmail {
	e.From, e.To = time.Date(2026, 10, 26, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	e.Month = &notification.Month{
		First: time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC),
		Figures: report.Figures{
			TransactionsCount: 1_702, SpendTotalCents: 2_165_020, RefundsCount: 2, NetSpendTotalCents: 2_160_120,
			PointsAwarded: 21_006, PointsRedeemed: 7_300, NewCustomers: 31,
		},
		Before: report.Figures{
			TransactionsCount: 1_809, SpendTotalCents: 2_301_180, NetSpendTotalCents: 2_301_180, PointsAwarded: 22_410, PointsRedeemed: 10_000, NewCustomers: 31,
		},
	}
	return e
}

// The weekly e-mail has last week's figures with the week before, what needs attention with links, and a link
// that turns it off (RFC 8058).
func TestWeeklyEmail(t *testing.T) {
	t.Parallel()
	quiet := weeklyEmail()
	quiet.Notifications, quiet.From, quiet.To = nil, quiet.From.AddDate(0, 0, 14), quiet.To.AddDate(0, 0, 14)
	for name, e := range map[string]notification.WeeklyEmail{"weekly": weeklyEmail(), "weekly-quiet": quiet, "weekly-month": withMonth(weeklyEmail())} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(t, mails(t).Weekly(maja, e))
			golden(t, name, got)
			if !strings.HasSuffix(got.Unsubscribe, "/unsubscribe/weekly/TOKEN") {
				t.Errorf("the e-mail is turned off at %q", got.Unsubscribe)
			}
		})
	}
	january := withMonth(weeklyEmail())
	january.Month.First = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	got := render(t, mails(t).Weekly(maja, january))
	for _, words := range []string{"\nJanuary 2027\n", "(−5.9%, December 2026: 1,809)", "(0%, December 2026: 31)"} {
		if !strings.Contains(got.Text, words) {
			t.Errorf("the text with January doesn't say %q: %s", words, got.Text)
		}
	}
	// "Points redeemed −27 % isn't red": it is neither good nor bad news.
	tones := map[string]string{}
	parsed(t, got.HTML).Find("table").Last().Find("tr:has(div)").Each(func(_ int, row *goquery.Selection) {
		tones[row.Find("th").Text()] = row.Find("div").AttrOr("class", "")
	})
	if want := map[string]string{
		"Sales": "bad", "Spend": "bad", "Spend after refunds": "bad", "Points issued": "quiet", "Points redeemed": "quiet", "New customers": "quiet",
	}; !maps.Equal(tones, want) {
		t.Errorf("the tones are %v, want %v", tones, want)
	}
	many := weeklyEmail()
	for range 20 {
		many.Notifications = append(many.Notifications, many.Notifications[0])
	}
	if got := render(t, mails(t).Weekly(maja, many)); !strings.Contains(got.Text, "12 more notifications in the panel.") {
		t.Errorf("with 22 notifications: %s", got.Text)
	}
}
