package panel_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/views/panel"
)

var blank = regexp.MustCompile(`\{[a-z]*\}`)

// "Action names translated into sentences in one table, a test holds it complete against
// core/audit's list of known actions": of tenants and of the platform.
func TestEveryActionHasItsSentence(t *testing.T) {
	t.Parallel()
	actions := map[string]bool{}
	nouns := map[string]bool{}
	for _, action := range append(audit.Actions(core.System(core.Tenant{}, "test")), audit.PlatformActions()...) {
		noun, _, _ := strings.Cut(action, ".")
		nouns[noun], actions[action] = true, true
		sentence := panel.AuditSentences[action]
		if sentence == "" || panel.AuditNouns[noun].Label == "" {
			t.Errorf("the log has no words for %s: views/panel/audit.go", action)
		}
		for _, b := range blank.FindAllString(sentence, -1) {
			if !slices.Contains([]string{"{who}", "{name}", "{customer}", "{sale}", "{refund}", "{for}"}, b) {
				t.Errorf("%s: nothing fills %s", action, b)
			}
		}
	}
	if len(panel.AuditSentences) != len(actions) || len(panel.AuditNouns) != len(nouns) {
		t.Errorf("words for %d actions of %d nouns, known are %d of %d", len(panel.AuditSentences), len(panel.AuditNouns), len(actions), len(nouns))
	}
}
