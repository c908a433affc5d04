package page

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
)

// ErrSuspended is what everyone is answered at the panel and the till of a suspended business.
var ErrSuspended = &core.Error{Kind: core.KindForbidden, Message: "This business is suspended. No one can sign in, and its data is safe."}

// suspended says in words that the business is suspended, and whom to ask. One round trip.
func (k *Kit) suspended(c echo.Context) string {
	words := ErrSuspended.Message
	if k.Suspension == nil {
		return words
	}
	s, err := k.Suspension(c.Request().Context(), Visit(c).Slug)
	if err != nil {
		return words // no reason to keep the rest from people
	}
	if s.Mailed {
		words += " The owner got an e-mail with the reason."
	}
	if s.Contact != "" {
		words += " For questions, write to " + s.Contact + "."
	}
	return words
}
