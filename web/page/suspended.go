package page

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
)

// ErrSuspended answers every request to the panel and the till of a suspended business.
var ErrSuspended = &core.Error{Kind: core.KindForbidden, Message: "This business is suspended. No one can sign in, and its data is safe."}

// suspended says that the business is suspended, and whom to ask.
func (k *Kit) suspended(c echo.Context) string {
	message := ErrSuspended.Message
	if k.Suspension == nil {
		return message
	}
	s, err := k.Suspension(c.Request().Context(), Visit(c).Slug)
	if err != nil {
		return message // still the most important part
	}
	if s.Mailed {
		message += " The owner got an e-mail with the reason."
	}
	if s.Contact != "" {
		message += " For questions, write to " + s.Contact + "."
	}
	return message
}
