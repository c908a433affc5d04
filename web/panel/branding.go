package panel

import (
	"github.com/labstack/echo/v4"
)

// SetCacheControl lets browsers cache an answer, which doesn't depend on the session.
func SetCacheControl(c echo.Context, control string) {
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, control)
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
}
