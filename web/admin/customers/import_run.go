package customers

import (
	"context"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// submitImport runs a step of the import in the path, and shows the import or, if it was discarded,
// the upload form.
func (h *Handlers) submitImport(
	c echo.Context, step func(context.Context, core.Actor, core.ID, *forms.Form) (importing.Import, error), refused func(status int, form *forms.Form) error,
) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[importing.Import]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (importing.Import, error) {
			return step(ctx, by, id, form)
		},
		Refused: refused,
		To: func(i importing.Import) string {
			if i.Discarded() {
				return links.Imports
			}
			return links.Import(id)
		},
		Done: func(i importing.Import) string {
			if i.Discarded() {
				return i.FileName + " was discarded."
			}
			return ""
		},
	})
}

// importFrame is the frame of a question about an import.
func (h *Handlers) importFrame(c echo.Context, title string, i importing.Import) panelviews.Frame {
	return h.Frame(c, title, links.Customers, customersCrumb, importsCrumb, ui.Crumb{Label: i.FileName, Path: links.Import(i.ID)})
}

func (h *Handlers) continueImport(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	if _, err := h.Imports.Continue(c.Request().Context(), page.Actor(c), id); err != nil {
		return err
	}
	return h.Redirect(c, links.Import(id))
}

func (h *Handlers) confirmRunImport(c echo.Context, status int, form *forms.Form) error {
	i, err := h.importOf(c)
	if err != nil {
		return err
	}
	words := format.Count(i.Created, "customer", "customers") + " will be added, with the points and stamps in the file."
	if n := i.Found + i.Repeated; n > 0 {
		words += " " + format.Count(n, "row belongs to an existing customer or is a duplicate", "rows belong to existing customers or are duplicates") + ": nothing changes for them."
	}
	if i.Failed > 0 {
		words += " " + format.Count(i.Failed, "row with errors", "rows with errors") + " will be skipped."
	}
	return h.Confirm(c, status, panelviews.Confirm{
		Frame: h.importFrame(c, "Import "+format.Count(i.Created, "customer", "customers")+"?", i),
		Confirm: ui.Confirm{
			Action: links.Import(i.ID) + "/run", Button: "Import customers", Cancel: links.Import(i.ID), Problem: form.Problem(),
			Words: []string{words, "You can stop the import, but customers already added stay."},
		},
	})
}

func (h *Handlers) runImport(c echo.Context) error {
	run := func(ctx context.Context, by core.Actor, id core.ID, _ *forms.Form) (importing.Import, error) {
		return h.Imports.Run(ctx, by, id)
	}
	return h.submitImport(c, run, func(status int, form *forms.Form) error { return h.confirmRunImport(c, status, form) })
}

func (h *Handlers) confirmCancelImport(c echo.Context, status int, form *forms.Form) error {
	i, err := h.importOf(c)
	if err != nil {
		return err
	}
	v := panelviews.Confirm{
		Frame: h.importFrame(c, "Discard this file?", i),
		Confirm: ui.Confirm{
			Action: links.Import(i.ID) + "/cancel", Button: "Discard file", Danger: true, Cancel: links.Import(i.ID), Problem: form.Problem(),
			Words: []string{"Nothing is imported. You can upload the file again."},
		},
	}
	if i.Status == importing.Running {
		v.Title, v.Button = "Stop this import?", "Stop import"
		v.Words = []string{"Customers already added stay. The remaining rows won't be imported."}
	}
	return h.Confirm(c, status, v)
}

func (h *Handlers) cancelImport(c echo.Context) error {
	cancel := func(ctx context.Context, by core.Actor, id core.ID, _ *forms.Form) (importing.Import, error) {
		return h.Imports.Cancel(ctx, by, id)
	}
	return h.submitImport(c, cancel, func(status int, form *forms.Form) error { return h.confirmCancelImport(c, status, form) })
}
