package panel

import (
	"example.com/loyalty/core"
	"example.com/loyalty/web/page"
)

// FirstPage returns the page shown after sign-in: the point of sale for cashiers, the dashboard for
// everyone else.
func FirstPage(role core.Role) string {
	if role == core.Cashier {
		return page.TillPath
	}
	return page.PanelPath
}
