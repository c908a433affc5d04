package email

import (
	"time"

	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/mail"
)

// maxWeeklyItems is how many notifications the e-mail lists.
const maxWeeklyItems = 10

// Weekly tells an owner or a manager about last week, and what needs attention.
func (m Mails) Weekly(to string, e notification.WeeklyEmail) mail.Email {
	business, host, currency := line(e.Tenant.Name), m.names.Tenant(e.Tenant.Slug), e.Tenant.Currency
	w, b, week := e.Week, e.Before, days(e.From, e.To)
	unsubscribe := host + "/unsubscribe/weekly/" + e.Unsubscribe
	figures := []views.Figure{
		{Name: "Sales", Week: format.Number(w.TransactionsCount), Before: format.Number(b.TransactionsCount)},
		{Name: "Spend", Week: format.Money(w.SpendTotalCents, currency), Before: format.Money(b.SpendTotalCents, currency)},
	}
	if w.RefundsCount > 0 || b.RefundsCount > 0 {
		figures = append(figures, views.Figure{
			Name: "Spend after refunds", Week: format.Money(w.NetSpendTotalCents, currency), Before: format.Money(b.NetSpendTotalCents, currency),
		})
	}
	figures = append(figures,
		views.Figure{Name: "Points issued", Week: format.Number(w.PointsAwarded), Before: format.Number(b.PointsAwarded)},
		views.Figure{Name: "Points redeemed", Week: format.Number(w.PointsRedeemed), Before: format.Number(b.PointsRedeemed)},
		views.Figure{Name: "New customers", Week: format.Number(w.NewCustomers), Before: format.Number(b.NewCustomers)},
	)
	blocks := []views.Block{
		greeting(e.Person),
		views.Paragraph("This was last week at " + business + "."),
		views.Figures{Heading: "Last week", Days: week, WeekBefore: "week before", List: figures},
	}
	blocks = append(blocks, attention(e, host)...)
	blocks = append(blocks, views.Button{Label: "Open dashboard", URL: host + "/admin"})
	words := views.Email{
		Subject: business + ": your week " + week,
		Preview: format.Count(w.TransactionsCount, "sale", "sales") + ", " + format.Money(w.SpendTotalCents, currency) + " spent, " +
			format.Count(w.NewCustomers, "new customer", "new customers"),
		Brand:  business,
		Blocks: blocks,
		Footer: views.Footer{
			Lines: []string{"You get this e-mail on Mondays because you manage " + business + ". You can also turn it off in your account."},
			Label: "Turn off this e-mail", Unsubscribe: unsubscribe,
		},
	}
	return message{words: words, envelope: mail.Rendered{To: to, Unsubscribe: unsubscribe}}
}

// attention returns what needs attention.
func attention(e notification.WeeklyEmail, host string) (blocks []views.Block) {
	if len(e.Notifications) == 0 {
		return nil
	}
	listed := e.Notifications[:min(len(e.Notifications), maxWeeklyItems)]
	links := views.Links{Heading: "Needs attention"}
	for _, n := range listed {
		n.Name = line(n.Name)
		told := format.NotificationOf(n, e.Tenant.TimeZone)
		links.List = append(links.List, views.Link{Label: told.Title, URL: host + told.Path})
	}
	blocks = append(blocks, links)
	if more := len(e.Notifications) - len(listed); more > 0 {
		blocks = append(blocks, views.Paragraph(format.Count(int64(more), "more notification", "more notifications")+" in the panel."))
	}
	return blocks
}

// days returns a range of days: "16–22 Nov", "30 Nov–6 Dec".
func days(from, to time.Time) string {
	if from.Month() == to.Month() {
		return from.Format("2") + "–" + to.Format("2 Jan")
	}
	return from.Format("2 Jan") + "–" + to.Format("2 Jan")
}
