package panel

import (
	"context"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// WithEmptyForm is the handler of a page that a refused form shows again.
func WithEmptyForm(show func(c echo.Context, status int, form *forms.Form) error) echo.HandlerFunc {
	return func(c echo.Context) error { return show(c, http.StatusOK, &forms.Form{}) }
}

// SortOf is the order that a list is asked for, or else its usual one. Core refuses an unknown one.
func SortOf(q *forms.Form, usual core.Sort) core.Sort {
	if q.Filled("sort") == nil {
		return usual
	}
	return core.Sort(q.Value("sort"))
}

// SortedBy returns the address of the first page of a list in another order.
func SortedBy(list *url.URL, order core.Sort) string {
	first := url.URL{Path: list.Path, RawQuery: list.RawQuery}
	q := first.Query()
	q.Del("cursor")
	first.RawQuery = q.Encode()
	return links.With(&first, "sort", string(order))
}

// ByTime is the heading of a list's times, which leads to the opposite order.
func ByTime(label string, list *url.URL, sort core.Sort) ui.Heading {
	if sort == core.Oldest {
		return ui.Heading{Label: label, Sorted: "ascending", Path: SortedBy(list, core.Newest)}
	}
	return ui.Heading{Label: label, Sorted: "descending", Path: SortedBy(list, core.Oldest)}
}

// SetActive activates or deactivates a record and leads to a page that shows it, with a message that offers
// the opposite.
func SetActive[T any](
	p *Panel, c echo.Context, otherwise string, set func(ctx context.Context, by core.Actor, active bool) (T, error), done func(T) string,
) error {
	to, opposite := otherwise, "1"
	return page.Submit(p.Kit, c, page.Submission[T]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (T, error) {
			to = ReturnTo(c, form, otherwise)
			return forms.Switch(form, "active", func(active bool) (T, error) {
				if active {
					opposite = "0"
				}
				return set(ctx, by, active)
			})
		},
		To:   func(T) string { return to },
		Done: done,
		Undo: func(T) *ui.Undo { return &ui.Undo{Path: c.Request().URL.Path, Name: "active", Value: opposite} },
	})
}

// openedFrom is the hidden field of a confirmation with the page that it was opened from.
const openedFrom = "opened_from"

// ReturnTo returns the page that a confirmation was opened from, with its filters, else otherwise.
func ReturnTo(c echo.Context, form *forms.Form, otherwise string) string {
	if from := form.Value(openedFrom); from != "" {
		return page.SafePath(from, otherwise)
	}
	return page.Back(c, otherwise)
}

// HiddenReturn keeps that page in the form of a confirmation.
func HiddenReturn(c echo.Context, form *forms.Form, otherwise string) ui.Pair {
	return ui.Pair{Name: openedFrom, Value: ReturnTo(c, form, otherwise)}
}

// ReasonField asks why a record is voided. What is typed is kept with the record.
func ReasonField(form *forms.Form, suggestions ...string) *ui.Field {
	field := form.Field("reason", ui.Field{Label: "Reason"})
	field.MaxLength, field.Autocomplete, field.Autofocus, field.Suggestions = transaction.MaxVoidReason, "off", true, suggestions
	return &field
}

// ActiveMessage says that a record is active, or inactive with the consequence.
func ActiveMessage(name string, active bool, consequence string) string {
	if active {
		return "“" + name + "” is active"
	}
	return "“" + name + "” is inactive. " + consequence
}

// WithoutQuery is an address without a value of its query.
func WithoutQuery(u *url.URL, name string) *url.URL {
	q := u.Query()
	q.Del(name)
	return &url.URL{Path: u.Path, RawQuery: q.Encode()}
}
