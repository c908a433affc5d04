package panel

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// PhoneConflicts names the customers whose phone numbers refused another country, to correct or merge them.
func (b *Business) PhoneConflicts(c echo.Context, form *forms.Form) (conflicts []views.PhoneConflict, err error) {
	var ids []core.ID
	for _, v := range form.Violations("country") {
		ids = append(ids, v.Records[:]...)
	}
	list, err := b.Customers.FindAll(c.Request().Context(), page.Actor(c), ids)
	if err != nil {
		return nil, err
	}
	byID := map[core.ID]customer.Customer{}
	for _, one := range list {
		byID[one.ID] = one
	}
	for _, v := range form.Violations("country") {
		var conflict views.PhoneConflict
		for _, id := range v.Records {
			if who, found := byID[id]; found {
				conflict = append(conflict, who)
			}
		}
		if len(conflict) > 0 {
			conflicts = append(conflicts, conflict)
		}
	}
	return conflicts, nil
}

// ConfirmCurrency asks before the business's amounts get another currency.
func (b *Business) ConfirmCurrency(c echo.Context, change *tenant.CurrencyChangeError, form *forms.Form, path string, crumb ui.Crumb) error {
	return b.Render(c, http.StatusOK, views.CurrencyConfirmPage(views.CurrencyConfirm{
		Frame:           b.Frame(c, "Change currency to "+change.To+"?", links.Settings, crumb),
		ConfirmCurrency: forms.ConfirmCurrency(change, form, path, path),
	}), nil)
}
