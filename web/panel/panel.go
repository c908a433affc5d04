// Package panel is what the features of a panel share: the frame of a page, the way a list, a form, a confirmation and
// an export work, and how the records that several features show are called.
//
// A feature is a package with a type Handlers, which embeds Panel and has the use cases it calls. Features don't import
// each other: what two of them need is here.
package panel

import (
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/web/page"
)

// Panel serves what all features need.
type Panel struct {
	*page.Kit
	Customers     *customer.Service
	Coupons       *coupon.Service
	Notifications *notification.Service
	Usage         *usage.Meter
}
