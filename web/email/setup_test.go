package email_test

import (
	"strings"
	"testing"

	"example.com/loyalty/core/tenant"
)

// "Setting one up guides its owner … with a link that can be mailed again."
func TestSetupEmail(t *testing.T) {
	t.Parallel()
	got := render(t, mails(t).Setup(maja, tenant.SetupEmail{Tenant: "Café Åro", Slug: "cafe-aro", Person: "Ida Sjöberg"}))
	if !strings.Contains(got.Text, "https://cafe-aro.loyalty.example/admin/setup\n") {
		t.Errorf("the text has no link to the setup:\n%s", got.Text)
	}
	golden(t, "setup", got)
}
