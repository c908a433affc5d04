package sales

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	views "example.com/loyalty/views/admin/sales"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) transactionRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Transactions, route.Cashiers, h.listTransactions),
		route.Get(links.NewTransaction, route.Cashiers, h.newTransaction),
		route.Post(links.NewTransaction, route.Cashiers, h.recordTransaction),
		route.Get(links.SaleEarns, route.Cashiers, h.previewTransaction),
		route.Get(links.Transactions+"/:ulid", route.Cashiers, h.showTransaction),
		route.Get(links.Transactions+"/:ulid/void", route.Cashiers, panel.WithEmptyForm(h.confirmVoidTransaction)),
		route.Post(links.Transactions+"/:ulid/void", route.Cashiers, h.voidTransaction),
		route.Get(links.Transactions+"/:ulid/refund", route.Cashiers, h.askRefund),
		route.Post(links.Transactions+"/:ulid/refund", route.Cashiers, h.refundTransaction),
		route.Get(links.Transactions+"/:ulid/refund/takes", route.Cashiers, h.previewRefund),
	}
}

// transactionFilter reads the filters of the list and of its exports.
func transactionFilter(q *forms.Form, currency string) transaction.Filter {
	f := transaction.Filter{
		Status: q.Filled("status"), TypeID: q.Integer("transaction_type_id"), Source: q.Filled("source"),
		CustomerID: q.Filled("customer_ulid"), RecordedBy: q.Filled("recorded_by"),
		From: q.Date("from"), To: q.Date("to"),
		Search: q.Filled("search"), SearchCents: searchedAmount(q.Value("search"), currency),
	}
	if f.WithoutLocation = q.Value("location_id") == links.NoLocation; !f.WithoutLocation {
		f.LocationID = q.Integer("location_id")
	}
	return f
}

// searchedAmount reads the text of a search as an amount, in cents; nil: it is none.
func searchedAmount(text, currency string) *int64 {
	if typed := forms.ParseAmount(text, currency); typed.State == forms.AmountRead {
		return &typed.Cents
	}
	return nil
}

func (h *Handlers) listTransactions(c echo.Context) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	filter := transactionFilter(q, by.Tenant.Currency)
	sort := panel.SortOf(q, core.Newest)
	list, err := h.Transactions.List(ctx, by, filter, sort, q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.TransactionList{
		Frame:  h.Frame(c, "Transactions", links.Transactions),
		Filter: q, Found: list, Sort: sort, OfCustomer: filter.CustomerID != nil, OfRecorder: filter.RecordedBy != nil,
		Filtered: filter != transaction.Filter{} || status != http.StatusOK,
		Date:     panel.ByTime("Date", c.Request().URL, sort),
		Pager:    page.Pager(list.List, c.Request().URL, "sale", "sales", "#transactions"),
		Exports:  panel.ExportsOf(c, links.TransactionsExport),
	}
	if !page.IsFragment(c) {
		if v.Types, v.Places, err = h.saleChoices(c); err != nil {
			return err
		}
	}
	return h.Render(c, status, views.TransactionListPage(v), views.TransactionPart(v))
}

// saleChoices are the transaction types and the locations that a sale can have.
func (h *Handlers) saleChoices(c echo.Context) (types []transaction.Type, places []location.Location, err error) {
	ctx, by := c.Request().Context(), page.Actor(c)
	if types, err = h.Transactions.Types(ctx, by); err != nil {
		return nil, nil, err
	}
	places, err = h.Locations.List(ctx, by)
	return types, places, err
}

func (h *Handlers) showTransaction(c echo.Context) error {
	d, err := h.transactionDetail(c)
	if err != nil {
		return err
	}
	used, err := h.usedWith(c, d)
	if err != nil {
		return err
	}
	v := views.TransactionDetail{Frame: h.Frame(c, "", links.Transactions, ui.Crumb{Label: "Transactions", Path: links.Transactions}), Sale: d, Used: used}
	v.Title = "Sale " + v.On(d.CreatedAt)
	return h.Render(c, http.StatusOK, views.TransactionDetailPage(v), nil)
}

// usedWith returns the rewards and vouchers that were used with a sale, which is only possible at the till.
func (h *Handlers) usedWith(c echo.Context, d transaction.Detail) ([]walkin.Used, error) {
	if d.Source != transaction.POS {
		return nil, nil
	}
	checkout, err := h.Walkins.Checkout(c.Request().Context(), page.Actor(c), d.ID)
	return checkout.Used, err
}

func (h *Handlers) transactionDetail(c echo.Context) (transaction.Detail, error) {
	id, err := panel.PathID(c)
	if err != nil {
		return transaction.Detail{}, err
	}
	return h.Transactions.Detail(c.Request().Context(), page.Actor(c), id)
}

func (h *Handlers) confirmVoidTransaction(c echo.Context, status int, form *forms.Form) error {
	d, err := h.transactionDetail(c)
	if err != nil {
		return err
	}
	to, r := links.Transaction(d.ID), h.Reader(c)
	on := r.On(d.CreatedAt)
	v := panelviews.Confirm{
		Frame: h.Frame(c, "Void this sale?", links.Transactions, ui.Crumb{Label: "Transactions", Path: links.Transactions}, ui.Crumb{Label: "Sale " + on, Path: to}),
		Confirm: ui.Confirm{
			Action: to + "/void", Button: "Void sale", Danger: true, Cancel: to, Problem: form.Problem(),
			Words:  []string{"Sale of " + r.Money(d.SpendAmountCents) + " to " + format.StoredName(d.CustomerName) + " " + on + ".", panel.CannotUndo},
			Reason: panel.ReasonField(form, "Wrong amount", "Wrong customer", "Recorded twice", "Goods returned"),
			Hidden: []ui.Pair{panel.HiddenReturn(c, form, to)},
		},
	}
	if takes := views.VoidInWords(d); takes != "" {
		v.Words[0] += " " + takes
	}
	used, err := h.usedWith(c, d)
	if err != nil {
		return err
	}
	if len(used) > 0 {
		v.Words[0] += " The rewards and vouchers used with it stay redeemed."
	}
	if d.Status == transaction.Voided { // a colleague was quicker
		v.Button, v.Words, v.Reason, v.Problem = "", nil, nil, &ui.Problem{Sentence: transaction.ErrAlreadyVoided.Message}
	}
	return h.Confirm(c, status, v)
}

func (h *Handlers) voidTransaction(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	to := links.Transaction(id)
	return page.Submit(h.Kit, c, page.Submission[transaction.Transaction]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (transaction.Transaction, error) {
			to = panel.ReturnTo(c, form, to)
			return core.Result(h.Transactions.Void(ctx, by, id, new(form.Value("reason")), nil))
		},
		Refused: func(status int, form *forms.Form) error { return h.confirmVoidTransaction(c, status, form) },
		To:      func(transaction.Transaction) string { return to },
		Done: func(sale transaction.Transaction) string {
			if sale.LeftAward() == 0 {
				return "Sale voided"
			}
			return "Sale voided and " + format.Units(sale.LeftAward(), sale.RuleType) + " reversed"
		},
	})
}

// newTransaction shows one of two steps: choose a customer, then the form of the sale.
func (h *Handlers) newTransaction(c echo.Context) error {
	q := forms.Query(c.QueryParams())
	if q.Filled("customer_ulid") == nil {
		return h.PickCustomer(c, panelviews.CustomerPicker{Frame: h.transactionFrame(c), Question: "Choose a customer", Path: links.NewTransaction}, customer.Suggestion{})
	}
	return h.transactionForm(c, http.StatusOK, forms.Blank(map[string]string{"customer_ulid": q.Value("customer_ulid")}))
}

func (h *Handlers) transactionFrame(c echo.Context) panelviews.Frame {
	return h.Frame(c, "Record sale", links.Transactions, ui.Crumb{Label: "Transactions", Path: links.Transactions})
}

// transactionForm shows the form of a sale to the chosen customer.
func (h *Handlers) transactionForm(c echo.Context, status int, form *forms.Form) error {
	id, err := core.ParseID(form.Value("customer_ulid"))
	if err != nil {
		return core.ErrNotFound
	}
	chosen, err := h.Customers.Find(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	types, places, err := h.saleChoices(c)
	if err != nil {
		return err
	}
	if chosen.Erased {
		*form.Problem() = ui.Problem{Sentence: "This customer was erased and can't earn."}
	} else if chosen.Status != customer.Active {
		*form.Problem() = ui.Problem{Sentence: format.CustomerName(chosen) + " is inactive and can't earn."}
	}
	return h.Render(c, status, views.TransactionFormPage(views.TransactionForm{
		Frame: h.transactionFrame(c), Form: form, FormKey: h.NewFormKey(), Chosen: chosen,
		Types:  slices.DeleteFunc(types, func(t transaction.Type) bool { return !t.Active }),
		Places: slices.DeleteFunc(places, func(l location.Location) bool { return !l.Active }),
	}), nil)
}

// recordTransaction records a sale. A sale above the business's ceiling is recorded only after
// its amount was confirmed.
func (h *Handlers) recordTransaction(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	sale := transaction.Sale{
		CustomerID: form.Reference("customer_ulid"), TransactionTypeID: form.Number("transaction_type_id"),
		SpendAmountCents: form.RequiredAmount("spend_amount_cents", by.Tenant.Currency), ExternalReference: form.Filled("external_reference"),
		LocationID: form.Integer("location_id"), Source: transaction.Panel,
	}
	if form.Checked(views.CorrectAmount) {
		return h.transactionForm(c, http.StatusOK, form)
	}
	question, needed, err := h.confirmationOf(c, form, sale)
	if err != nil {
		return err
	}
	if needed {
		return h.Render(c, http.StatusOK, views.TransactionConfirmPage(question), nil)
	}
	pathOf := func(t transaction.Transaction) string { return links.Customer(t.CustomerID) }
	reply, err := h.Transactions.Record(c.Request().Context(), by, sale, form.Malformed, page.Once(c, form, pathOf))
	if path, again := page.ReplayedPath(reply); again {
		return h.Redirect(c, path)
	}
	if form.Refused(err) {
		return h.transactionForm(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	h.Flash(c, ui.Done, format.Money(sale.SpendAmountCents, by.Tenant.Currency)+" recorded: "+format.Awarded(reply.Result)+" earned.")
	return h.Redirect(c, pathOf(reply.Result))
}

// confirmationOf is the confirmation of a sale above the ceiling. None is needed if the amount was
// confirmed already or core would refuse the sale anyway.
func (h *Handlers) confirmationOf(c echo.Context, form *forms.Form, sale transaction.Sale) (v views.TransactionConfirm, needed bool, err error) {
	by, spend := page.Actor(c), sale.SpendAmountCents
	if len(form.Malformed) > 0 || !by.Tenant.Confirms(spend) || form.Value(views.ConfirmedAmount) == strconv.FormatInt(spend, 10) {
		return v, false, nil
	}
	buyer, kind, err := h.partsOf(c, sale)
	if errors.Is(err, core.ErrNotFound) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	earned, err := h.Transactions.Preview(c.Request().Context(), by, sale, nil)
	if core.IsKind(err, core.KindInvalid) || buyer.Status != customer.Active || !kind.Active {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	return views.TransactionConfirm{
		Frame: h.transactionFrame(c), Chosen: buyer, Type: kind, Spend: spend, Award: earned.Award.Total, Sent: form.Pairs(views.ConfirmedAmount),
	}, true, nil
}

// partsOf finds the customer and the type of a sale, or core.ErrNotFound.
func (h *Handlers) partsOf(c echo.Context, sale transaction.Sale) (buyer customer.Customer, kind transaction.Type, err error) {
	ctx, by := c.Request().Context(), page.Actor(c)
	if buyer, err = h.Customers.Find(ctx, by, sale.CustomerID); err != nil {
		return buyer, kind, err
	}
	kind, err = h.Transactions.FindType(ctx, by, sale.TransactionTypeID)
	return buyer, kind, err
}

// previewTransaction shows how the amount on the form is read and what the sale will earn.
func (h *Handlers) previewTransaction(c echo.Context) error {
	by, q := page.Actor(c), forms.Query(c.QueryParams())
	var award format.Award
	spend, kind := q.Amount("spend_amount_cents", by.Tenant.Currency), q.Integer("transaction_type_id")
	if spend != nil && kind != nil {
		ctx := c.Request().Context()
		t, err := h.Transactions.FindType(ctx, by, *kind)
		if err != nil {
			return err
		}
		customer, _ := core.ParseID(q.Value("customer_ulid"))
		p, err := h.Transactions.Preview(ctx, by, transaction.Sale{
			CustomerID: customer, TransactionTypeID: t.ID, SpendAmountCents: *spend, LocationID: q.Integer("location_id"), Source: transaction.Panel,
		}, nil)
		if award, err = format.AwardOf(p, err, t, by.Tenant.Currency); err != nil {
			return err
		}
	}
	return h.Render(c, http.StatusOK, views.TransactionPreview(q, award), nil)
}
