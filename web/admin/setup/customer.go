package setup

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/admin/setup"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

func (h *Handlers) showCustomer(c echo.Context) error {
	s, err := h.progress(c)
	if err != nil {
		return err
	}
	form := forms.Blank(map[string]string{"email": page.Person(c).Email})
	first, last, named := strings.Cut(page.Actor(c).Name, " ")
	if named && !strings.HasPrefix(first, "Owner") { // a person without a name is called by their role
		form.Values.Set("first_name", first)
		form.Values.Set("last_name", last)
	}
	return h.customer(c, http.StatusOK, s, form)
}

func (h *Handlers) customer(c echo.Context, status int, s tenant.Setup, form *forms.Form) error {
	v := views.Customer{Guide: h.guide(c, s, tenant.CustomerStep), Form: form, JoinAddress: c.Request().Host + "/join"}
	if s.CustomerID != nil {
		added, err := h.Customers.Find(c.Request().Context(), page.Actor(c), *s.CustomerID)
		if err != nil {
			return err
		}
		v.Added = &added
	}
	return h.Render(c, status, views.CustomerPage(v), nil)
}

func (h *Handlers) saveCustomer(c echo.Context) error {
	s, err := h.progress(c)
	if err != nil {
		return err
	}
	if s.CustomerID != nil { // added in another tab
		return h.Redirect(c, links.SetupStep(s.NextAfter(tenant.CustomerStep)))
	}
	return submitStep(h, c, tenant.CustomerStep, page.Submission[customer.Upserted]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[customer.Upserted]) (core.Reply[customer.Upserted], error) {
			return h.Customers.Upsert(ctx, by, customer.New{
				FirstName: form.Value("first_name"), LastName: form.Value("last_name"), Phone: form.Value("phone"), Email: form.Value("email"),
			}, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.customer(c, status, s, form) },
	})
}
