package email_test

import (
	"strings"
	"testing"

	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/viewtest"
)

// "Suspend with a reason (kept; owner mailed with it; audited), reactivate".
func TestSuspensionLetter(t *testing.T) {
	t.Parallel()
	l := tenant.SuspensionEmail{Tenant: "Café Åro", Slug: "cafe-aro", Reason: "Three invoices are overdue.\nPlease call us."}
	over := l
	over.Reason, over.Over = "", true
	for name, c := range map[string]struct {
		letter  tenant.SuspensionEmail
		subject string
		words   string
	}{
		"suspended":   {l, "Café Åro has been suspended", "Reason:    Three invoices are overdue. Please call us.\n"},
		"reactivated": {over, "Café Åro is active again", "https://cafe-aro.loyalty.example/admin\n"},
	} {
		got := render(t, c.letter)
		if got.Subject != c.subject || !strings.Contains(got.Text, c.words) {
			t.Errorf("%s: subject %q, text\n%s", name, got.Subject, got.Text)
		}
		viewtest.Golden(t, name+".html", got.HTML)
		viewtest.Golden(t, name+".txt", got.Text)
	}
}
