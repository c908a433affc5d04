// Package customers serves the pages about customers: list, search, one customer with their history, merging, and imports.
package customers

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
	return slices.Concat(h.customerRoutes(), h.importRoutes(), h.ExportRoutes(links.CustomersExport, h.exportCustomers))
}

func (h *Handlers) customerRoutes() []route.Route {
	const one = links.Customers + "/:ulid"
	return []route.Route{
		route.Get(links.Search, route.Cashiers, h.search),
		route.Get(links.Customers, route.Cashiers, h.listCustomers),
		route.Get(links.NewCustomer, route.Cashiers, h.newCustomer),
		route.Post(links.NewCustomer, route.Cashiers, h.addCustomer),
		route.Get(one, route.Cashiers, h.showCustomer),
		route.Get(one+"/edit", route.Managers, h.customerToEdit),
		route.Post(one+"/edit", route.Managers, h.editCustomer),
		route.Get(one+"/deactivate", route.Managers, h.askDeactivateCustomer),
		route.Post(one+"/deactivate", route.Managers, h.changeCustomer(h.deactivateCustomer, " was deactivated.", "/activate")),
		route.Post(one+"/activate", route.Managers, h.changeCustomer(h.activateCustomer, " is active again.", "/deactivate")),
		route.Get(one+"/subscribe", route.Managers, h.askSubscribeCustomer),
		route.Post(one+"/subscribe", route.Managers, h.changeCustomer(h.Customers.Subscribe, " gets coupon e-mails again.", "")),
		route.Post(one+"/unsubscribe", route.Managers, h.changeCustomer(h.Customers.Unsubscribe, " gets no more coupon e-mails. Their vouchers stay valid.", "")),
		route.Get(one+"/card-link", route.Cashiers, h.askReplaceLink),
		route.Post(one+"/card-link", route.Cashiers, h.replaceLink),
		route.Post(one+"/card-link/mail", route.Cashiers, h.mailLink),
		route.Get(one+"/adjust", route.Managers, h.askAdjustment),
		route.Post(one+"/adjust", route.Managers, h.adjustBalance),
		route.Get(one+"/adjust/after", route.Managers, h.previewAdjustment),
		route.Get(one+"/level", route.Managers, h.askLevel),
		route.Post(one+"/level", route.Managers, h.changeLevel),
		route.Get(one+"/note", route.Managers, h.askNote),
		route.Post(one+"/note", route.Managers, h.editNote),
		route.Get(one+"/tags", route.Managers, h.askTags),
		route.Post(one+"/tags", route.Managers, h.changeTag(h.Customers.AddTag)),
		route.Post(one+"/tags/remove", route.Managers, h.changeTag(h.Customers.RemoveTag)),
		route.Post(one+"/keys/remove", route.Managers, h.removeKey),
		route.Get(one+"/merge", route.Managers, h.askMerge),
		route.Post(one+"/merge", route.Managers, h.mergeCustomer).AsFile(),
		route.Get(one+"/merged", route.Cashiers, h.showMerged),
		route.Get(one+"/data", route.Managers, h.downloadCustomerData).AsFile(),
		route.Get(one+"/erase", route.Managers, h.askEraseCustomer),
		route.Post(one+"/erase", route.Managers, h.eraseCustomer),
	}
}
