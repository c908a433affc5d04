package panel

import (
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/web/page"
)

// PlanNotices warns owners and managers about plan limits that are almost or fully used.
func (b *Business) PlanNotices(c echo.Context, kinds ...usage.Kind) (notices []views.PlanNotice, err error) {
	by := page.Actor(c)
	if !by.Role.Includes(core.Manager) {
		return notices, nil
	}
	uses, err := b.Usage.Warnings(c.Request().Context(), by)
	if err != nil {
		return notices, err
	}
	for _, u := range uses {
		if !slices.Contains(kinds, u.Kind) {
			continue
		}
		words := views.PlanLimits[u.Kind]
		n := views.PlanNotice{Words: "You've used " + format.Number(u.Used) + " of the " + format.Count(*u.Limit, words.One, words.Many) + " in your plan."}
		if u.LimitReached() {
			n.Reached, n.Words = true, n.Words+" "+words.Reached
		}
		if by.Role.Includes(core.Owner) {
			n.Path = links.Billing
		} else {
			n.Words += " Ask an owner to upgrade it."
		}
		notices = append(notices, n)
	}
	return notices, nil
}
