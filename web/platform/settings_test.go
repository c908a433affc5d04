package platform_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

// "Platform settings: issuer, tax rate, payment text, mail sender."
func TestSettings(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	const path = "/platform/settings"
	empty := k.Get(path)
	if empty.Find(".alert-warning").Length() != 1 {
		t.Errorf("without an issuer: %q", empty.Text("main"))
	}
	saved := k.Submit(path, webtest.With(empty.Fields("form[action='"+path+"']"),
		"issuer_name", "Loyalty Platform AB", "issuer_address", "Kungsgatan 12\r\n111 35 Stockholm", "issuer_tax_number", "SE559900112201",
		"issuer_email", "billing@loyalty.example", "tax_name", "VAT", "tax_rate", "25,5", "payment_text", "Pay to SE45 5000", "payment_days", "14",
		"issue_automatically", "1", "mail_name", "Loyalty", "mail_address", "hello@loyalty.example"))
	if !saved.Flashed(ui.Done, "") || saved.Find(".alert-warning").Length() > 0 || saved.Value("#field-tax_rate") != "25.5" {
		t.Errorf("saved: %q", saved.Text("main"))
	}
	got, err := k.Billing.Settings(t.Context(), k.Person)
	want := billing.Settings{
		Issuer:  billing.Party{Name: "Loyalty Platform AB", Address: "Kungsgatan 12\n111 35 Stockholm", TaxNumber: "SE559900112201", Email: "billing@loyalty.example"},
		TaxName: "VAT", TaxRate: 2550, PaymentText: "Pay to SE45 5000", PaymentDays: 14, IssueAutomatically: true,
		MailName: "Loyalty", MailAddress: "hello@loyalty.example",
	}
	if err != nil || got != want {
		t.Errorf("stored %+v, %v", got, err)
	}

	// Of two who save at once, neither undoes what the other changed.
	mine := saved.Fields("form[action='" + path + "']")
	k.Submitted(path, webtest.With(saved.Fields("form[action='"+path+"']"), "payment_days", "30"))
	mine.Del("issue_automatically")
	k.Submitted(path, webtest.With(mine, "tax_rate", "24 %"))
	if got, err := k.Billing.Settings(t.Context(), k.Person); err != nil || got.PaymentDays != 30 || got.TaxRate != 2400 || got.IssueAutomatically {
		t.Errorf("after both: %+v, %v", got, err)
	}

	for field, c := range map[string]struct{ typed, want string }{
		"tax_rate":     {"25.555", webtest.Message("Tax rate", core.Violation{Rule: "percentage"})},
		"tax_name":     {" ", webtest.Message("Tax", core.Required)},
		"payment_days": {"400", webtest.Message("Payment due after", core.Max(365))},
		"issuer_email": {"billing", webtest.Message("E-mail", core.MustBeEmail)},
		"mail_address": {"Åro <a@example.com>", webtest.Message("Sender address", core.MustBeEmail)},
	} {
		page := k.Refused(path, webtest.With(k.Get(path).Fields("form[action='"+path+"']"), field, c.typed))
		if got := mistakes(page)[field]; got != c.want || page.Find("#field-"+field).AttrOr("value", "") != c.typed {
			t.Errorf("%s %q: %q", field, c.typed, got)
		}
	}
	for _, typed := range shoptest.NoEmails() {
		page := k.Refused(path, webtest.With(k.Get(path).Fields("form[action='"+path+"']"), "issuer_email", typed, "mail_address", typed))
		if got := mistakes(page); got["issuer_email"] == "" || got["mail_address"] == "" {
			t.Errorf("%+q: %q", typed, got)
		}
	}
}
