// Package settings serves the settings of a business: its details and branding, locations, the poster, billing and notifications.
package settings

import (
	"slices"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Business
	Tenants       *tenant.Service
	Locations     *location.Service
	Transactions  *transaction.Service
	Rewards       *reward.Service
	Billing       *billing.Service
	Usage         *usage.Meter
	Notifications *notification.Service
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return slices.Concat(h.businessRoutes(), h.locationRoutes(), h.posterRoutes(), h.billingRoutes(), h.notificationRoutes(), h.weeklyRoutes())
}
