package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
)

type tenantResource struct {
	ID            core.TenantID        `json:"id"`
	Name          string               `json:"name"`
	Slug          string               `json:"slug"`
	Email         string               `json:"email"`
	PlanID        int64                `json:"plan_id"`
	BillingCycle  tenant.BillingCycle  `json:"billing_cycle"`
	PaymentMethod tenant.PaymentMethod `json:"payment_method"`
	Status        tenant.Status        `json:"status"`
	TimeZone      string               `json:"timezone"`
	Currency      string               `json:"currency"`
	Country       *string              `json:"country"`
	Test          bool                 `json:"test"`
	CreatedAt     stamp                `json:"created_at"`
}

func newTenantResource(t tenant.Tenant) tenantResource {
	return tenantResource{
		ID: t.ID, Name: t.Name, Slug: t.Slug, Email: t.Email, PlanID: t.PlanID, BillingCycle: t.BillingCycle,
		PaymentMethod: t.PaymentMethod, Status: t.Status, TimeZone: t.TimeZone, Currency: t.Currency, Country: t.Country,
		Test: t.Test, CreatedAt: stamp(t.CreatedAt),
	}
}

func (a *API) listTenants(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	f := tenant.Filter{Status: q.text("status")}
	p := q.page()
	l, err := a.Tenants.List(c.Request().Context(), actor(c), f, p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, newTenantResource)
}

func (a *API) createTenant(c echo.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	n := tenant.New{
		Name: in.value("name"), Slug: in.value("slug"), Email: in.value("email"), PlanID: in.number("plan_id"),
		BillingCycle: in.value("billing_cycle"), PaymentMethod: in.value("payment_method"),
		TimeZone: in.value("timezone"), Currency: in.value("currency"), Country: in.value("country"), Malformed: in.unreadable,
	}
	return idempotent(c, func(once *core.Once[tenant.Tenant]) (core.Reply[tenant.Tenant], error) {
		return a.Tenants.Create(c.Request().Context(), actor(c), n, once)
	}, func(t tenant.Tenant) (int, any) { return http.StatusCreated, newTenantResource(t) })
}

func (a *API) editTenant(c echo.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	id, err := pathNumber(c)
	if err != nil {
		return err
	}
	// A new country rereads every phone number. A hundred thousand of them take longer than a
	// request's timeout, so the change isn't cancelled.
	ctx := context.WithoutCancel(c.Request().Context())
	edited, err := a.Tenants.Edit(ctx, actor(c), core.TenantID(id), tenant.Edit{
		Name: in.optionalText("name"), Email: in.optionalText("email"), PlanID: in.optionalInteger("plan_id"),
		BillingCycle: in.optionalText("billing_cycle"), PaymentMethod: in.optionalText("payment_method"),
		Status: in.optionalText("status"), TimeZone: in.optionalText("timezone"), Currency: in.optionalText("currency"),
		Country: in.optionalText("country"), Malformed: in.unreadable,
		If: ifMatch(c, func(stored tenant.Tenant) any { return newTenantResource(stored) }),
	})
	if err != nil {
		return err
	}
	return writeData(c, http.StatusOK, newTenantResource(edited))
}
