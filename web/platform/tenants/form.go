package tenants

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	views "example.com/loyalty/views/platform/tenants"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// The choices of the form.
var (
	countries      = forms.Countries()
	cycles         = []ui.Option{{Value: string(tenant.Monthly), Label: "Monthly"}, {Value: string(tenant.Yearly), Label: "Yearly"}}
	paymentMethods = []ui.Option{
		{Value: string(tenant.Manual), Label: "Manual"},
		{Value: string(tenant.BankTransfer), Label: "Bank transfer"},
		{Value: string(tenant.Card), Label: "Card"},
		{Value: string(tenant.Stripe), Label: "Stripe"},
		{Value: string(tenant.PayPal), Label: "PayPal"},
	}
)

func (h *Handlers) newTenant(c echo.Context) error {
	form := forms.Blank(map[string]string{"billing_cycle": string(tenant.Monthly), "payment_method": string(tenant.Manual)})
	return h.tenantAddForm(c, http.StatusOK, form)
}

func (h *Handlers) tenantAddForm(c echo.Context, status int, form *forms.Form) error {
	v := views.TenantForm{
		Frame: h.Frame(c, "Add tenant", links.Tenants, tenantCrumb()), Action: links.Tenants + "/new", Cancel: links.Tenants, Button: "Add tenant", FormKey: h.NewFormKey(),
	}
	return h.tenantForm(c, status, form, v, 0, "")
}

// tenantForm shows the form of a tenant. An existing one may keep its plan and its currency, even a
// retired or withdrawn one.
func (h *Handlers) tenantForm(c echo.Context, status int, form *forms.Form, v views.TenantForm, currentPlan int64, storedCurrency string) error {
	plans, err := h.Invoices.Plans(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	v.Name = form.Field("name", ui.Field{Label: "Name"})
	v.Name.Autocomplete, v.Name.MaxLength, v.Name.Help = "off", 100, "As customers know the business"
	if v.Host == "" {
		if v.Slug, v.Proposed, err = h.slugField(c, form); err != nil {
			return err
		}
		v.Name.Attributes = map[string]any{
			"hx-get": links.TenantAddress, "hx-trigger": "input changed delay:300ms", "hx-include": "#address input", "hx-target": "#address", "hx-swap": "outerHTML",
		}
	}
	v.Email = form.Field("email", ui.Field{Label: "Owner’s e-mail"})
	v.Email.Type, v.Email.Autocomplete, v.Email.MaxLength = "email", "off", 255
	v.Plan, v.Cycle, v.Payment = form.Field("plan_id", ui.Field{Label: "Plan"}), form.Field("billing_cycle", ui.Field{Label: "Billed"}), form.Field("payment_method", ui.Field{Label: "Payment method"})
	v.Country, v.Currency, v.TimeZone = form.Field("country", ui.Field{Label: "Country"}), form.Field("currency", ui.Field{Label: "Currency"}), form.Field("timezone", ui.Field{Label: "Time zone"})
	v.Problem = form.Problem()
	if currentPlan == 0 {
		v.Email.Help = "Gets the invitation and the invoices"
		v.Plan.Options = []ui.Option{{Label: "Choose a plan"}}
		v.Currency.Options = []ui.Option{{Label: "As in the country"}}
		v.TimeZone.Options = form.Options("timezone", ui.Option{Label: "As in the country"})
	} else {
		v.Email.Help = "Gets the invoices. The owner's sign-in doesn't change"
		v.Plan.Help = "Changes are prorated; unused days are credited"
	}
	for _, plan := range plans {
		if plan.Retired && plan.ID != currentPlan {
			continue
		}
		v.Plan.Options = append(v.Plan.Options, ui.Option{Value: strconv.FormatInt(plan.ID, 10), Label: planLabel(plan)})
	}
	v.Plan.Options = form.Options("plan_id", v.Plan.Options...)
	v.Cycle.Options = form.Options("billing_cycle", slices.Clone(cycles)...)
	v.Payment.Options = form.Options("payment_method", slices.Clone(paymentMethods)...)
	v.Country.Options = form.Options("country", slices.Clone(countries)...)
	v.Country.Help = "For phone numbers without a country code"
	if currentPlan == 0 {
		v.Country.Help = "Sets currency and time zone, and how phone numbers are read"
	}
	if currentPlan == 0 {
		forms.ProposeByCountry(v.Country.Options)
	}
	v.Currency.Options = form.Options("currency", append(v.Currency.Options, forms.Currencies(storedCurrency)...)...)
	v.Currency.Help = "For its sales. The plan has its own"
	v.TimeZone.Groups = forms.ZoneGroups(v.TimeZone.Value)
	return h.Render(c, status, views.TenantFormPage(v), nil)
}

const (
	proposedField = "proposed"
)

// slugField is the field of a new tenant's address. Unless the person has entered one, it has a proposal made of the
// name.
func (h *Handlers) slugField(c echo.Context, form *forms.Form) (slug ui.Field, proposed string, err error) {
	proposed = form.Value(proposedField)
	if name := form.Value("name"); name != "" && (form.Value("slug") == "" || form.Value("slug") == proposed) {
		if proposed, err = h.Tenants.ProposeSlug(c.Request().Context(), page.Actor(c), name); err != nil {
			return slug, proposed, err
		}
		form.Values.Set("slug", proposed)
	}
	slug = form.Field("slug", ui.Field{Label: "Address"})
	slug.Autocomplete, slug.MaxLength = "off", 40
	host := h.Names.TenantHost("name")
	slug.After, slug.Placeholder = host[len("name"):], "cafe-aro"
	slug.Help = "3–40 of a–z, 0–9 and hyphens. Can't be changed later"
	slug.Attributes = map[string]any{"autocapitalize": "none", "spellcheck": "false"}
	return slug, proposed, nil
}

// proposeAddress answers with the field of the address while the name is typed, or with 204 if the person has
// entered one.
func (h *Handlers) proposeAddress(c echo.Context) error {
	if !page.IsFragment(c) {
		return h.Redirect(c, links.Tenants+"/new")
	}
	form := forms.Query(c.QueryParams())
	if entered := form.Value("slug"); entered != "" && entered != form.Value(proposedField) {
		return c.NoContent(http.StatusNoContent)
	}
	form.Values.Del("slug")
	slug, proposed, err := h.slugField(c, form)
	if err != nil {
		return err
	}
	field := views.TenantAddress(slug, proposed)
	return h.Render(c, http.StatusOK, field, field)
}

// planLabel is a plan with its prices.
func planLabel(plan billing.Plan) string {
	label := plan.Name + ": " + format.Money(plan.MonthlyCents, plan.Currency) + " a month, " + format.Money(plan.YearlyCents, plan.Currency) + " a year"
	if plan.MonthlyCents == 0 && plan.YearlyCents == 0 {
		label = plan.Name + ": no charge"
	}
	if plan.Retired {
		label += " (retired)"
	}
	return label
}

func (h *Handlers) addTenant(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[tenant.Tenant]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (tenant.Tenant, error) {
			n := tenant.New{
				Name: form.Text("name"), Slug: form.Text("slug"), Email: form.Text("email"), PlanID: form.Integer("plan_id"),
				BillingCycle: form.Text("billing_cycle"), PaymentMethod: form.Text("payment_method"), Country: form.Filled("country"),
			}
			form.Require("country")
			region := tenant.RegionOf(form.Value("country"))
			n.Currency, n.TimeZone = cmp.Or(form.Filled("currency"), &region.Currency), cmp.Or(form.Filled("timezone"), &region.TimeZone)
			n.Malformed = form.Malformed
			return h.Tenants.Create(ctx, by, n)
		},
		Refused: func(status int, form *forms.Form) error { return h.tenantAddForm(c, status, form) },
		To:      func(t tenant.Tenant) string { return links.Tenant(t.ID) }, Once: true,
		Done: func(t tenant.Tenant) string {
			return t.Name + " was added. The invitation is being e-mailed to " + t.Email + "."
		},
	})
}

func (h *Handlers) showTenantForm(c echo.Context, d tenant.Detail) error {
	return h.tenantEditForm(c, http.StatusOK, d, forms.Blank(map[string]string{
		"name": d.Name, "email": d.Email, "plan_id": strconv.FormatInt(d.PlanID, 10), "billing_cycle": string(d.BillingCycle),
		"payment_method": string(d.PaymentMethod), "country": core.OrZero(d.Country), "currency": d.Currency, "timezone": d.TimeZone,
	}))
}

func (h *Handlers) tenantEditForm(c echo.Context, status int, d tenant.Detail, form *forms.Form) error {
	path := links.Tenant(d.ID)
	v := views.TenantForm{
		Frame:  h.Frame(c, "Edit "+d.Name, links.Tenants, tenantCrumb(), ui.Crumb{Label: d.Name, Path: path}),
		Action: path + "/edit", Cancel: path, Button: "Save tenant", Host: h.Names.TenantHost(d.Slug), Original: form.Original(),
	}
	return h.tenantForm(c, status, form, v, d.PlanID, d.Currency)
}

func (h *Handlers) editTenant(c echo.Context, d tenant.Detail) error {
	var change *tenant.CurrencyChangeError
	return page.Submit(h.Kit, c, page.Submission[tenant.Tenant]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (tenant.Tenant, error) {
			changed := func(name string) core.Optional[string] {
				return core.Optional[string]{Set: form.Values.Has(name) && form.Changed(name), Value: form.Filled(name)}
			}
			e := tenant.Edit{
				Name: changed("name"), Email: changed("email"), BillingCycle: changed("billing_cycle"), PaymentMethod: changed("payment_method"),
				Country: changed("country"), Currency: changed("currency"), TimeZone: changed("timezone"),
			}
			if form.Values.Has("plan_id") && form.Changed("plan_id") {
				e.PlanID = core.Optional[int64]{Set: true, Value: form.Integer("plan_id")}
			}
			e.Malformed = form.Malformed
			// A new country parses every phone number again, which takes a while. It completes even if
			// the browser leaves.
			e.Confirmed = new(form.Value(forms.ConfirmedCurrency))
			edited, err := h.Tenants.Edit(context.WithoutCancel(ctx), by, d.ID, e)
			return edited, forms.CurrencyChange(err, &change)
		},
		Refused: func(status int, form *forms.Form) error {
			if change != nil {
				path := links.Tenant(d.ID)
				return h.Render(c, http.StatusOK, panelviews.CurrencyConfirmPage(panelviews.CurrencyConfirm{
					Frame:           h.Frame(c, "Change currency to "+change.To+"?", links.Tenants, tenantCrumb(), ui.Crumb{Label: d.Name, Path: path}),
					ConfirmCurrency: forms.ConfirmCurrency(change, form, path+"/edit", path+"/edit"),
				}), nil)
			}
			return h.tenantEditForm(c, status, d, form)
		},
		To:   page.To[tenant.Tenant](links.Tenant(d.ID)),
		Done: func(t tenant.Tenant) string { return t.Name + " was saved." },
	})
}
