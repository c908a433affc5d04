package operations

import (
	"context"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/platform/operations"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

func (h *Handlers) settingRoutes() []route.Route {
	return []route.Route{
		route.Get(links.PlatformSettings, route.SuperAdmins, h.showSettings),
		route.Post(links.PlatformSettings, route.SuperAdmins, h.editSettings),
	}
}

// settingFields are the fields of the form, by core's names.
var settingFields = []string{
	"issuer_name", "issuer_address", "issuer_tax_number", "issuer_email", "tax_name", "tax_rate",
	"payment_text", "payment_days", "issue_automatically", "mail_name", "mail_address",
}

// settingsForm is a form with the stored settings.
func settingsForm(s billing.Settings) *forms.Form {
	values := map[string]string{
		"issuer_name": s.Issuer.Name, "issuer_address": s.Issuer.Address, "issuer_tax_number": s.Issuer.TaxNumber, "issuer_email": s.Issuer.Email,
		"tax_name": s.TaxName, "tax_rate": forms.Rate(s.TaxRate),
		"payment_text": s.PaymentText, "payment_days": strconv.FormatInt(s.PaymentDays, 10),
		"mail_name": s.MailName, "mail_address": s.MailAddress,
	}
	if s.IssueAutomatically {
		values["issue_automatically"] = "1"
	}
	return forms.Blank(values)
}

func (h *Handlers) showSettings(c echo.Context) error {
	s, err := h.Invoices.Settings(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	return h.settingsPage(c, http.StatusOK, s, settingsForm(s))
}

func (h *Handlers) settingsPage(c echo.Context, status int, s billing.Settings, form *forms.Form) error {
	v := views.Settings{Frame: h.Frame(c, "Settings", links.PlatformSettings), Form: form, Incomplete: !s.Ready()}
	return h.Render(c, status, views.SettingsPage(v), nil)
}

func (h *Handlers) editSettings(c echo.Context) error {
	stored, err := h.Invoices.Settings(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[billing.Settings]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (billing.Settings, error) {
			form.KeepStored(settingsForm(stored), settingFields...)
			in := billing.SettingsInput{
				IssuerName: form.Value("issuer_name"), IssuerAddress: form.Value("issuer_address"),
				IssuerTaxNumber: form.Value("issuer_tax_number"), IssuerEmail: form.Value("issuer_email"),
				TaxName: form.Value("tax_name"), TaxRate: form.Rate("tax_rate"),
				PaymentText: form.Value("payment_text"), PaymentDays: form.Integer("payment_days"), IssueAutomatically: form.Checked("issue_automatically"),
				MailName: form.Value("mail_name"), MailAddress: form.Value("mail_address"),
			}
			in.Malformed = form.Malformed
			return h.Invoices.EditSettings(ctx, by, in)
		},
		Refused: func(status int, form *forms.Form) error { return h.settingsPage(c, status, stored, form) },
		To:      page.To[billing.Settings](links.PlatformSettings),
		Done:    func(billing.Settings) string { return "Settings were saved." },
	})
}
