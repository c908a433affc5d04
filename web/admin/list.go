package admin

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// listPager leads to the neighbours of a page of a list with the same filters. htmx replaces the
// element that target selects.
func listPager[T any](c echo.Context, list core.List[T], noun, target string) ui.Pager {
	return page.Pager(list, c.Request().URL, countOnPage(list, noun), target)
}

func countOnPage[T any](list core.List[T], noun string) string {
	return page.Count(int64(len(list.Items)), noun+" on this page", noun+"s on this page")
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
