package email_test

import (
	"strings"
	"testing"

	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/viewtest"
)

// "Setting one up guides its owner … with a link that can be mailed again."
func TestSetupLetter(t *testing.T) {
	t.Parallel()
	got := render(t, tenant.SetupEmail{Tenant: "Café Åro", Slug: "cafe-aro", Person: "Ida Sjöberg"})
	if got.Subject != "Set up Café Åro" || !strings.Contains(got.Text, "https://cafe-aro.loyalty.example/admin/setup\n") {
		t.Errorf("subject %q, text\n%s", got.Subject, got.Text)
	}
	viewtest.Golden(t, "setup.html", got.HTML)
	viewtest.Golden(t, "setup.txt", got.Text)
}
