package tenants

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	views "example.com/loyalty/views/platform/tenants"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// makingTime is the longest time that making a test business may take.
const makingTime = 2 * time.Minute

func (h *Handlers) askTestBusiness(c echo.Context) error {
	return h.confirmTestBusiness(c, http.StatusOK, &forms.Form{})
}

func (h *Handlers) confirmTestBusiness(c echo.Context, status int, form *forms.Form) error {
	return h.Confirm(c, status, panelviews.Confirm{
		Frame: h.Frame(c, "New test business", links.Tenants, tenantCrumb()),
		Confirm: ui.Confirm{
			Action: links.NewTestBusiness, Button: "Create test business", Cancel: links.Tenants, Problem: form.Problem(),
			Words: []string{
				"For developers who connect a program: a business with customers, rewards, coupons and vouchers in every state, sign-ins and API tokens.",
				"It isn't billed, and its customers are made up. Creating it takes some seconds.",
			},
			Hidden: []ui.Pair{{Name: page.FormKey, Value: h.NewFormKey()}},
		},
	})
}

// makeTestBusiness shows passwords and tokens in its own response, without a redirect: they aren't stored.
func (h *Handlers) makeTestBusiness(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	// It is completed even if the browser leaves.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), makingTime)
	defer cancel()
	once := page.Once(c, form, func(t core.Tenant) string { return links.Tenant(t.ID) })
	reply, made, err := h.Sandbox.MakeBusiness(ctx, page.Actor(c), once)
	to, again := page.ReplayedPath(reply)
	switch {
	case again:
		h.Flash(c, ui.Warning, "Already submitted. If you don't have its passwords and tokens, suspend it and create another.")
		return h.Redirect(c, to)
	case form.Refused(err):
		return h.confirmTestBusiness(c, http.StatusUnprocessableEntity, form)
	case err != nil:
		return err
	}
	return h.Render(c, http.StatusOK, views.TestBusinessPage(views.TestBusiness{
		Frame: h.Frame(c, made.Tenant().Name+" was created", links.Tenants, tenantCrumb()), Made: made, Docs: "/docs/quickstart",
	}), nil)
}
