package panel

import "example.com/loyalty/core/usage"

// PlanLimits words the limits of a plan. Advice says how to stay below one, Reached what no longer
// works once it is reached.
var PlanLimits = map[usage.Kind]struct{ Label, One, Many, Advice, Reached string }{
	usage.Customers: {
		"Active customers", "active customer", "active customers", "Deactivate customers who no longer visit, or upgrade your plan.",
		"You can't add customers. Sales still work.",
	},
	usage.Staff: {"Staff", "staff", "staff", "Deactivate someone or upgrade your plan.", "You can't invite more staff."},
	usage.Sends: {
		"Coupon sends this month", "coupon send a month", "coupon sends a month", "Wait until next month or upgrade your plan.",
		"You can't send coupons until next month.",
	},
}
