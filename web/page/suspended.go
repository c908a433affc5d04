package page

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
)

// suspended says that the business is suspended, and whom to ask.
func (k *Kit) suspended(c echo.Context) string {
	message := core.ErrSuspended.Message
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
