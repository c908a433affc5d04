package customers

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/merging"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// askMerge shows one of two steps: choose the duplicate, then the preview.
func (h *Handlers) askMerge(c echo.Context) error {
	kept, err := h.editableCustomer(c)
	if err != nil {
		return err
	}
	q := forms.Query(c.QueryParams())
	if q.Filled("customer_ulid") == nil {
		return h.pickDuplicate(c, kept)
	}
	return h.mergePreview(c, http.StatusOK, kept, q, nil)
}

// pickDuplicate lets the person search for the duplicate. Before a search it offers likely ones, or else
// those whom every picker suggests.
func (h *Handlers) pickDuplicate(c echo.Context, kept customer.Customer) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	v := panelviews.CustomerPicker{
		Frame: h.customerFrame(c, kept, "Merge duplicate"), Path: links.Customer(kept.ID) + "/merge",
		Question: "Choose the duplicate of " + format.CustomerName(kept), Heading: "Likely duplicates",
		Search: q.Field("search", ui.Field{Label: "Name, phone or e-mail"}),
	}
	v.Search.Placeholder, v.Search.Autofocus = v.Search.Label, true
	var found []customer.Customer
	var err error
	if q.Filled("search") == nil {
		if found, err = h.Customers.Duplicates(ctx, by, kept.ID); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		v.Note = "No customer has the same name or the same last digits."
		v.Nothing = v.Note + " Search for the duplicate."
		if found, err = h.SearchedOrSuggested(ctx, by, q, &v, customer.Suggestion{}); err != nil {
			return err
		}
	}
	v.Found = slices.DeleteFunc(found, func(one customer.Customer) bool { return one.ID == kept.ID || one.Erased })
	return h.Render(c, http.StatusOK, panelviews.CustomerPickerPage(v), panelviews.FoundCustomers(v))
}

// mergePreview shows what a merge would do, or why it is refused.
func (h *Handlers) mergePreview(c echo.Context, status int, kept customer.Customer, form *forms.Form, problem *ui.Problem) error {
	duplicate := form.Reference("customer_ulid")
	p, err := h.Merging.Preview(c.Request().Context(), page.Actor(c), kept.ID, duplicate, form.Malformed)
	switch {
	case errors.Is(err, merging.ErrTooLarge):
		problem, status = &ui.Problem{Sentence: merging.ErrTooLarge.Message}, http.StatusUnprocessableEntity
	case err != nil:
		return err
	}
	v := views.MergePreview{Frame: h.customerFrame(c, kept, "Merge duplicate"), Preview: p, FormKey: h.NewFormKey(), Problem: problem}
	return h.Render(c, status, views.MergePage(v), nil)
}

func (h *Handlers) mergeCustomer(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[customer.Customer]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[customer.Customer]) (core.Reply[customer.Customer], error) {
			duplicate := form.Reference("customer_ulid")
			return h.Merging.Merge(ctx, by, id, duplicate, form.Malformed, once)
		},
		Refused: func(status int, form *forms.Form) error {
			kept, err := h.editableCustomer(c)
			if err != nil {
				return err
			}
			return h.mergePreview(c, status, kept, form, form.Problem())
		},
		To: page.To[customer.Customer](links.Customer(id)),
		Done: func(kept customer.Customer) string {
			return "The duplicate was merged into " + format.CustomerName(kept) + "."
		},
	})
}

// showMerged shows the timeline of a customer from before they were merged into the one in the path.
func (h *Handlers) showMerged(c echo.Context) error {
	kept, err := h.customerOf(c)
	if err != nil {
		return err
	}
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	all, err := h.Customers.Merged(ctx, by, kept.ID)
	if err != nil {
		return err
	}
	v := views.MergedTimeline{Frame: h.customerFrame(c, kept, "Merged customers"), Kept: kept, All: all}
	chosen := q.Filled("merged")
	if len(all) == 0 && chosen == nil {
		return h.Render(c, http.StatusOK, views.MergedTimelinePage(v), nil)
	}
	var which core.ID
	if chosen == nil {
		which = all[0].ID
	} else if which, err = core.ParseID(*chosen); err != nil {
		return core.ErrNotFound
	}
	shown, list, err := h.Customers.MergedTimeline(ctx, by, kept.ID, which, q.Position())
	if err != nil {
		return err
	}
	v.Shown = &shown
	v.Timeline = views.Timeline{
		Reader: v.Reader, Of: kept.ID, Entries: list.Items, Continued: page.IsFragment(c),
		Pager: page.Pager(list, c.Request().URL, "event", "events", "#history"),
	}
	return h.Render(c, http.StatusOK, views.MergedTimelinePage(v), views.TimelineEntries(v.Timeline))
}
