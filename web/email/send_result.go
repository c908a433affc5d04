package email

import (
	"example.com/loyalty/core/coupon"
	views "example.com/loyalty/views/mail"
	"example.com/loyalty/web/page"
)

// failure is why a send failed, and what to do about it.
type failure struct{ why, do string }

// failures are those that are known, by the code of the rule.
var failures = map[string]failure{
	coupon.ErrInactive.Code:   {"The coupon was inactive at that time.", "Activate the coupon, then send it again."},
	coupon.ErrExpired.Code:    {"The coupon had expired by then.", "Choose a later last day for the coupon, then send it again."},
	coupon.ErrNotStarted.Code: {"The coupon's first day had not come yet.", "Send it again on its first day or later."},
}

// finished tells the person who confirmed a send how it ended.
func (p renderer) finished(to string, l coupon.SendResultEmail) message {
	name, business, s := line(l.Coupon), line(l.Tenant.Name), l.Sending
	v := views.Notice{
		Frame:    views.Frame{Service: p.service, To: to, Reason: "You get this e-mail because you confirmed this send."},
		Greeting: greeting(line(l.Person)),
		Action:   "Open the send",
		Address:  p.names.Tenant(l.Tenant.Slug) + "/admin/coupons/" + s.CouponID.String() + "/sends/" + s.ID.String(),
	}
	at := page.Time(s.SendAt, l.Tenant.TimeZone)
	if s.Status == coupon.Failed {
		v.Subject = "Sending “" + name + "” failed"
		v.Intro = "The send of “" + name + "” by " + business + ", planned for " + at + ", failed. No customer got a voucher."
		f := failure{"The coupon could not be sent at that time.", "Check the coupon, then send it again."}
		if s.Failure != nil && failures[*s.Failure].do != "" {
			f = failures[*s.Failure]
		}
		v.Preview, v.Fine = "No customer got a voucher.", f.do
		v.Facts = append(v.Facts, views.Fact{Name: "Reason", Value: f.why})
		v.Facts = append(v.Facts, views.Fact{Name: "Planned for", Value: at})
		return notice(v)
	}
	v.Subject = "“" + name + "” was sent to " + page.Count(s.Sent, "customer", "customers")
	v.Intro = "The send of “" + name + "” by " + business + " is done."
	v.Preview = page.Count(s.Delivered, "e-mail", "e-mails") + " delivered, " + page.Number(s.Failed) + " failed"
	v.Facts = []views.Fact{
		{Name: "Sent", Value: at},
		{Name: "Vouchers", Value: page.Number(s.Sent)},
		{Name: "E-mails delivered", Value: page.Number(s.Delivered)},
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
			v.Facts = append(v.Facts, views.Fact{Name: f.name, Value: page.Number(f.n)})
		}
	}
	v.Fine = "Customers without an e-mail show their voucher at the till: it is on their page in the panel."
	switch {
	case s.Failed > 0:
		v.Fine = "Open the coupon to see which e-mails failed and why, and to try them again. These customers have their voucher all the same."
	case s.NoEmail+s.Unsubscribed == 0:
		v.Fine = "There is nothing to do."
	}
	return notice(v)
}
