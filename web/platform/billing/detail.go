package billing

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/platform/billing"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/invoice"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

func (h *Handlers) findInvoice(c echo.Context) (billing.Invoice, error) {
	id, err := panel.PathNumber(c)
	if err != nil {
		return billing.Invoice{}, err
	}
	return h.Invoices.Find(c.Request().Context(), page.Actor(c), id)
}

const longDate = "2 January 2006"

func (h *Handlers) showInvoice(c echo.Context, i billing.Invoice) error {
	tenantID := int64(i.TenantID)
	counts, err := h.Invoices.Counts(c.Request().Context(), page.Actor(c), billing.Filter{TenantID: &tenantID})
	if err != nil {
		return err
	}
	now, path, money := h.Now(), links.Invoice(i.ID), func(cents int64) string { return format.Money(cents, i.Currency) }
	v := views.Invoice{
		Frame:  h.Frame(c, invoiceTitle(i), links.Invoices, ui.Crumb{Label: "Invoices", Path: links.Invoices}),
		Amount: money(i.TotalCents), Void: i.Status == billing.Void,
		To: invoiceParty("Billed to", i.Recipient, i.TaxName), From: invoiceParty("From", i.Issuer, i.TaxName),
		Subtotal: money(i.AmountCents), TaxLabel: i.TaxName + " " + invoice.Rate(i.TaxRate), Tax: money(i.TaxCents), Total: money(i.TotalCents),
		PaymentText: i.PaymentText, Steps: invoiceSteps(i, now), StepsZone: strings.ReplaceAll(i.Zone().String(), "_", " "),
		Tenant: i.TenantName, TenantPath: links.Tenant(i.TenantID), TenantHost: h.Names.TenantHost(i.TenantSlug),
		TenantOthers: page.WithQuery(links.Invoices, "tenant", strconv.FormatInt(tenantID, 10)),
		PDF:          path + "/pdf",
	}
	v.Badge = new(panel.InvoiceBadge(i, now))
	v.AmountLabel, v.AmountNote = amountDue(i)
	if i.IssuedAt != nil && i.DueAt != nil {
		v.Facts = []ui.Pair{
			{Name: "Number", Value: i.Name()},
			{Name: "Issued", Value: i.IssuedAt.In(i.Zone()).Format(longDate)},
			{Name: "Due", Value: i.DueAt.In(i.Zone()).Format(longDate)},
		}
	}
	v.Facts = append(v.Facts, ui.Pair{Name: "Period", Value: i.Period()})
	for _, l := range i.Lines {
		v.Lines = append(v.Lines, views.InvoiceLine{
			Description: l.Description, Quantity: format.Number(l.Quantity), Price: money(l.UnitCents), Amount: money(l.AmountCents),
		})
	}
	for _, t := range invoiceTotals(counts) {
		v.TenantFacts = append(v.TenantFacts, ui.Pair{Name: t.Label, Value: strings.Join(t.Amounts, ", ")})
	}
	switch i.Status {
	case billing.Draft:
		v.NoIssuer = i.Issuer.Name == "" || i.Issuer.Address == ""
		v.Cancel = path + "/void"
		if !v.NoIssuer {
			v.Issue = path + "/issue"
		}
	case billing.Issued, billing.Overdue:
		v.Pay, v.Send, v.Cancel = path+"/pay", path+"/send", path+"/void"
	case billing.Paid:
		v.Send = path + "/send"
	case billing.Void:
	}
	return h.Render(c, http.StatusOK, views.InvoicePage(v), nil)
}

func invoiceTitle(i billing.Invoice) string {
	if i.Number == nil {
		return i.Name()
	}
	return "Invoice " + i.Name()
}

// amountDue labels the amount of an invoice.
func amountDue(i billing.Invoice) (label, note string) {
	on := func(t *time.Time) string { return t.In(i.Zone()).Format(longDate) }
	switch i.Status {
	case billing.Issued, billing.Overdue:
		return "Amount due", "by " + on(i.DueAt)
	case billing.Paid:
		return "Amount paid", "on " + on(i.PaidAt)
	case billing.Void:
		return "Total", "Voided on " + on(i.VoidedAt)
	case billing.Draft:
	}
	return "Total", "Not issued yet"
}

func invoiceParty(label string, side billing.Party, taxName string) views.InvoiceParty {
	v := views.InvoiceParty{Label: label, Name: side.Name, Address: side.Address}
	if v.Name == "" {
		v.Name = "Not set"
	}
	if side.TaxNumber != "" {
		v.Rest = append(v.Rest, taxName+" "+side.TaxNumber)
	}
	if side.Email != "" {
		v.Rest = append(v.Rest, side.Email)
	}
	return v
}

// invoiceSteps are the past and coming steps of an invoice.
func invoiceSteps(i billing.Invoice, now time.Time) (steps []views.InvoiceStep) {
	at := func(t time.Time) string { return format.Moment(t, now, i.Zone()) }
	add := func(state views.InvoiceState, label, words string) {
		steps = append(steps, views.InvoiceStep{State: state, Label: label, Words: words})
	}
	void := i.Status == billing.Void
	add(views.StepDone, "Draft created", at(i.CreatedAt)+" · by the billing job")
	switch {
	case i.IssuedAt != nil:
		add(views.StepDone, "Issued", at(*i.IssuedAt))
	case !void:
		add(views.StepWaiting, "Waiting to be issued", "Gets its number when issued")
	}
	switch {
	case i.SentAt != nil:
		add(views.StepDone, "E-mailed to "+i.SentTo, "Last sent "+at(*i.SentAt))
	case i.IssuedAt != nil && !void:
		add(views.StepWaiting, "E-mail is on its way", "To "+i.TenantEmail)
	}
	switch i.Status {
	case billing.Issued:
		add(views.StepWaiting, "Waiting for payment", "Due "+format.Date(*i.DueAt, i.Zone())+" · reminder the day after")
		add(views.StepAhead, "Paid", "Not yet")
	case billing.Overdue:
		add(views.StepLate, "Overdue", "Due "+format.Date(*i.DueAt, i.Zone())+" · "+panel.DueLabel(i, now))
		add(views.StepAhead, "Paid", "Not yet")
	case billing.Paid:
		add(views.StepDone, "Paid", format.Date(*i.PaidAt, i.Zone()))
	case billing.Void:
		add(views.StepEnded, "Voided", strings.TrimSuffix(at(*i.VoidedAt)+" · "+i.VoidReason, " · "))
	case billing.Draft:
		add(views.StepAhead, "Paid", "Not yet")
	}
	return steps
}

// downloadInvoice answers with the PDF. A draft looks as if it were issued today.
func (h *Handlers) downloadInvoice(c echo.Context, i billing.Invoice) error {
	return invoice.Download(c, i)
}
