package platform_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
)

// "Platform settings: issuer, tax rate, payment text, mail sender."
func TestSettings(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	const path = "/platform/settings"
	empty := k.get(t, path)
	if empty.Find(".alert-warning").Length() != 1 {
		t.Errorf("without an issuer: %q", words(empty.Find("main")))
	}
	v := sends(empty.Find("form[action='" + path + "']"))
	for name, value := range map[string]string{
		"issuer_name": "Loyalty Platform AB", "issuer_address": "Kungsgatan 12\r\n111 35 Stockholm", "issuer_tax_number": "SE559900112201",
		"issuer_email": "billing@loyalty.example", "tax_name": "VAT", "tax_rate": "25,5", "payment_text": "Pay to SE45 5000", "payment_days": "14",
		"issue_automatically": "1", "mail_name": "Loyalty", "mail_address": "hello@loyalty.example",
	} {
		v.Set(name, value)
	}
	saved := k.follow(t, path, v)
	if flash(saved) == "" || saved.Find(".alert-warning").Length() > 0 || saved.Find("#field-tax_rate").AttrOr("value", "") != "25.5" {
		t.Errorf("saved: %q", words(saved.Find("main")))
	}
	got, err := k.Invoices.Settings(t.Context(), k.admin)
	want := billing.Settings{
		Issuer:  billing.Party{Name: "Loyalty Platform AB", Address: "Kungsgatan 12\n111 35 Stockholm", TaxNumber: "SE559900112201", Email: "billing@loyalty.example"},
		TaxName: "VAT", TaxRate: 2550, PaymentText: "Pay to SE45 5000", PaymentDays: 14, IssueAutomatically: true,
		MailName: "Loyalty", MailAddress: "hello@loyalty.example",
	}
	if err != nil || got != want {
		t.Errorf("stored %+v, %v", got, err)
	}

	// Of two who save at once, neither undoes what the other changed.
	mine := sends(saved.Find("form[action='" + path + "']"))
	k.posted(t, path, with(sends(saved.Find("form[action='"+path+"']")), "payment_days", "30"))
	mine.Del("issue_automatically")
	k.posted(t, path, with(mine, "tax_rate", "24 %"))
	if got, err := k.Invoices.Settings(t.Context(), k.admin); err != nil || got.PaymentDays != 30 || got.TaxRate != 2400 || got.IssueAutomatically {
		t.Errorf("after both: %+v, %v", got, err)
	}

	for field, c := range map[string]struct{ typed, want string }{
		"tax_rate":     {"25.555", says("Tax rate", core.Violation{Rule: "percentage"})},
		"tax_name":     {" ", says("Tax", core.Required)},
		"payment_days": {"400", says("Payment due after", core.Max(365))},
		"issuer_email": {"billing", says("E-mail", core.MustBeEmail)},
		"mail_address": {"Åro <a@example.com>", says("Sender address", core.MustBeEmail)},
	} {
		page := k.refused(t, path, with(sends(k.get(t, path).Find("form[action='"+path+"']")), field, c.typed))
		if got := mistakes(page)[field]; got != c.want || page.Find("#field-"+field).AttrOr("value", "") != c.typed {
			t.Errorf("%s %q: %q", field, c.typed, got)
		}
	}
}
