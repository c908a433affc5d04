package main

import (
	"cmp"
	"fmt"
	"net/http"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/web/browsertest"
)

// invited returns a tab in which the owner of a new business has accepted their invitation.
func (c cafe) invited(t *testing.T, slug, name string) *browsertest.Page {
	t.Helper()
	p := c.invitation(t, slug, name)
	accept(p)
	return p
}

func accept(p *browsertest.Page) {
	p.Fill("name", "Ida Lund")
	p.Fill("password", "a shelf of old maps")
	p.Click("main form [type=submit]")
	p.WaitFor(".setup-steps")
}

// invitation adds a business and returns a tab that shows the invitation of its owner.
func (c cafe) invitation(t *testing.T, slug, name string) *browsertest.Page {
	t.Helper()
	platform := c.in.sandbox(t).Platform
	c.expect(t, http.StatusCreated, "POST", "/api/v1/platform/tenants", platform.Token, fmt.Sprintf(
		`{"name":%q,"slug":%q,"email":"%s@example.com","plan_id":%d,"billing_cycle":%q,"payment_method":%q}`,
		name, slug, slug, platform.TenantCreate.PlanID, platform.TenantCreate.BillingCycle, platform.TenantCreate.PaymentMethod))
	d := connect(t, c.in.url())
	await(t, "the invitation is delivered", func() bool {
		return ask[int](d, "select count(*) from loyalty.mail where status = 'kept' and recipient = $1", slug+"@example.com") == 1
	})
	p := c.browser.NewPage(t, c.address(slug))
	c.mail(t, p.Open)
	// The list's first page may have newer e-mails only: other tests send coupons to all customers.
	p.Open(c.in.base + "/mail/" + ask[core.ID](d, "select id from loyalty.mail where recipient = $1", slug+"@example.com").String())
	p.Open(p.Text(".plain a[href*=invitation]"))
	return p
}

// "Setting one up guides its owner through country, currency and time zone (locked at the
// first sale), the earning rule, a first reward, a first customer, a first sale".
func testSetup(t *testing.T, c cafe) {
	p := c.invited(t, "lund", "Blommor Lund")
	save := func(step string) {
		t.Helper()
		look(t, p, "setup-"+step, nil)
		p.Click("#setup-form .btn-primary")
	}
	p.Click("#setup-form .btn-primary")
	p.WaitFor("#field-country-error") // phone numbers are read by it
	p.Fill("country", "SE")
	if got := evaluate[string](p, `["currency", "timezone"].map((name) => document.getElementsByName(name)[0].value).join(" ")`); got != "SEK Europe/Stockholm" {
		t.Errorf("Sweden proposes %s", got)
	}
	save("business")

	p.Fill("points_per_unit", "2")
	p.WaitForText("#setup-example", "+28 ") // the example follows what is typed
	save("rule")

	p.Fill("name", "Tulips")
	p.Fill("points_cost", "75")
	p.Fill("usual_sale", "9")
	p.Fill("cost_cents", "1.50")
	p.WaitForText("#setup-example", "3.3%")
	save("reward")

	p.Fill("phone", "074-333 44 55")
	save("customer")

	p.Fill("spend_amount_cents", "12.50")
	p.WaitForText("#setup-example", "+24 ")
	save("sale")

	p.WaitFor(".setup-award")
	look(t, p, "setup-recorded", nil)
	p.Click(".setup-next a.btn-primary")
	p.WaitFor(".setup-links")
	look(t, p, "setup-done", nil)
	p.Click(".setup-next a.btn-primary")
	p.WaitFor(".dashboard")

	look(t, p, "billing", func() { p.Open("/admin/settings/billing") })
}

// The guide works without scripts, and leaving it keeps what was saved.
func testSetupWithoutJavaScript(t *testing.T, c cafe) {
	p := c.invited(t, "ekbo", "Snickeri Ekbo")
	p.DisableScripts()
	p.Open("/admin/setup/rule")
	p.Fill("points_per_unit", "3")
	p.Click("noscript button")
	p.WaitForText("#setup-example", "+42 ")
	p.Click("#setup-form .btn-primary")
	p.WaitFor("[name=points_cost]")
	p.Click("[form=setup-skip]")
	p.WaitFor(`main a.btn-primary[href="/admin/setup/business"]`) // a customer needs the country
	p.Open("/admin")
	p.WaitFor(".setup-banner " + linkTo("/admin/setup/business"))
}

// Skipped steps are listed at the end of the guide.
func testSetupSkipped(t *testing.T, c cafe) {
	p := c.invited(t, "norra", "Norra Bageriet")
	p.Fill("country", "SE")
	p.Click("#setup-form .btn-primary")
	for _, step := range []string{"rule", "reward"} {
		p.WaitFor("#setup-form[action$='" + step + "']")
		if step == "rule" {
			p.Click("#setup-form .btn-primary")
			continue
		}
		p.Click("[form=setup-skip]")
	}
	p.WaitFor("#setup-form[action$='customer']")
	p.Fill("phone", "074-333 44 55")
	p.Click("#setup-form .btn-primary")
	p.WaitFor("#setup-form[action$='sale']")
	p.Click("[form=setup-skip]")
	p.WaitForText(".setup-main", "2 steps left")
	look(t, p, "setup-left", nil)
	p.Click(".setup-links " + linkTo("/admin/setup/reward"))
	p.WaitFor("[name=points_cost]")
}

// A country in which two customers would have the same number leads to both of them, and to merging them.
func testCountryConflict(t *testing.T, c cafe) {
	p := c.invited(t, "dahlia", "Dahlia")
	s := c.sender(t, func(d *db.DB) core.Actor {
		business, err := tenant.BySlug(t.Context(), d, "dahlia")
		if err != nil {
			t.Fatal(err)
		}
		return core.System(business, "test")
	})
	kept := s.customer(t, "Gustavo", "070-174 06 05")
	s.customer(t, "Gustav", "+46 70 174 06 05")
	for name, path := range map[string]string{"country-conflict": "/admin/settings/business", "setup-country-conflict": "/admin/setup/business"} {
		p.Open(path)
		p.Fill("country", "SE")
		p.Click(cmp.Or(map[string]string{"/admin/setup/business": "#setup-form .btn-primary"}[path], submitOf(path)))
		p.WaitFor("#phone-conflicts")
		p.Faults() // the browser's own, of a request that was refused
		look(t, p, name, nil)
	}
	p.Click("#phone-conflicts .btn")
	p.Click(submitOf("/" + kept.ID.String() + "/merge"))
	p.WaitFor(done)
	p.Open("/admin/settings/business")
	p.Fill("country", "SE")
	p.Click(submitOf("/admin/settings/business"))
	p.WaitFor(done)
}

// A new currency lists the amounts that the owner entered before it is saved, and converts them.
func testCurrencyChange(t *testing.T, c cafe) {
	p := c.invited(t, "nour", "Nour Café")
	p.Fill("country", "KW")
	p.Fill("currency", "USD")
	p.Click("#setup-form .btn-primary")
	p.WaitFor("[name=points_per_unit]")
	p.Fill("points_per_unit", "1")
	p.Click("#setup-form .btn-primary")
	p.WaitFor("[name=points_cost]")
	p.Fill("name", "Cardamom coffee and a date cake of the day")
	p.Fill("points_cost", "75")
	p.Fill("cost_cents", "1.50")
	p.Click("#setup-form .btn-primary")
	p.WaitFor("[name=phone]")
	const settings = "/admin/settings/business"
	p.Open(settings)
	p.Fill("confirm_above_cents", "250")
	p.Click(submitOf(settings))
	p.WaitFor(done)
	p.Fill("currency", "KWD")
	p.Click(submitOf(settings))
	p.WaitForText("#currency-change", "1 point for every KWD 1.000")
	look(t, p, "currency-change", nil)
	p.Click("#currency-change .btn-primary")
	p.WaitFor(done)
	if got := evaluate[string](p, `["currency", "confirm_above_cents"].map((name) => document.getElementsByName(name)[0].value).join(" ")`); got != "KWD 250.000" {
		t.Errorf("saved: %s", got)
	}
}
