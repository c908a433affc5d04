package promotion_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/promotion"
	"example.com/loyalty/core/shoptest"
)

// The table in docs/architecture/database.md has these numbers.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shoptest.In(t, d)
	p := shop{s, s.Promotions}
	added, cakes := p.add(double()), p.addCategory("Cakes")
	for _, c := range []struct {
		name string
		want int
		do   func() error
	}{
		{"list promotions", 1, func() error { return second(p.List(t.Context(), p.By, nil, core.Page{Size: 10})) }},
		{"what they name", 1, func() error { return second(p.Parts(t.Context(), p.By)) }},
		{"categories with unmapped codes", 1, func() error { _, _, err := p.Catalogue(t.Context(), p.By); return err }},
		{"edit a promotion", 3, func() error { return second(p.Edit(t.Context(), p.By, added.ID, promotion.Edit{})) }},
		{"edit a category", 3, func() error { return second(p.EditCategory(t.Context(), p.By, cakes.ID, promotion.EditCategory{})) }},
		{"edit the limits", 2, func() error { return second(p.EditLimits(t.Context(), p.By, promotion.EditLimits{})) }},
	} {
		p.Check(c.do())
		before := count()
		p.Check(c.do())
		if got := count() - before; got != c.want {
			t.Errorf("%s: %d round trips, want %d", c.name, got, c.want)
		}
	}
}
