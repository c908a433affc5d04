package billing

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	views "example.com/loyalty/views/platform/billing"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// invoiceAction is an action on an invoice, after a confirmation.
type invoiceAction struct {
	path  string
	title func(i billing.Invoice) string
	// refusal says why the action isn't possible, or "".
	refusal func(i billing.Invoice) string
	confirm func(i billing.Invoice, form *forms.Form) ui.Confirm
	run     func(ctx context.Context, by core.Actor, id int64, form *forms.Form, once *core.Once[billing.Invoice]) (core.Reply[billing.Invoice], error)
	done    func(i billing.Invoice) string
}

const paidOn = "paid_on"

func (h *Handlers) invoiceActions() []invoiceAction {
	return []invoiceAction{
		{
			path:  "issue",
			title: func(i billing.Invoice) string { return "Issue this invoice?" },
			refusal: func(i billing.Invoice) string {
				switch {
				case i.Status != billing.Draft:
					return billing.ErrNotDraft.Message
				case i.Issuer.Name == "" || i.Issuer.Address == "":
					return billing.ErrNoIssuer.Message
				}
				return ""
			},
			confirm: func(i billing.Invoice, _ *forms.Form) ui.Confirm {
				return ui.Confirm{Button: "Issue invoice", Words: []string{
					i.TenantName + " owes " + format.Money(i.TotalCents, i.Currency) + " for " + i.Period() + ". The invoice is e-mailed to " + i.TenantEmail + ".",
					"It gets the next number and can't be changed afterwards.",
				}}
			},
			run: func(ctx context.Context, by core.Actor, id int64, _ *forms.Form, once *core.Once[billing.Invoice]) (core.Reply[billing.Invoice], error) {
				return h.Invoices.Issue(ctx, by, id, once)
			},
			done: func(i billing.Invoice) string {
				return "Invoice " + i.Name() + " was issued and is being e-mailed to " + i.TenantEmail + "."
			},
		},
		{
			path:    "pay",
			title:   func(i billing.Invoice) string { return "Mark invoice " + i.Name() + " as paid?" },
			refusal: refusedUnless(billing.ErrNotOpen.Message, billing.Issued, billing.Overdue),
			confirm: func(i billing.Invoice, form *forms.Form) ui.Confirm {
				if !form.Values.Has(paidOn) {
					form.Values = forms.Blank(map[string]string{paidOn: h.Now().In(i.Zone()).Format(time.DateOnly)}).Values
				}
				field := form.Field(paidOn, ui.Field{Label: "Paid on", Type: "date"})
				return ui.Confirm{Button: "Mark paid", Reason: &field, Words: []string{i.TenantName + " has paid " + format.Money(i.TotalCents, i.Currency) + "."}}
			},
			run: func(ctx context.Context, by core.Actor, id int64, form *forms.Form, once *core.Once[billing.Invoice]) (core.Reply[billing.Invoice], error) {
				form.Require(paidOn)
				on := form.Date(paidOn)
				if form.Malformed != nil {
					return core.Reply[billing.Invoice]{}, core.Invalid(form.Malformed)
				}
				return h.Invoices.MarkPaid(ctx, by, id, *on, once)
			},
			done: func(i billing.Invoice) string { return "Invoice " + i.Name() + " was marked as paid." },
		},
		{
			path:    "send",
			title:   func(i billing.Invoice) string { return "Send invoice " + i.Name() + " again?" },
			refusal: refusedUnless(billing.ErrNotSent.Message, billing.Issued, billing.Overdue, billing.Paid),
			confirm: func(i billing.Invoice, _ *forms.Form) ui.Confirm {
				return ui.Confirm{Button: "Send invoice", Words: []string{"It is e-mailed to " + i.TenantEmail + ", with the PDF."}}
			},
			run: func(ctx context.Context, by core.Actor, id int64, _ *forms.Form, once *core.Once[billing.Invoice]) (core.Reply[billing.Invoice], error) {
				return h.Invoices.Send(ctx, by, id, once)
			},
			done: func(i billing.Invoice) string {
				return "Invoice " + i.Name() + " is being e-mailed to " + i.TenantEmail + "."
			},
		},
		{
			path: "void",
			title: func(i billing.Invoice) string {
				return "Void " + strings.ToLower(views.InvoiceTitle(i)[:1]) + views.InvoiceTitle(i)[1:] + "?"
			},
			refusal: refusedUnless(billing.ErrNoVoid.Message, billing.Draft, billing.Issued, billing.Overdue),
			confirm: func(i billing.Invoice, form *forms.Form) ui.Confirm {
				field := form.Field("reason", ui.Field{Label: "Reason", MaxLength: 255, Autocomplete: "off"})
				words := "It is no longer due, and its period isn't billed again."
				if i.Number != nil {
					words += " Its number isn't used again. " + i.TenantName + " isn't notified."
				}
				return ui.Confirm{Button: "Void invoice", Danger: true, Reason: &field, Words: []string{words, panel.CannotUndo}}
			},
			run: func(ctx context.Context, by core.Actor, id int64, form *forms.Form, once *core.Once[billing.Invoice]) (core.Reply[billing.Invoice], error) {
				return h.Invoices.Void(ctx, by, id, form.Value("reason"), once)
			},
			done: func(i billing.Invoice) string { return views.InvoiceTitle(i) + " was voided." },
		},
	}
}

func refusedUnless(message string, allowed ...billing.Status) func(billing.Invoice) string {
	return func(i billing.Invoice) string {
		if slices.Contains(allowed, i.Status) {
			return ""
		}
		return message
	}
}

func (h *Handlers) confirmInvoiceAction(c echo.Context, status int, a invoiceAction, form *forms.Form) error {
	i, err := h.findInvoice(c)
	if err != nil {
		return err
	}
	v := panelviews.Confirm{
		Frame: h.Frame(c, a.title(i), links.Invoices,
			ui.Crumb{Label: "Invoices", Path: links.Invoices}, ui.Crumb{Label: views.InvoiceTitle(i), Path: links.Invoice(i.ID)}),
	}
	if message := a.refusal(i); message != "" { // a colleague was faster
		v.Confirm = ui.Confirm{Leave: "Back to invoice", Problem: &ui.Problem{Sentence: message}}
	} else {
		v.Confirm = a.confirm(i, form)
		v.Problem, v.Hidden = form.Problem(), []ui.Pair{{Name: page.FormKey, Value: h.NewFormKey()}}
	}
	v.Action, v.Cancel = links.Invoice(i.ID)+"/"+a.path, links.Invoice(i.ID)
	return h.Confirm(c, status, v)
}

func (h *Handlers) runInvoiceAction(c echo.Context, a invoiceAction) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[billing.Invoice]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[billing.Invoice]) (core.Reply[billing.Invoice], error) {
			return a.run(ctx, by, id, form, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.confirmInvoiceAction(c, status, a, form) },
		To:      page.To[billing.Invoice](links.Invoice(id)),
		Done:    a.done,
	})
}
