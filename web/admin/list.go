package admin

import (
	"context"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// withEmptyForm is the handler of a page that a refused form shows again.
func withEmptyForm(show func(c echo.Context, status int, form *page.Form) error) echo.HandlerFunc {
	return func(c echo.Context) error { return show(c, http.StatusOK, &page.Form{}) }
}

// sortOf is the order that a list is asked for, or else its usual one. Core refuses an unknown one.
func sortOf(q *page.Form, usual core.Sort) core.Sort {
	if q.Filled("sort") == nil {
		return usual
	}
	return core.Sort(q.Value("sort"))
}

// sortedBy returns the address of the first page of a list in another order.
func sortedBy(list *url.URL, order core.Sort) string {
	first := url.URL{Path: list.Path, RawQuery: list.RawQuery}
	q := first.Query()
	q.Del("cursor")
	first.RawQuery = q.Encode()
	return page.With(&first, "sort", string(order))
}

// byTime is the heading of a list's times, which leads to the opposite order.
func byTime(label string, list *url.URL, sort core.Sort) ui.Heading {
	if sort == core.Oldest {
		return ui.Heading{Label: label, Sorted: "ascending", Path: sortedBy(list, core.Newest)}
	}
	return ui.Heading{Label: label, Sorted: "descending", Path: sortedBy(list, core.Oldest)}
}

// setActive activates or deactivates a record and leads to a page that shows it, with a message that offers
// the opposite.
func setActive[T any](
	a *Admin, c echo.Context, otherwise string, set func(ctx context.Context, by core.Actor, active bool) (T, error), done func(T) string,
) error {
	to, opposite := otherwise, "1"
	return page.Submit(a.Kit, c, page.Submission[T]{
		Run: func(ctx context.Context, by core.Actor, form *page.Form) (T, error) {
			to = returnTo(c, form, otherwise)
			return page.Switch(form, "active", func(active bool) (T, error) {
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

// returnTo returns the page that a confirmation was opened from, with its filters, else otherwise.
func returnTo(c echo.Context, form *page.Form, otherwise string) string {
	if from := form.Value(openedFrom); from != "" {
		return page.SafePath(from, otherwise)
	}
	return page.Back(c, otherwise)
}

// hiddenReturn keeps that page in the form of a confirmation.
func hiddenReturn(c echo.Context, form *page.Form, otherwise string) ui.Pair {
	return ui.Pair{Name: openedFrom, Value: returnTo(c, form, otherwise)}
}

// reasonField asks why a record is voided. What is typed is kept with the record.
func reasonField(form *page.Form, suggestions ...string) *ui.Field {
	field := form.Field("reason", "Reason")
	field.MaxLength, field.Autocomplete, field.Autofocus, field.Suggestions = transaction.MaxVoidReason, "off", true, suggestions
	return &field
}

// activeMessage says that a record is active, or inactive with the consequence.
func activeMessage(name string, active bool, consequence string) string {
	if active {
		return "“" + name + "” is active"
	}
	return "“" + name + "” is inactive. " + consequence
}

// orZero is what p points to, or the zero value for nil.
func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// barPiece is a part of a bar before its length is known.
type barPiece struct {
	n    int64
	tone ui.BarTone
}

// barOf is a bar of which the pieces take their shares of whole, one after the other.
func barOf(whole int64, pieces ...barPiece) (bar ui.Bar) {
	at := 0.0
	for _, p := range pieces {
		if whole == 0 || p.n == 0 {
			continue
		}
		length := 100 * float64(p.n) / float64(whole)
		bar.Parts = append(bar.Parts, ui.BarPart{Start: at, Length: length, Tone: p.tone})
		at += length
	}
	return bar
}
