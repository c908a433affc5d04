package email_test

import (
	"strings"
	"testing"

	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/viewtest"
)

// "Setting one up guides its owner … with a link that can be mailed again."
func TestSetupEmail(t *testing.T) {
	t.Parallel()
	got := render(t, tenant.SetupEmail{Tenant: "Café Åro", Slug: "cafe-aro", Person: "Ida Sjöberg"})
	if !strings.Contains(got.Text, "https://cafe-aro.loyalty.example/admin/setup\n") {
		t.Errorf("the text has no link to the setup:\n%s", got.Text)
	}
	viewtest.Golden(t, "setup.html", got.HTML)
	viewtest.Golden(t, "setup.txt", got.Text)
}
