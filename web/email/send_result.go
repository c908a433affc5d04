package email

import (
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/mail"
)

// failure is why a send failed, and what to do about it.
type failure struct{ reason, fix string }

// failures are the known failures, by the code of the rule.
var failures = map[string]failure{
	coupon.ErrInactive.Code:   {"The coupon was inactive.", "Activate the coupon, then send it again."},
	coupon.ErrExpired.Code:    {"The coupon had expired.", "Choose a later last day for the coupon, then send it again."},
	coupon.ErrNotStarted.Code: {"The coupon hadn't started yet.", "Send it again on its first day or later."},
}

// SendResult tells the person who confirmed a send how it ended.
func (m Mails) SendResult(to string, e coupon.SendResultEmail) mail.Email {
	link := views.Link{Label: "View send", URL: m.names.Tenant(e.Tenant.Slug) + links.Send(e.Sending.CouponID, e.Sending.ID)}
	words := sent(e, link)
	if e.Sending.Status == coupon.Failed {
		words = notSent(e, link)
	}
	return m.notice(to, "You get this e-mail because you confirmed this send.", words)
}

func notSent(e coupon.SendResultEmail, link views.Link) views.Email {
	name, at := line(e.Coupon), format.Time(e.Sending.SendAt, e.Tenant.TimeZone)
	f := failure{"The coupon couldn't be sent.", "Check the coupon, then send it again."}
	if code := e.Sending.Failure; code != nil && failures[*code].fix != "" {
		f = failures[*code]
	}
	return views.Email{
		Subject: "Sending “" + name + "” failed",
		Preview: "No vouchers were created.",
		Blocks: []views.Block{
			greeting(e.Person),
			views.Paragraph(line(e.Tenant.Name) + " couldn't send “" + name + "” on " + at + ". No vouchers were created."),
			views.Facts{{Name: "Reason", Value: f.reason}, {Name: "Scheduled for", Value: at}},
			link,
			views.Closing(f.fix),
		},
	}
}

func sent(e coupon.SendResultEmail, link views.Link) views.Email {
	name, s := line(e.Coupon), e.Sending
	facts := views.Facts{
		{Name: "Sent", Value: format.Time(s.SendAt, e.Tenant.TimeZone)},
		{Name: "Vouchers", Value: format.Number(s.Sent)},
		{Name: "E-mails delivered", Value: format.Number(s.Delivered)},
	}
	for _, f := range []struct {
		name string
		n    int64
	}{
		{"E-mails failed", s.Failed},
		{"No e-mail address", s.NoEmail},
		{"Unsubscribed", s.Unsubscribed},
		{"Skipped: already at their limit", s.SkippedLimit},
		{"Skipped: inactive", s.SkippedInactive},
	} {
		if f.n > 0 {
			facts = append(facts, views.Fact{Name: f.name, Value: format.Number(f.n)})
		}
	}
	closing := views.Closing("Customers who get no e-mail can still use their voucher at the till. You find it on their profile.")
	switch {
	case s.Failed > 0:
		closing = "Open the send to see why e-mails failed and to retry them. These customers still have their voucher."
	case s.NoEmail+s.Unsubscribed == 0:
		closing = "You don't need to do anything."
	}
	return views.Email{
		Subject: "“" + name + "” was sent to " + format.Count(s.Sent, "customer", "customers"),
		Preview: format.Count(s.Delivered, "e-mail", "e-mails") + " delivered, " + format.Number(s.Failed) + " failed",
		Blocks:  []views.Block{greeting(e.Person), views.Paragraph(line(e.Tenant.Name) + " sent “" + name + "”."), facts, link, closing},
	}
}
