package panel

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// PhoneConflicts names the customers whose phone numbers refused another country, to correct or merge them.
func (p *Panel) PhoneConflicts(c echo.Context, form *forms.Form) (conflicts []views.PhoneConflict, err error) {
	var ids []core.ID
	for _, v := range form.Violations("country") {
		ids = append(ids, v.Records[:]...)
	}
	list, err := p.Customers.FindAll(c.Request().Context(), page.Actor(c), ids)
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
				conflict.Customers = append(conflict.Customers, views.PhoneCustomer{Name: format.CustomerName(who), Phone: who.Phone, Path: links.Customer(id)})
			}
		}
		switch len(conflict.Customers) {
		case 0:
			continue
		case 2: // the customer who was added first is kept
			conflict.Merge = page.WithQuery(links.Customer(v.Records[0])+"/merge", "customer_ulid", v.Records[1].String())
		}
		conflicts = append(conflicts, conflict)
	}
	return conflicts, nil
}

var Countries, ZoneGroups = forms.Countries(), forms.ZoneGroups

// SentText returns a text field of an edit. A field that is missing or unchanged isn't set, an empty
// one is cleared.
func SentText(form *forms.Form, name string) core.Optional[string] {
	return core.Optional[string]{Set: form.Values.Has(name) && form.Changed(name), Value: form.Filled(name)}
}

// SentAmount is sentText for an amount. An unchanged one isn't read: the form may select another
// currency, with other decimals.
func SentAmount(form *forms.Form, name, currency string) core.Optional[int64] {
	if !form.Values.Has(name) || !form.Changed(name) {
		return core.Optional[int64]{}
	}
	return core.Optional[int64]{Set: true, Value: form.Amount(name, currency)}
}

// ConfirmCurrency asks before the business's amounts get another currency.
func (p *Panel) ConfirmCurrency(c echo.Context, change *tenant.CurrencyChangeError, form *forms.Form, path string, crumb ui.Crumb) error {
	return p.Render(c, http.StatusOK, views.CurrencyConfirmPage(views.CurrencyConfirm{
		Frame:           p.Frame(c, "Change currency to "+change.To+"?", links.Settings, crumb),
		ConfirmCurrency: forms.ConfirmCurrency(change, form, path, path),
	}), nil)
}
