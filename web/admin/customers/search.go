package customers

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

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

// searchResults are shown in the dialog.
func (h *Handlers) searchResults(c echo.Context, q *forms.Form) error {
	list, err := h.searchCustomers(c, q, core.Page{Size: searchSize, Counted: true})
	if err != nil {
		return err
	}
	v := views.SearchResults{Reader: h.Reader(c), Form: q, List: list}
	if v.Voucher, err = h.searchVoucher(c, q); err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.SearchFragment(v), nil)
}

// searchPage shows the results in pages, as the list of customers does.
func (h *Handlers) searchPage(c echo.Context, q *forms.Form) error {
	list, err := h.searchCustomers(c, q, q.Position())
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.SearchList{
		Frame: h.Frame(c, "Search", links.Customers), Form: q, List: list.Items,
		Pager: page.Pager(list, c.Request().URL, "customer", "customers", ""),
	}
	if status == http.StatusOK {
		if v.Voucher, err = h.searchVoucher(c, q); err != nil {
			return err
		}
	}
	return h.Render(c, status, views.SearchPage(v), nil)
}

// searchCustomers returns a page of those who match or, before a search, of those who were here last.
func (h *Handlers) searchCustomers(c echo.Context, q *forms.Form, p core.Page) (list core.List[customer.Row], err error) {
	ctx, by, search := c.Request().Context(), page.Actor(c), q.Filled("search")
	if search == nil {
		list.Items, err = h.Customers.Recent(ctx, by, customer.Suggestion{}, p.Size)
		return list, err
	}
	return h.Customers.Browse(ctx, by, customer.Filter{Search: search}, core.Newest, p)
}

// searchVoucher finds the voucher of a typed code or link; nil: there is none.
func (h *Handlers) searchVoucher(c echo.Context, q *forms.Form) (*coupon.ShownVoucher, error) {
	text := q.Value("search")
	if len(core.PlainCode(text)) < len(core.ID{}.String()) || strings.Contains(text, "@") {
		return nil, nil //nolint:nilnil // no code, and no link
	}
	found, err := h.TypedVoucher(c, text)
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil //nolint:nilnil // there is none
	}
	return &found, err
}
