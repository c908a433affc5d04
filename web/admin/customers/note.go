package customers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// editableProfile returns the profile of the customer in the path, or customer.ErrErased.
func (h *Handlers) editableProfile(c echo.Context) (customer.Profile, error) {
	id, err := panel.PathID(c)
	if err != nil {
		return customer.Profile{}, err
	}
	found, err := h.Customers.Profile(c.Request().Context(), page.Actor(c), id)
	if err == nil && found.Erased {
		err = customer.ErrErased
	}
	return found, err
}

func (h *Handlers) askNote(c echo.Context) error {
	found, err := h.editableProfile(c)
	if err != nil {
		return err
	}
	return h.noteForm(c, http.StatusOK, found, forms.Blank(map[string]string{"note": core.OrZero(found.Note)}))
}

// noteForm shows the form as a page or in the dialog.
func (h *Handlers) noteForm(c echo.Context, status int, of customer.Profile, form *forms.Form) error {
	frame := h.customerFrame(c, of.Customer, "Note about "+format.CustomerName(of.Customer))
	return h.Render(c, status, views.NotePage(frame, of.ID, form), views.NoteDialog(frame, of.ID, form))
}

func (h *Handlers) editNote(c echo.Context) error {
	found, err := h.editableProfile(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[struct{}]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (struct{}, error) {
			if !form.Changed("note") {
				return struct{}{}, nil
			}
			return struct{}{}, h.Customers.SetNote(ctx, by, found.ID, form.Value("note"))
		},
		Refused: func(status int, form *forms.Form) error { return h.noteForm(c, status, found, form) },
		To:      page.To[struct{}](links.Customer(found.ID)),
		Done:    func(struct{}) string { return "Note saved." },
	})
}

func (h *Handlers) askTags(c echo.Context) error {
	found, err := h.editableProfile(c)
	if err != nil {
		return err
	}
	return h.tagForm(c, http.StatusOK, found, forms.Blank(nil))
}

// tagForm shows the form as a page or in the dialog.
func (h *Handlers) tagForm(c echo.Context, status int, of customer.Profile, form *forms.Form) error {
	known, err := h.Customers.Tags(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	v := views.TagForm{Frame: h.customerFrame(c, of.Customer, "Tags of "+format.CustomerName(of.Customer)), Customer: of, Known: known, Form: form}
	return h.Render(c, status, views.TagPage(v), views.TagDialog(v))
}

// changeTag returns the handler of a form that adds or removes a tag.
func (h *Handlers) changeTag(change func(context.Context, core.Actor, core.ID, string) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		found, err := h.editableProfile(c)
		if err != nil {
			return err
		}
		return page.Submit(h.Kit, c, page.Submission[struct{}]{
			Run: func(ctx context.Context, by core.Actor, form *forms.Form) (struct{}, error) {
				return struct{}{}, change(ctx, by, found.ID, form.Value("tag"))
			},
			Refused: func(status int, form *forms.Form) error { return h.tagForm(c, status, found, form) },
			To:      page.To[struct{}](links.Customer(found.ID)),
			Done:    func(struct{}) string { return "Tags saved." },
		})
	}
}

// removeKey removes a number or an address by which a customer was also found.
func (h *Handlers) removeKey(c echo.Context) error {
	found, err := h.editableProfile(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[struct{}]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (struct{}, error) {
			_, err := h.Customers.RemoveKey(ctx, by, found.ID, customer.KeyKind(form.Value("kind")), form.Value("key"))
			return struct{}{}, err
		},
		To:   page.To[struct{}](links.Customer(found.ID)),
		Done: func(struct{}) string { return format.CustomerName(found.Customer) + " is no longer found by it." },
	})
}
