package email

import (
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/mail"
)

// suspension tells an owner that the business was suspended and why, or that it is active again.
func (p renderer) suspension(to string, l tenant.SuspensionEmail) message {
	business := line(l.Tenant)
	v := views.Notice{
		Subject: business + " has been suspended",
		Preview: line(l.Reason),
		Reason:  "You get this e-mail because this is the owner address of " + business + ".",
		Intro:   business + " has been suspended: its panel and till are closed, and its API tokens don't work.",
		Facts:   []views.Fact{{Name: "Business", Value: business}, {Name: "Reason", Value: line(l.Reason)}},
		Action:  "View contact details",
		Address: p.names.Tenant(l.Slug) + "/admin",
		Fine: "Your data is safe, and customers can still see their points, stamps and vouchers. " +
			"You aren't billed for days of the suspension after your current billing period.",
	}
	if l.Over {
		v.Subject = business + " is active again"
		v.Preview = "You can sign in as before."
		v.Intro = "The suspension of " + business + " has ended. The panel, the till and API tokens work as before."
		v.Facts = v.Facts[:1]
		v.Action = "Sign in"
		v.Fine = "Everything is as you left it: customers, balances, rewards and coupons. " +
			"Coupon sends and imports that were due meanwhile are on hold: continue or cancel them in the panel."
	}
	return p.notice(to, v)
}
