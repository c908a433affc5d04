package setup

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/admin/setup"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/page"
)

// Banner leads an owner back to the guide. It is nil for other roles and once the guide is finished.
func (h *Handlers) Banner(c echo.Context) (banner templ.Component, err error) {
	unfinished, err := h.unfinished(c)
	if unfinished != nil {
		banner = views.Banner(*unfinished)
	}
	return banner, err
}

// FirstSteps replaces the dashboard until the first sale: the steps of the guide, or the first three.
func (h *Handlers) FirstSteps(c echo.Context, has report.FirstSteps) error {
	unfinished, err := h.unfinished(c)
	if err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.FirstStepsPage(views.FirstSteps{Frame: h.Frame(c, "Dashboard", links.Dashboard), Guide: unfinished, Has: has}), nil)
}

// unfinished is how far an owner is with the guide; nil: it is finished or dismissed, or not for this role.
func (h *Handlers) unfinished(c echo.Context) (unfinished *tenant.Setup, err error) {
	if !page.Actor(c).Role.Includes(core.Owner) {
		return unfinished, nil
	}
	s, err := h.progress(c)
	if err == nil && !s.Finished() {
		unfinished = &s
	}
	return unfinished, err
}
