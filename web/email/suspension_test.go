package email_test

import (
	"strings"
	"testing"

	"example.com/loyalty/core/tenant"
)

// "Suspend with a reason (kept; owner mailed with it; audited), reactivate".
func TestSuspensionEmail(t *testing.T) {
	t.Parallel()
	l := tenant.SuspensionEmail{Tenant: "Café Åro", Slug: "cafe-aro", Reason: "Three invoices are overdue.\nPlease call us."}
	over := l
	over.Reason, over.Over = "", true
	for name, c := range map[string]struct {
		email tenant.SuspensionEmail
		words string
	}{
		"suspended":   {l, "Reason:    Three invoices are overdue. Please call us.\n"},
		"reactivated": {over, "https://cafe-aro.loyalty.example/admin\n"},
	} {
		got := render(t, mails(t).Suspension(maja, c.email))
		if !strings.Contains(got.Text, c.words) {
			t.Errorf("%s: the text doesn't say %q:\n%s", name, c.words, got.Text)
		}
		golden(t, name, got)
	}
}
