package admin

import (
	"net/http"

	"example.com/loyalty/core"
)

// routes are the panel's, each with the least role that has it; "" lets strangers in.
func (a *Admin) routes() []route {
	const get, post = http.MethodGet, http.MethodPost
	return []route{
		{method: get, path: "/admin/look.css", handle: a.look},
		{method: post, path: "/admin/theme", handle: a.switchTheme},

		{method: get, path: "/admin/customers", least: core.Cashier, handle: a.listCustomers},
		{method: get, path: "/admin/customers/new", least: core.Cashier, handle: a.newCustomer},
		{method: post, path: "/admin/customers/new", least: core.Cashier, handle: a.addCustomer},
	}
}
