package admin

import (
	"bytes"
	"mime"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/usage"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/invoice"
	"example.com/loyalty/web/page"
)

const billingPath = settingsPath + "/billing"

func (a *Admin) billingRoutes() []route {
	return []route{
		{method: get, path: billingPath, least: core.Owner, handle: a.showBilling},
		{method: post, path: billingPath, least: core.Owner, handle: a.editBillingDetails},
		{method: get, path: billingPath + "/invoices/:id", least: core.Owner, handle: a.downloadInvoice},
	}
}

func (a *Admin) showBilling(c echo.Context) error { return a.billingPage(c, http.StatusOK, nil) }

// billingPage makes four round trips: the session, the account, what is used, the invoices.
func (a *Admin) billingPage(c echo.Context, status int, form *page.Form) error {
	ctx, by := c.Request().Context(), page.Actor(c)
	account, err := a.Billing.Account(ctx, by)
	if err != nil {
		return err
	}
	uses, err := a.Usage.Uses(ctx, by)
	if err != nil {
		return err
	}
	list, err := a.Billing.ListOwn(ctx, by, page.Position(c.QueryParams()))
	if err != nil {
		return err
	}
	if form == nil {
		form = page.Blank(map[string]string{"name": account.Details.Name, "address": account.Details.Address, "tax_number": account.Details.TaxNumber})
	}
	v := views.Billing{
		Settings: a.settings(c, "Billing", billingPath), Plan: account.Plan.Name, Price: priceInWords(account), Contact: account.Contact,
		Payment: "Payment method: " + paymentMethods[account.PaymentMethod] + ".", Next: nextInvoice(account), Email: account.Details.Email,
		Name: form.Field("name", "Legal name"), Address: form.Field("address", "Address"), TaxNumber: form.Field("tax_number", "Tax number"),
		Pager: page.Pager(list, c.Request().URL, page.Count(int64(len(list.Items)), "invoice on this page", "invoices on this page"), ""),
		Began: form.Began(),
	}
	v.Problem = form.Problem()
	v.Name.Optional, v.Name.Autocomplete, v.Name.Help = true, "organization", "Leave empty to use the name of the business"
	v.Address.Optional, v.Address.Rows = true, 4
	v.TaxNumber.Optional, v.TaxNumber.Help = true, "Shown on your invoices"
	for _, u := range uses {
		v.Uses = append(v.Uses, planUse(u))
	}
	for _, i := range list.Items {
		v.Invoices = append(v.Invoices, invoiceRow(i))
	}
	return a.Render(c, status, views.BillingPage(v), nil)
}

// paymentMethods are names: nothing is charged by any of them.
var paymentMethods = map[string]string{
	"manual": "By hand", "bank_transfer": "Bank transfer", "card": "Card", "stripe": "Stripe", "paypal": "PayPal",
}

func priceInWords(account billing.Account) string {
	price, per := account.Plan.MonthlyCents, " a month"
	if account.BillingCycle == billing.Yearly {
		price, per = account.Plan.YearlyCents, " a year"
	}
	if price == 0 {
		return "Free"
	}
	words := page.Money(price, account.Plan.Currency) + per
	if account.TaxRate > 0 {
		words += ", plus " + taxInWords(account)
	}
	return words
}

// taxInWords is "25.5% VAT".
func taxInWords(account billing.Account) string {
	return strconv.FormatFloat(float64(account.TaxRate)/100, 'f', -1, 64) + "% " + account.TaxName
}

// nextInvoice is what is billed next; nil: nothing. The day is one of the tenant's zone.
func nextInvoice(account billing.Account) *views.NextInvoice {
	if account.NextInvoiceOn == nil {
		return nil
	}
	currency := account.Plan.Currency
	v := &views.NextInvoice{On: account.NextInvoiceOn.Format("2 Jan 2006"), Amount: page.Money(account.NextCents, currency)}
	if account.TaxRate > 0 {
		v.Tax = "plus " + taxInWords(account)
	}
	if account.WaitingCents != 0 {
		price := account.Plan.MonthlyCents
		if account.BillingCycle == billing.Yearly {
			price = account.Plan.YearlyCents
		}
		v.Items = []ui.Pair{{Name: account.Plan.Name, Value: page.Money(price, currency)}, {Name: "Change of plan, prorated", Value: page.Money(account.WaitingCents, currency)}}
	}
	return v
}

// limits are what plans limit, in words.
var limits = map[usage.Kind]struct{ label, one, many, advice, reached string }{
	usage.Customers: {
		"Active customers", "active customer", "active customers", "Deactivate customers who don't come any more, or ask for a larger plan.",
		"No customer can be added. Sales go on as before.",
	},
	usage.Staff: {"People", "person", "people", "Deactivate someone, or ask for a larger plan.", "No one else can be invited."},
	usage.Sends: {
		"Coupon sends this month", "coupon send a month", "coupon sends a month", "Wait for next month, or ask for a larger plan.",
		"No coupon can be sent before next month.",
	},
}

func planUse(u usage.Use) views.PlanUse {
	words := limits[u.Kind]
	v := views.PlanUse{Label: words.label, Used: strconv.FormatInt(u.Used, 10), Numbers: page.Number(u.Used) + ", no limit"}
	if u.Limit == nil {
		return v
	}
	v.Limit, v.Numbers = strconv.FormatInt(max(*u.Limit, 1), 10), page.Number(u.Used)+" of "+page.Number(*u.Limit)
	switch {
	case u.LimitReached():
		v.State, v.Advice = "reached", words.reached+" "+words.advice
		v.Used = v.Limit
	case u.NearLimit():
		v.State, v.Advice = "near", words.advice
	}
	return v
}

var invoiceStates = map[billing.Status]ui.Badge{
	billing.Issued: {Label: "Open", Tone: ui.Info}, billing.Paid: {Label: "Paid", Tone: ui.Good},
	billing.Overdue: {Label: "Overdue", Tone: ui.Bad}, billing.Void: {Label: "Void", Tone: ui.Neutral},
}

func invoiceRow(i billing.Invoice) views.InvoiceRow {
	row := views.InvoiceRow{
		Name: i.Name(), Period: i.Period(), Total: page.Money(i.TotalCents, i.Currency), Status: invoiceStates[i.Status],
		Path: billingPath + "/invoices/" + strconv.FormatInt(i.ID, 10),
	}
	if i.IssuedAt != nil {
		row.Issued, row.Due = page.Date(*i.IssuedAt, i.Zone()), page.Date(*i.DueAt, i.Zone())
	}
	return row
}

func (a *Admin) editBillingDetails(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	by, name := page.Actor(c), form.Text("name")
	if form.Value("name") == by.Tenant.Name {
		name = nil // as the form began without one: it is to follow the name of the business
	}
	_, err = a.Billing.EditDetails(c.Request().Context(), by, billing.DetailsInput{
		Name: name, Address: form.Text("address"), TaxNumber: form.Text("tax_number"),
	})
	if form.Refused(err) {
		return a.billingPage(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "Billing details saved.")
	return a.Redirect(c, billingPath)
}

// downloadInvoice answers with the PDF. It is written as a whole before it is sent, so that
// what goes wrong is answered as an error.
func (a *Admin) downloadInvoice(c echo.Context) error {
	id, err := number(c)
	if err != nil {
		return err
	}
	found, err := a.Billing.FindOwn(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := invoice.PDF(found, &file); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": "invoice-" + found.Name() + ".pdf"}))
	return c.Blob(http.StatusOK, "application/pdf", file.Bytes())
}

// planNotices warn owners and managers of the limits of the plan that are near or reached,
// before they stop something. No round trip where they were counted within the last minute.
func (a *Admin) planNotices(c echo.Context, kinds ...usage.Kind) (notices []views.PlanNotice, err error) {
	by := page.Actor(c)
	if !by.Role.Includes(core.Manager) {
		return notices, nil
	}
	uses, err := a.Usage.Warnings(c.Request().Context(), by)
	if err != nil {
		return notices, err
	}
	for _, u := range uses {
		if !slices.Contains(kinds, u.Kind) {
			continue
		}
		words := limits[u.Kind]
		n := views.PlanNotice{Words: "Your plan allows " + page.Count(*u.Limit, words.one, words.many) + ", and you have used " + page.Number(u.Used) + "."}
		if u.LimitReached() {
			n.Reached, n.Words = true, n.Words+" "+words.reached
		}
		if by.Role.Includes(core.Owner) {
			n.Path = billingPath
		} else {
			n.Words += " An owner can see about a larger plan."
		}
		notices = append(notices, n)
	}
	return notices, nil
}
