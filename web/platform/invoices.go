package platform

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	views "example.com/loyalty/views/platform"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/invoice"
	"example.com/loyalty/web/page"
)

const (
	invoicesPath = home + "/invoices"
)

func (p *Platform) invoiceRoutes() []route {
	list := []route{
		{method: get, path: invoicesPath, handle: p.listInvoices},
		{method: get, path: invoicesPath + "/:id", handle: p.showInvoice},
		{method: get, path: invoicesPath + "/:id/pdf", handle: p.downloadInvoice},
	}
	for _, m := range p.invoiceMoves() {
		list = append(
			list,
			route{method: get, path: invoicesPath + "/:id/" + m.path, handle: func(c echo.Context) error { return p.askInvoice(c, m) }},
			route{method: post, path: invoicesPath + "/:id/" + m.path, handle: func(c echo.Context) error { return p.moveInvoice(c, m) }},
		)
	}
	return list
}

func invoicePath(id int64) string { return invoicesPath + "/" + strconv.FormatInt(id, 10) }

var invoiceStatuses = []struct {
	status billing.Status
	label  string
}{{billing.Draft, "Draft"}, {billing.Issued, "Issued"}, {billing.Overdue, "Overdue"}, {billing.Paid, "Paid"}, {billing.Void, "Void"}}

// listInvoices shows the invoices of all tenants. It makes three round trips: the session, the
// invoices and how many there are of each status.
func (p *Platform) listInvoices(c echo.Context) error {
	ctx, by, q := c.Request().Context(), actor(c), page.Query(c.QueryParams())
	filter := billing.Filter{
		TenantID: q.Integer("tenant"), Status: q.Filled("status"), From: q.Date("from"), To: q.Date("to"), Search: q.Filled("search"),
	}
	list, err := p.Invoices.List(ctx, by, filter, q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.InvoiceList{
		Frame:    p.frame(c, "Invoices", invoicesPath),
		Search:   q.Field("search", "Tenant or number"),
		From:     q.Field("from", "Period from"),
		To:       q.Field("to", "to"),
		Filtered: filter != billing.Filter{} || status != http.StatusOK,
		Pager:    page.Pager(list, c.Request().URL, page.Count(int64(len(list.Items)), "invoice on this page", "invoices on this page"), "#invoices"),
	}
	v.Search.Placeholder = v.Search.Label
	v.Problem = q.Problem()
	for _, name := range []string{"status", "tenant"} {
		if q.Filled(name) != nil {
			v.Hidden = append(v.Hidden, ui.Pair{Name: name, Value: q.Value(name)})
		}
	}
	if filter.TenantID != nil {
		v.Tenant = "one tenant"
	}
	now := p.Now()
	for _, i := range list.Items {
		v.Rows = append(v.Rows, invoiceRow(i, now))
		if filter.TenantID != nil {
			v.Tenant = i.TenantName
		}
	}
	var counts []billing.Count
	if status == http.StatusOK {
		if counts, err = p.Invoices.Counts(ctx, by, filter); err != nil {
			return err
		}
	}
	v.Tabs, v.Totals = invoiceTabs(c, counts, q.Value("status")), invoiceTotals(counts)
	return p.Render(c, status, views.InvoiceListPage(v), views.InvoiceTable(v))
}

// invoiceTabs choose a status, and keep the other filters.
func invoiceTabs(c echo.Context, counts []billing.Count, shown string) []views.Choice {
	of := map[billing.Status]int64{}
	all := int64(0)
	for _, n := range counts {
		of[n.Status] += n.Invoices
		all += n.Invoices
	}
	q := c.Request().URL.Query()
	q.Del("cursor")
	path := func(status string) string {
		q.Del("status")
		if status != "" {
			q.Set("status", status)
		}
		if len(q) == 0 {
			return invoicesPath
		}
		return invoicesPath + "?" + q.Encode()
	}
	tabs := []views.Choice{{Label: "All", Count: page.Number(all), Path: path(""), Current: shown == ""}}
	for _, s := range invoiceStatuses {
		tabs = append(tabs, views.Choice{Label: s.label, Count: page.Number(of[s.status]), Path: path(string(s.status)), Current: shown == string(s.status)})
	}
	return tabs
}

// invoiceTotals are what is unpaid, overdue and paid, in each currency.
func invoiceTotals(counts []billing.Count) []views.InvoiceTotal {
	sum := func(label string, statuses ...billing.Status) views.InvoiceTotal {
		cents := map[string]int64{}
		for _, n := range counts {
			if slices.Contains(statuses, n.Status) {
				cents[n.Currency] += n.TotalCents
			}
		}
		t := views.InvoiceTotal{Label: label}
		for _, code := range slices.Sorted(maps.Keys(cents)) {
			t.Amounts = append(t.Amounts, page.Money(cents[code], code))
		}
		if len(t.Amounts) == 0 {
			t.Amounts = []string{"None"}
		} else {
			t.Overdue = statuses[0] == billing.Overdue
		}
		return t
	}
	return []views.InvoiceTotal{sum("Unpaid", billing.Issued, billing.Overdue), sum("Overdue", billing.Overdue), sum("Paid", billing.Paid)}
}

func invoiceRow(i billing.Invoice, now time.Time) views.InvoiceRow {
	row := views.InvoiceRow{
		ID: strconv.FormatInt(i.ID, 10), Name: i.Name(), Path: invoicePath(i.ID), Tenant: i.TenantName, TenantPath: tenantPath(i.TenantID), Period: i.Period(),
		Total: page.Money(i.TotalCents, i.Currency), Status: invoiceBadge(i, now), Void: i.Status == billing.Void,
	}
	if i.IssuedAt != nil && i.DueAt != nil {
		row.Issued, row.Due = page.Date(*i.IssuedAt, i.Zone()), page.Date(*i.DueAt, i.Zone())
	}
	return row
}

// invoiceBadge is the status of an invoice, and of one to be paid how many days are left.
func invoiceBadge(i billing.Invoice, now time.Time) ui.Badge {
	switch i.Status {
	case billing.Issued:
		return ui.Badge{Label: due(i, now), Tone: ui.Notice}
	case billing.Overdue:
		return ui.Badge{Label: due(i, now), Tone: ui.Bad}
	case billing.Paid:
		return ui.Badge{Label: "Paid", Tone: ui.Good}
	case billing.Void:
		return ui.Badge{Label: "Void", Tone: ui.Neutral}
	case billing.Draft:
	}
	return ui.Badge{Label: "Draft", Tone: ui.Info}
}

// due says when an invoice is or was due, in days of the tenant: Due in 8 days, Due today, 3
// days overdue.
func due(i billing.Invoice, now time.Time) string {
	if i.DueAt == nil {
		return ""
	}
	switch days := daysBetween(now, *i.DueAt, i.Zone()); {
	case days < 0:
		return page.Count(-days, "day", "days") + " overdue"
	case days == 0:
		return "Due today"
	default:
		return "Due in " + page.Count(days, "day", "days")
	}
}

// daysBetween is how many days of a zone lie between two instants.
func daysBetween(from, to time.Time, zone *time.Location) int64 {
	midnight := func(t time.Time) time.Time {
		year, month, day := t.In(zone).Date()
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	}
	return int64(midnight(to).Sub(midnight(from)) / (24 * time.Hour))
}

// invoiceOf is the invoice of a path.
func (p *Platform) invoiceOf(c echo.Context) (billing.Invoice, error) {
	id, err := number(c)
	if err != nil {
		return billing.Invoice{}, err
	}
	return p.Invoices.Find(c.Request().Context(), actor(c), id)
}

const longDate = "2 January 2006"

// showInvoice shows one invoice. It makes three round trips: the session, the invoice and how
// its tenant pays.
func (p *Platform) showInvoice(c echo.Context) error {
	i, err := p.invoiceOf(c)
	if err != nil {
		return err
	}
	tenant := int64(i.TenantID)
	counts, err := p.Invoices.Counts(c.Request().Context(), actor(c), billing.Filter{TenantID: &tenant})
	if err != nil {
		return err
	}
	now, path, money := p.Now(), invoicePath(i.ID), func(cents int64) string { return page.Money(cents, i.Currency) }
	v := views.Invoice{
		Frame:  p.frame(c, invoiceTitle(i), invoicesPath, ui.Crumb{Label: "Invoices", Path: invoicesPath}),
		Amount: money(i.TotalCents), Void: i.Status == billing.Void,
		To: invoiceParty("Billed to", i.Recipient, i.TaxName), From: invoiceParty("From", i.Issuer, i.TaxName),
		Subtotal: money(i.AmountCents), TaxLabel: i.TaxName + " " + invoice.Rate(i.TaxRate), Tax: money(i.TaxCents), Total: money(i.TotalCents),
		PaymentText: i.PaymentText, Steps: invoiceSteps(i, now), StepsZone: strings.ReplaceAll(i.Zone().String(), "_", " "),
		Tenant: i.TenantName, TenantPath: tenantPath(i.TenantID), TenantHost: p.tenantHost(i.TenantSlug),
		TenantOthers: page.WithQuery(invoicesPath, "tenant", strconv.FormatInt(tenant, 10)),
		PDF:          path + "/pdf",
	}
	v.Badge = new(invoiceBadge(i, now))
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
			Description: l.Description, Quantity: page.Number(l.Quantity), Price: money(l.UnitCents), Amount: money(l.AmountCents),
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
	return p.Render(c, http.StatusOK, views.InvoicePage(v), nil)
}

func invoiceTitle(i billing.Invoice) string {
	if i.Number == nil {
		return i.Name()
	}
	return "Invoice " + i.Name()
}

// amountDue says what the amount of an invoice is.
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

// invoiceSteps are what happened to an invoice, from its own instants, and what comes next.
func invoiceSteps(i billing.Invoice, now time.Time) (steps []views.InvoiceStep) {
	at := func(t time.Time) string { return page.Moment(t, now, i.Zone()) }
	add := func(state views.InvoiceState, label, words string) {
		steps = append(steps, views.InvoiceStep{State: state, Label: label, Words: words})
	}
	void := i.Status == billing.Void
	add(views.StepDone, "Draft made", at(i.CreatedAt)+" · by the billing job")
	switch {
	case i.IssuedAt != nil:
		add(views.StepDone, "Issued", at(*i.IssuedAt))
	case !void:
		add(views.StepWaiting, "Waiting to be issued", "It gets its number then")
	}
	switch {
	case i.SentAt != nil:
		add(views.StepDone, "E-mailed to "+i.SentTo, "Last sent "+at(*i.SentAt))
	case i.IssuedAt != nil && !void:
		add(views.StepWaiting, "E-mail is on its way", "To "+i.TenantEmail)
	}
	switch i.Status {
	case billing.Issued:
		add(views.StepWaiting, "Waiting for payment", "Due "+page.Date(*i.DueAt, i.Zone())+" · a reminder goes out the day after")
		add(views.StepAhead, "Paid", "Not yet")
	case billing.Overdue:
		add(views.StepLate, "Overdue", "Due "+page.Date(*i.DueAt, i.Zone())+" · "+due(i, now))
		add(views.StepAhead, "Paid", "Not yet")
	case billing.Paid:
		add(views.StepDone, "Paid", page.Date(*i.PaidAt, i.Zone()))
	case billing.Void:
		add(views.StepEnded, "Voided", strings.TrimSuffix(at(*i.VoidedAt)+" · "+i.VoidReason, " · "))
	case billing.Draft:
		add(views.StepAhead, "Paid", "Not yet")
	}
	return steps
}

// downloadInvoice sends the PDF: of a draft as it would be issued now.
func (p *Platform) downloadInvoice(c echo.Context) error {
	i, err := p.invoiceOf(c)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := invoice.PDF(i, &file); err != nil {
		return fmt.Errorf("draw invoice %d: %w", i.ID, err)
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="`+invoice.FileName(i)+`"`)
	return c.Blob(http.StatusOK, "application/pdf", file.Bytes())
}

// invoiceMove is something that is done to an invoice, and asked about before.
type invoiceMove struct {
	path  string
	title func(i billing.Invoice) string
	// refusal says why it can no longer be done, or "".
	refusal func(i billing.Invoice) string
	ask     func(i billing.Invoice, form *page.Form) ui.Confirm
	do      func(ctx context.Context, by core.Actor, id int64, form *page.Form) (billing.Invoice, error)
	done    func(i billing.Invoice) string
}

const paidOn = "paid_on"

func (p *Platform) invoiceMoves() []invoiceMove {
	return []invoiceMove{
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
			ask: func(i billing.Invoice, _ *page.Form) ui.Confirm {
				return ui.Confirm{Button: "Issue invoice", Words: []string{
					i.TenantName + " owes " + page.Money(i.TotalCents, i.Currency) + " for " + i.Period() + ". The invoice is e-mailed to " + i.TenantEmail + ".",
					"It gets the next number, and can't be changed afterwards.",
				}}
			},
			do: func(ctx context.Context, by core.Actor, id int64, form *page.Form) (billing.Invoice, error) {
				return p.Invoices.Issue(ctx, by, id)
			},
			done: func(i billing.Invoice) string {
				return "Invoice " + i.Name() + " was issued. It is e-mailed to " + i.TenantEmail + "."
			},
		},
		{
			path:    "pay",
			title:   func(i billing.Invoice) string { return "Mark invoice " + i.Name() + " as paid?" },
			refusal: refusedUnless(billing.ErrNotOpen.Message, billing.Issued, billing.Overdue),
			ask: func(i billing.Invoice, form *page.Form) ui.Confirm {
				if !form.Values.Has(paidOn) {
					form.Values = page.Blank(map[string]string{paidOn: p.Now().In(i.Zone()).Format(time.DateOnly)}).Values
				}
				field := form.Field(paidOn, "Paid on")
				field.Type = "date"
				return ui.Confirm{Button: "Mark paid", Reason: &field, Words: []string{i.TenantName + " has paid " + page.Money(i.TotalCents, i.Currency) + "."}}
			},
			do: func(ctx context.Context, by core.Actor, id int64, form *page.Form) (billing.Invoice, error) {
				form.Require(paidOn)
				on := form.Date(paidOn)
				if form.Malformed != nil {
					return billing.Invoice{}, core.Invalid(form.Malformed)
				}
				return p.Invoices.MarkPaid(ctx, by, id, *on)
			},
			done: func(i billing.Invoice) string { return "Invoice " + i.Name() + " is marked as paid." },
		},
		{
			path:    "send",
			title:   func(i billing.Invoice) string { return "Send invoice " + i.Name() + " again?" },
			refusal: refusedUnless(billing.ErrNotSent.Message, billing.Issued, billing.Overdue, billing.Paid),
			ask: func(i billing.Invoice, _ *page.Form) ui.Confirm {
				return ui.Confirm{Button: "Send invoice", Words: []string{"It is e-mailed to " + i.TenantEmail + ", with the PDF."}}
			},
			do: func(ctx context.Context, by core.Actor, id int64, form *page.Form) (billing.Invoice, error) {
				return p.Invoices.Send(ctx, by, id)
			},
			done: func(i billing.Invoice) string {
				return "Invoice " + i.Name() + " is e-mailed to " + i.TenantEmail + " again."
			},
		},
		{
			path: "void",
			title: func(i billing.Invoice) string {
				return "Void " + strings.ToLower(invoiceTitle(i)[:1]) + invoiceTitle(i)[1:] + "?"
			},
			refusal: refusedUnless(billing.ErrNoVoid.Message, billing.Draft, billing.Issued, billing.Overdue),
			ask: func(i billing.Invoice, form *page.Form) ui.Confirm {
				field := form.Field("reason", "Reason")
				field.MaxLength, field.Autocomplete = 255, "off"
				words := "It is no longer due, and its period isn't billed again."
				if i.Number != nil {
					words += " Its number stays taken. " + i.TenantName + " isn't told by e-mail."
				}
				return ui.Confirm{Button: "Void invoice", Danger: true, Reason: &field, Words: []string{words, "This can't be undone."}}
			},
			do: func(ctx context.Context, by core.Actor, id int64, form *page.Form) (billing.Invoice, error) {
				return p.Invoices.Void(ctx, by, id, form.Text("reason"))
			},
			done: func(i billing.Invoice) string { return invoiceTitle(i) + " is void." },
		},
	}
}

func refusedUnless(sentence string, allowed ...billing.Status) func(billing.Invoice) string {
	return func(i billing.Invoice) string {
		if slices.Contains(allowed, i.Status) {
			return ""
		}
		return sentence
	}
}

func (p *Platform) askInvoice(c echo.Context, m invoiceMove) error {
	return p.confirmInvoice(c, http.StatusOK, m, &page.Form{})
}

func (p *Platform) confirmInvoice(c echo.Context, status int, m invoiceMove, form *page.Form) error {
	i, err := p.invoiceOf(c)
	if err != nil {
		return err
	}
	v := views.Confirm{
		Frame: p.frame(c, m.title(i), invoicesPath,
			ui.Crumb{Label: "Invoices", Path: invoicesPath}, ui.Crumb{Label: invoiceTitle(i), Path: invoicePath(i.ID)}),
	}
	if sentence := m.refusal(i); sentence != "" { // somebody was quicker
		v.Confirm = ui.Confirm{Leave: "Back to the invoice", Problem: &ui.Problem{Sentence: sentence}}
	} else {
		v.Confirm = m.ask(i, form)
		v.Problem, v.Hidden = form.Problem(), []ui.Pair{{Name: page.FormKey, Value: p.NewFormKey()}}
	}
	v.Action, v.Cancel = invoicePath(i.ID)+"/"+m.path, invoicePath(i.ID)
	return p.confirm(c, status, v)
}

func (p *Platform) moveInvoice(c echo.Context, m invoiceMove) error {
	id, err := number(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	by := page.IdempotentActorFor(actor(c), c, form, func(billing.Invoice) string { return invoicePath(id) })
	i, err := m.do(c.Request().Context(), by, id, form)
	if path, again := page.ReplayedPath(by, err); again {
		return p.Redirect(c, path)
	}
	if form.Refused(err) {
		return p.confirmInvoice(c, http.StatusUnprocessableEntity, m, form)
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, m.done(i))
	return p.Redirect(c, invoicePath(id))
}
