package email

import (
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/views/format"
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

// sendResult tells the person who confirmed a send how it ended.
func (p renderer) sendResult(to string, l coupon.SendResultEmail) message {
	name, business, s := line(l.Coupon), line(l.Tenant.Name), l.Sending
	v := views.Notice{
		Reason:   "You get this e-mail because you confirmed this send.",
		Greeting: greeting(line(l.Person)),
		Action:   "View send",
		Address:  p.names.Tenant(l.Tenant.Slug) + "/admin/coupons/" + s.CouponID.String() + "/sends/" + s.ID.String(),
	}
	at := format.Time(s.SendAt, l.Tenant.TimeZone)
	if s.Status == coupon.Failed {
		v.Subject = "Sending “" + name + "” failed"
		v.Intro = business + " couldn't send “" + name + "” on " + at + ". No vouchers were created."
		f := failure{"The coupon couldn't be sent.", "Check the coupon, then send it again."}
		if s.Failure != nil && failures[*s.Failure].fix != "" {
			f = failures[*s.Failure]
		}
		v.Preview, v.Fine = "No vouchers were created.", f.fix
		v.Facts = append(v.Facts, views.Fact{Name: "Reason", Value: f.reason})
		v.Facts = append(v.Facts, views.Fact{Name: "Scheduled for", Value: at})
		return p.notice(to, v)
	}
	v.Subject = "“" + name + "” was sent to " + format.Count(s.Sent, "customer", "customers")
	v.Intro = business + " sent “" + name + "”."
	v.Preview = format.Count(s.Delivered, "e-mail", "e-mails") + " delivered, " + format.Number(s.Failed) + " failed"
	v.Facts = []views.Fact{
		{Name: "Sent", Value: at},
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
			v.Facts = append(v.Facts, views.Fact{Name: f.name, Value: format.Number(f.n)})
		}
	}
	v.Fine = "Customers who get no e-mail can still use their voucher at the till. You find it on their profile."
	switch {
	case s.Failed > 0:
		v.Fine = "Open the send to see why e-mails failed and to retry them. These customers still have their voucher."
	case s.NoEmail+s.Unsubscribed == 0:
		v.Fine = "You don't need to do anything."
	}
	return p.notice(to, v)
}
