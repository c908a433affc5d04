package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/web"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/platform"
	"example.com/loyalty/web/portal"
	"example.com/loyalty/web/till"
)

// "Every POST that needs no sign-in has a stated budget", which docs/security.md says. Pages about the API and kept
// e-mails take none.
func TestEveryOpenPostHasABudget(t *testing.T) {
	t.Parallel()
	open := slices.Concat(portal.OpenPosts(), admin.OpenPosts(), platform.OpenPosts(), till.OpenPosts())
	if len(open) < 15 {
		t.Fatalf("only %d routes: %q", len(open), open)
	}
	var stated []string
	document, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range web.Budgets {
		stated = append(stated, b.Paths...)
		row := "| " + strings.Join([]string{b.What, b.Counted, b.Allowed, b.Beyond, b.Test}, " | ") + " |"
		if !strings.Contains(string(document), row+"\n") {
			t.Errorf("docs/security.md lacks\n%s", row)
		}
	}
	for _, path := range open {
		if !slices.Contains(stated, path) {
			t.Errorf("POST %s has no budget in web.Budgets", path)
		}
	}
	for _, path := range stated {
		if !slices.Contains(open, path) {
			t.Errorf("web.Budgets names %s, which takes no POST without a sign-in", path)
		}
	}
}
