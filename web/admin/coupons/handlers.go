// Package coupons serves the pages about coupons, their sends and vouchers.
package coupons

import (
	"slices"

	"example.com/loyalty/views/links"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Business
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return slices.Concat(h.couponRoutes(), h.voucherRoutes(), h.ExportRoutes(links.Coupons+"/:ulid/vouchers", h.exportVouchers), h.sendRoutes())
}
