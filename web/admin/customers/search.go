package customers

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) searchRoutes() []route.Route {
	return []route.Route{route.Get(links.Search, route.Cashiers, h.search)}
}

// searchSize is the number of customers in the results, and of those suggested before a search.
const searchSize = 7

// search finds customers by any part of name, phone number and e-mail address, and a voucher by its code.
// Before anything is typed it suggests who was here last.
func (h *Handlers) search(c echo.Context) error {
	q := forms.Query(c.QueryParams())
	if page.IsFragment(c) {
		return h.searchResults(c, q)
	}
	return h.searchPage(c, q)
}

// hereLast is the heading of the customers that are suggested.
const hereLast = "Here last"

// searchResults are shown in the dialog.
func (h *Handlers) searchResults(c echo.Context, q *forms.Form) error {
	ctx, by := c.Request().Context(), page.Actor(c)
	var v views.SearchResults
	var found []customer.Row
	if q.Filled("search") == nil {
		var err error
		if found, err = h.Customers.Recent(ctx, by, customer.Suggestion{}, searchSize); err != nil {
			return err
		}
		v.Heading = hereLast
	} else {
		list, err := h.Customers.Browse(ctx, by, customer.Filter{Search: q.Filled("search")}, core.Newest, core.Page{Size: searchSize, Counted: true})
		if err != nil {
			return err
		}
		found, v.Heading = list.Items, "Customers"
		if list.Place != nil {
			v.Count = format.Count(list.Place.Total, "customer", "customers")
			if list.Place.More {
				v.Count = "More than " + v.Count
			}
			if list.Next != nil {
				v.AllPath = page.WithQuery(links.Customers, "search", q.Value("search"))
			}
		}
		v.Add, v.AddPath = page.NewCustomerFrom(q.Value("search"))
		if v.Voucher, err = h.searchVoucher(c, q.Value("search")); err != nil {
			return err
		}
	}
	for _, r := range found {
		v.Customers = append(v.Customers, searchedCustomer(r, q.Value("search"), h.Now(), by.Tenant.TimeZone))
	}
	return h.Render(c, http.StatusOK, views.SearchFragment(v), nil)
}

// searchPage shows the results in pages, as the list of customers does.
func (h *Handlers) searchPage(c echo.Context, q *forms.Form) error {
	ctx, by, search, position := c.Request().Context(), page.Actor(c), q.Filled("search"), q.Position()
	v := views.SearchList{Frame: h.Frame(c, "Search", links.Customers)}
	var list core.List[customer.Row]
	var err error
	if search == nil {
		v.Heading = hereLast
		list.Items, err = h.Customers.Recent(ctx, by, customer.Suggestion{}, position.Size)
	} else {
		list, err = h.Customers.Browse(ctx, by, customer.Filter{Search: search}, core.Newest, position)
	}
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v.Search = q.Field("search", ui.Field{Label: "Name, phone, e-mail or voucher code"})
	v.Search.Placeholder, v.Search.Autofocus = v.Search.Label, search == nil
	v.Problem = q.Problem()
	if search != nil && v.Problem.None() {
		v.Add, v.AddPath = page.NewCustomerFrom(*search)
		if v.Voucher, err = h.searchVoucher(c, *search); err != nil {
			return err
		}
	}
	v.Pager = page.Pager(list, c.Request().URL, "customer", "customers", "")
	for _, r := range list.Items {
		row := customerRow(r, q.Value("search"), h.Now(), by.Tenant.TimeZone)
		if r.Status == customer.Active {
			row.Sell, row.Redeem = links.SellTo(r.ID), links.RedeemFor(r.ID)
		}
		v.Rows = append(v.Rows, row)
	}
	return h.Render(c, status, views.SearchPage(v), nil)
}

// searchVoucher finds the voucher of a typed code or link; nil: there is none.
func (h *Handlers) searchVoucher(c echo.Context, text string) (*views.SearchedVoucher, error) {
	if len(core.PlainCode(text)) < len(core.ID{}.String()) || strings.Contains(text, "@") {
		return nil, nil //nolint:nilnil // no code, and no link
	}
	found, err := h.TypedVoucher(c, text)
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil //nolint:nilnil // there is none
	}
	return &views.SearchedVoucher{
		Code: found.ID.String(), Words: found.CouponName + " · " + format.StoredName(found.CustomerName), Path: links.Voucher(found.ID), Status: panel.VoucherStatuses[found.Status],
	}, err
}

func searchedCustomer(r customer.Row, search string, now time.Time, zone *time.Location) views.SearchedCustomer {
	facts := r.Phone
	if r.Email != nil && !strings.Contains(core.Fold(facts), core.Fold(search)) && strings.Contains(core.Fold(*r.Email), core.Fold(search)) {
		facts = *r.Email
	}
	if r.LastVisit != nil {
		// Only the dot breaks the line.
		facts += " · " + strings.ReplaceAll("Last visit "+format.Ago(*r.LastVisit, now, zone), " ", "\u00a0")
	}
	v := views.SearchedCustomer{
		Name: mark(format.CustomerName(r.Customer), search), Facts: mark(facts, search), Label: format.CustomerName(r.Customer),
		Balance: format.Number(r.PointsBalance), Unit: "points", Open: links.Customer(r.ID),
	}
	if r.PointsBalance == 0 && r.StampsBalance != 0 {
		v.Balance, v.Unit = format.Number(r.StampsBalance), "stamps"
	}
	if r.Status == customer.Active {
		v.Sell, v.Redeem = links.SellTo(r.ID), links.RedeemFor(r.ID)
	} else {
		v.Status = new(panelviews.CustomerStatus(r.Customer))
	}
	return v
}

// mark marks the words of a search in a text, as a search finds them (core.Fold).
func mark(text, search string) (parts []views.Marked) {
	runes := []rune(text)
	var folded []rune
	var from []int // the place in the text of each folded character: ß is folded to two
	for i, r := range runes {
		for _, f := range core.Fold(string(r)) {
			folded, from = append(folded, f), append(from, i)
		}
	}
	hit := make([]bool, len(runes))
	for word := range strings.FieldsSeq(core.Fold(search)) {
		w := []rune(word)
		for at := 0; at+len(w) <= len(folded); at++ {
			if string(folded[at:at+len(w)]) == word {
				for i := range w {
					hit[from[at+i]] = true
				}
			}
		}
	}
	for from := 0; from < len(runes); {
		to := from + 1
		for to < len(runes) && hit[to] == hit[from] {
			to++
		}
		parts = append(parts, views.Marked{Text: string(runes[from:to]), Marked: hit[from]})
		from = to
	}
	return parts
}
