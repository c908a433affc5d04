package main

import (
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/web/route"
)

// "every page renders in under 30 ms": every route is measured, with a record for each parameter.
func TestEveryPageIsMeasured(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, p := range routes {
		for _, name := range parameter.FindAllString(p.Path, -1) {
			used[name] = true
			if records[name] == "" {
				t.Errorf("%s: records lacks %s", p.Path, name)
			}
		}
		if strings.Count(p.Path, ":") != len(parameter.FindAllString(p.Path, -1)) {
			t.Errorf("%s has another parameter than %s", p.Path, parameter)
		}
	}
	for name := range records {
		if !used[name] {
			t.Errorf("records: no page uses %s", name)
		}
	}
	if !slices.ContainsFunc(routes, func(p route.Route) bool { return p.Path == fragmentOnly }) {
		t.Errorf("no page %s", fragmentOnly)
	}
}
