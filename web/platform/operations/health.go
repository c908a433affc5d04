package operations

import (
	"errors"
	"net/http"
	"runtime"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/verify"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/platform/operations"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

func (h *Handlers) healthRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Health, route.SuperAdmins, h.health),
		route.Post(links.Verify, route.SuperAdmins, h.runVerify),
	}
}

func (h *Handlers) health(c echo.Context) error {
	found, err := h.Operations.Health(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.HealthPage(views.Health{
		Frame: h.Frame(c, "Health", links.Health), Health: found, Build: h.Version, Go: strings.TrimPrefix(runtime.Version(), "go"),
		MailTrouble: h.MailTrouble(), LimitTrouble: h.LimitTrouble(),
	}), nil)
}

func (h *Handlers) runVerify(c echo.Context) error {
	err := h.Checks.Request(c.Request().Context(), page.Actor(c))
	switch {
	case errors.Is(err, verify.ErrRunning):
		h.Flash(c, ui.Warning, verify.ErrRunning.Message)
	case err != nil:
		return err
	default:
		h.Flash(c, ui.Done, "The check starts within a minute. Reload this page for the result.")
	}
	return h.Redirect(c, links.Health)
}
