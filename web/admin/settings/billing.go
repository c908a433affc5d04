package settings

import (
	"context"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/usage"
	views "example.com/loyalty/views/admin/settings"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/invoice"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) billingRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Billing, route.Owners, h.showBilling),
		route.Post(links.Billing, route.Owners, h.editBillingDetails),
		route.Get(links.Billing+"/invoices/:id", route.Owners, h.downloadInvoice),
	}
}

func (h *Handlers) showBilling(c echo.Context) error { return h.billingPage(c, http.StatusOK, nil) }

// billingPage shows the plan, its usage, the invoices and the billing details. form is the details
// form if it was refused, else nil.
func (h *Handlers) billingPage(c echo.Context, status int, form *forms.Form) error {
	ctx, by := c.Request().Context(), page.Actor(c)
	account, err := h.Billing.Account(ctx, by)
	if err != nil {
		return err
	}
	uses, err := h.Usage.Uses(ctx, by)
	if err != nil {
		return err
	}
	list, err := h.Billing.ListOwn(ctx, by, forms.Position(c.QueryParams()))
	if err != nil {
		return err
	}
	details := account.Details
	if form == nil {
		form = forms.Blank(map[string]string{"name": details.Name, "address": details.Address, "tax_number": details.TaxNumber})
	}
	v := views.Billing{
		Settings: h.Settings(c, "Billing", links.Billing), Plan: account.Name, Price: priceText(account), Contact: account.Contact,
		Payment: "Payment method: " + paymentMethods[account.PaymentMethod] + ".", Next: nextInvoice(account), Email: details.Email,
		Name: form.Field("name", ui.Field{Label: "Legal name"}), Address: form.Field("address", ui.Field{Label: "Address"}), TaxNumber: form.Field("tax_number", ui.Field{Label: "Tax number"}),
		Pager: page.Pager(list, c.Request().URL, "invoice", "invoices", ""),
		Began: form.Original(),
	}
	v.Problem = form.Problem()
	v.Name.Optional, v.Name.Autocomplete, v.Name.Help = true, "organization", "Leave empty to use your business name"
	v.Address.Optional, v.Address.Rows = true, 4
	v.TaxNumber.Optional, v.TaxNumber.Help = true, "Shown on your invoices"
	for _, u := range uses {
		v.Uses = append(v.Uses, planUse(u))
	}
	for _, i := range list.Items {
		v.Invoices = append(v.Invoices, invoiceRow(i))
	}
	return h.Render(c, status, views.BillingPage(v), nil)
}

// paymentMethods are labels only: none of them charges anything.
var paymentMethods = map[string]string{
	"manual": "Manual", "bank_transfer": "Bank transfer", "card": "Card", "stripe": "Stripe", "paypal": "PayPal",
}

// planPrice returns the price of a billing cycle, and its unit: " a month".
func planPrice(account billing.Account) (cents int64, per string) {
	if account.BillingCycle == billing.Yearly {
		return account.YearlyCents, " a year"
	}
	return account.MonthlyCents, " a month"
}

// priceText is "€ 49.00 a month, plus 25.5% VAT".
func priceText(account billing.Account) string {
	price, per := planPrice(account)
	if price == 0 {
		return "No charge"
	}
	text := format.Money(price, account.Currency) + per
	if account.TaxRate > 0 {
		text += ", " + taxText(account)
	}
	return text
}

// taxText is "plus 25.5% VAT".
func taxText(account billing.Account) string {
	return "plus " + forms.Rate(account.TaxRate) + "% " + account.TaxName
}

// nextInvoice describes the next invoice; nil: there will be none.
func nextInvoice(account billing.Account) *views.NextInvoice {
	if account.NextInvoiceOn == nil {
		return nil
	}
	plan := account.Plan
	v := &views.NextInvoice{On: account.NextInvoiceOn.Format("2 Jan 2006"), Amount: format.Money(account.NextCents, plan.Currency)}
	if account.TaxRate > 0 {
		v.Tax = taxText(account)
	}
	if account.WaitingCents != 0 {
		price, _ := planPrice(account)
		v.Items = []ui.Pair{{Name: plan.Name, Value: format.Money(price, plan.Currency)}, {Name: "Plan change, prorated", Value: format.Money(account.WaitingCents, plan.Currency)}}
	}
	return v
}

func planUse(u usage.Use) views.PlanUse {
	words := panel.PlanLimits[u.Kind]
	v := views.PlanUse{Label: words.Label, Used: strconv.FormatInt(u.Used, 10), Numbers: format.Number(u.Used) + ", no limit"}
	if u.Limit == nil {
		return v
	}
	v.Limit, v.Numbers = strconv.FormatInt(max(*u.Limit, 1), 10), format.Number(u.Used)+" of "+format.Number(*u.Limit)
	switch {
	case u.LimitReached():
		v.State, v.Advice = "reached", words.Reached+" "+words.Advice
		v.Used = v.Limit
	case u.NearLimit():
		v.State, v.Advice = "near", words.Advice
	}
	return v
}

var invoiceStates = map[billing.Status]ui.Badge{
	billing.Issued: {Label: "Open", Tone: ui.Info}, billing.Paid: {Label: "Paid", Tone: ui.Good},
	billing.Overdue: {Label: "Overdue", Tone: ui.Bad}, billing.Void: {Label: "Void", Tone: ui.Neutral},
}

func invoiceRow(i billing.Invoice) views.InvoiceRow {
	row := views.InvoiceRow{
		Name: i.Name(), Period: format.Days(i.PeriodStart, i.PeriodEnd), Total: format.Money(i.TotalCents, i.Currency), Status: invoiceStates[i.Status],
		Path: links.Billing + "/invoices/" + strconv.FormatInt(i.ID, 10),
	}
	if i.IssuedAt != nil {
		row.Issued, row.Due = format.Date(*i.IssuedAt, i.Zone()), format.Date(*i.DueAt, i.Zone())
	}
	return row
}

func (h *Handlers) editBillingDetails(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[billing.Account]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (billing.Account, error) {
			name := form.Text("name")
			if form.Value("name") == by.Tenant.Name {
				name = nil // shown where no legal name is stored: it must follow the business's name
			}
			return h.Billing.EditDetails(ctx, by, billing.DetailsInput{Name: name, Address: form.Text("address"), TaxNumber: form.Text("tax_number")})
		},
		Refused: func(status int, form *forms.Form) error { return h.billingPage(c, status, form) },
		To:      page.To[billing.Account](links.Billing),
		Done:    func(billing.Account) string { return "Billing details saved." },
	})
}

// downloadInvoice answers with the PDF. It is rendered completely first, so that a failure can
// still be answered with an error page.
func (h *Handlers) downloadInvoice(c echo.Context) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	found, err := h.Billing.FindOwn(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	return invoice.Download(c, found)
}
