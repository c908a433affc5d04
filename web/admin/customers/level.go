package customers

import (
	"context"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/level"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// askLevel shows the form that changes a customer's level, on a page or in the dialog.
func (h *Handlers) askLevel(c echo.Context) error { return h.levelForm(c, http.StatusOK, nil) }

func (h *Handlers) levelForm(c echo.Context, status int, form *forms.Form) error {
	of, err := h.editableCustomer(c)
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), page.Actor(c)
	rules, err := h.Transactions.RulesNow(ctx, by)
	if err != nil {
		return err
	}
	found, err := h.Levels.Find(ctx, by, rules.Levels, of.ID)
	if err != nil {
		return err
	}
	if found.Progress == nil {
		return level.ErrOff
	}
	if form == nil {
		form = forms.Blank(map[string]string{"level": strconv.FormatInt(found.Progress.Level.ID, 10)})
	}
	v := views.LevelChange{Frame: h.customerFrame(c, of, "Change level"), Customer: of, Level: found, Form: form, FormKey: h.NewFormKey()}
	return h.Render(c, status, views.LevelChangePage(v), views.LevelChangeDialog(v))
}

func (h *Handlers) changeLevel(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[award.Progress]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[award.Progress]) (core.Reply[award.Progress], error) {
			return h.Levels.Give(ctx, by, id, level.Given{
				LevelID: form.Number("level"), Until: form.Date("until"), Reason: form.Value("reason"), Malformed: form.Malformed,
			}, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.levelForm(c, status, form) },
		To:      page.To[award.Progress](links.Customer(id)),
		Done:    func(p award.Progress) string { return "Level changed to " + p.Level.Name + "." },
	})
}
