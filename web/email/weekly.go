package email

import (
	"time"

	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/mail"
)

// maxWeeklyItems is how many notifications the e-mail lists.
const maxWeeklyItems = 10

// Weekly tells an owner or a manager about last week, and what needs attention; the first one of a month also about the
// month before.
func (m Mails) Weekly(to string, e notification.WeeklyEmail) mail.Email {
	business, host, currency := line(e.Tenant.Name), m.names.Tenant(e.Tenant.Slug), e.Tenant.Currency
	w, week := e.Week, days(e.From, e.To)
	unsubscribe := host + "/unsubscribe/weekly/" + e.Unsubscribe
	blocks := []views.Block{
		greeting(e.Person),
		views.Paragraph("This was last week at " + business + "."),
		views.Figures{Heading: "Last week", Days: week, Before: "week before", List: figures(w, e.Before, currency)},
	}
	subject := business + ": your week " + week
	if of := e.Month; of != nil {
		before := of.First.AddDate(0, -1, 0)
		name := before.Format("January")
		if before.Year() != of.First.Year() {
			name = before.Format("January 2006")
		}
		subject += " and " + of.First.Format("January")
		blocks = append(blocks,
			views.Heading(of.First.Format("January 2006")),
			views.Figures{Heading: "Last month", Days: of.First.Format("January"), Before: name, List: figures(of.Figures, of.Before, currency)},
		)
	}
	blocks = append(blocks, attention(e, host)...)
	blocks = append(blocks, views.Button{Label: "Open dashboard", URL: host + "/admin"})
	words := views.Email{
		Subject: subject,
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

// figures returns the figures of a week or a month, beside those of the one before.
func figures(now, then report.Figures, currency string) (list []views.Figure) {
	add := func(of format.Figure, name string, now, then int64, write func(int64) string) {
		change := format.ChangeOf(of, now, then)
		list = append(list, views.Figure{Name: name, Now: write(now), Before: write(then), Change: change.Words, Tone: tones[change.News]})
	}
	money := func(cents int64) string { return format.Money(cents, currency) }
	add(format.SalesCount, "Sales", now.TransactionsCount, then.TransactionsCount, format.Number)
	add(format.Spend, "Spend", now.SpendTotalCents, then.SpendTotalCents, money)
	if now.RefundsCount > 0 || then.RefundsCount > 0 {
		add(format.NetSpend, "Spend after refunds", now.NetSpendTotalCents, then.NetSpendTotalCents, money)
	}
	add(format.PointsIssued, "Points issued", now.PointsAwarded, then.PointsAwarded, format.Number)
	add(format.PointsRedeemed, "Points redeemed", now.PointsRedeemed, then.PointsRedeemed, format.Number)
	add(format.CustomersNew, "New customers", now.NewCustomers, then.NewCustomers, format.Number)
	return list
}

// tones are the tones of changes.
var tones = map[format.News]views.Tone{format.GoodNews: views.Good, format.BadNews: views.Bad}

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
