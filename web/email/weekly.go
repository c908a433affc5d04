package email

import (
	"time"

	"example.com/loyalty/core/notification"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/mail"
	"example.com/loyalty/web/page"
)

// maxWeeklyItems is how many notifications the e-mail lists.
const maxWeeklyItems = 10

// weekly tells an owner or a manager about last week, and what needs attention.
func (p renderer) weekly(l notification.WeeklyEmail) message {
	business, host, currency := line(l.Tenant.Name), p.names.Tenant(l.Tenant.Slug), l.Tenant.Currency
	v := views.Weekly{
		Subject:  business + ": your week " + days(l.From, l.To),
		Business: business, Greeting: greeting(line(l.Person)), Week: days(l.From, l.To),
		Intro:  "This was last week at " + business + ".",
		Action: "Open dashboard", Address: host + "/admin",
		Reason:      "You get this e-mail on Mondays because you manage " + business + ". You can also turn it off in your account.",
		Unsubscribe: host + "/unsubscribe/weekly/" + l.Unsubscribe,
	}
	w, b := l.Week, l.Before
	v.Figures = []views.WeeklyFigure{
		{Name: "Sales", Week: format.Number(w.TransactionsCount), Before: format.Number(b.TransactionsCount)},
		{Name: "Spend", Week: format.Money(w.SpendTotalCents, currency), Before: format.Money(b.SpendTotalCents, currency)},
		{Name: "Points issued", Week: format.Number(w.PointsAwarded), Before: format.Number(b.PointsAwarded)},
		{Name: "Points redeemed", Week: format.Number(w.PointsRedeemed), Before: format.Number(b.PointsRedeemed)},
		{Name: "New customers", Week: format.Number(w.NewCustomers), Before: format.Number(b.NewCustomers)},
	}
	v.Preview = format.Count(w.TransactionsCount, "sale", "sales") + ", " + format.Money(w.SpendTotalCents, currency) + " spent, " +
		format.Count(w.NewCustomers, "new customer", "new customers")
	for i, n := range l.Notifications {
		if i == maxWeeklyItems {
			v.More = format.Count(int64(len(l.Notifications)-i), "more notification", "more notifications") + " in the panel."
			break
		}
		n.Name = line(n.Name)
		told := page.NotificationOf(n, l.Tenant.TimeZone)
		v.Items = append(v.Items, views.WeeklyItem{Title: told.Title, URL: host + told.Path})
	}
	return message{subject: v.Subject, text: weeklyText(v), html: views.WeeklyMail(v), unsubscribe: v.Unsubscribe}
}

// weeklyText returns the plain form of the e-mail.
func weeklyText(v views.Weekly) string {
	var t text
	t.paragraph(v.Greeting)
	t.paragraph(v.Intro)
	var facts []views.Fact
	for _, f := range v.Figures {
		facts = append(facts, views.Fact{Name: f.Name, Value: f.Week + " (week before: " + f.Before + ")"})
	}
	t.facts(facts)
	if len(v.Items) > 0 {
		t.paragraph("Needs attention:")
	}
	for _, i := range v.Items {
		t.lines([]string{i.Title + ":", i.URL})
	}
	if v.More != "" {
		t.paragraph(v.More)
	}
	t.lines([]string{v.Action + ":", v.Address})
	t.signature(v.Reason, "Turn off this e-mail:", v.Unsubscribe)
	return t.String()
}

// days returns a range of days: "16–22 Nov", "30 Nov–6 Dec".
func days(from, to time.Time) string {
	if from.Month() == to.Month() {
		return from.Format("2") + "–" + to.Format("2 Jan")
	}
	return from.Format("2 Jan") + "–" + to.Format("2 Jan")
}
