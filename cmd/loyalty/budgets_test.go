package main

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/platform"
	"example.com/loyalty/web/portal"
	"example.com/loyalty/web/till"
)

// "Every POST that needs no sign-in has a stated budget", which docs/security.md says. Pages about the API and kept
// e-mails take none.
func TestEveryOpenPostHasABudget(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	open := 0
	for _, r := range slices.Concat(portal.Routes(), admin.Routes(), platform.Routes(), till.Routes()) {
		if r.Method == http.MethodGet || !r.Who.Everyone {
			if len(r.Budgets) > 0 {
				t.Errorf("%s %s has a budget for what needs no sign-in, but isn't such a route", r.Method, r.Path)
			}
			continue
		}
		open++
		if len(r.Budgets) == 0 {
			t.Errorf("%s %s has no budget", r.Method, r.Path)
		}
		for _, b := range r.Budgets {
			row := "| " + strings.Join([]string{b.What, b.Counted, b.Allowed, b.Beyond, b.Test}, " | ") + " |"
			if !strings.Contains(string(document), row+"\n") {
				t.Errorf("docs/security.md lacks\n%s", row)
			}
		}
	}
	if open < 15 {
		t.Fatalf("only %d routes", open)
	}
}
