package admin

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// withEmptyForm is the handler of a page that a refused form shows again.
func withEmptyForm(show func(c echo.Context, status int, form *page.Form) error) echo.HandlerFunc {
	return func(c echo.Context) error { return show(c, http.StatusOK, &page.Form{}) }
}

// setActive activates or deactivates a record and leads to a page that shows it.
func setActive[T any](
	a *Admin, c echo.Context, to string, set func(ctx context.Context, by core.Actor, active bool) (T, error), done func(T) string,
) error {
	return page.Submit(a.Kit, c, page.Submission[T]{
		Run: func(ctx context.Context, by core.Actor, form *page.Form) (T, error) {
			return page.Switch(form, "active", func(active bool) (T, error) { return set(ctx, by, active) })
		},
		To:   page.To[T](to),
		Done: done,
	})
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
