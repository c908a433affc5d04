package main

import "testing"

// "every page renders in under 30 ms": every route is measured, with a record for each parameter.
func TestEveryPageIsMeasured(t *testing.T) {
	t.Parallel()
	paths := map[string]bool{}
	for _, p := range routes {
		paths[p.Path] = true
	}
	used := map[string]bool{}
	for path := range paths {
		for _, at := range parameter.FindAllStringIndex(path, -1) {
			name := path[:at[1]]
			used[name] = true
			if records[name] == "" {
				t.Errorf("%s: records lacks %s", path, name)
			}
		}
	}
	for name := range records {
		if !used[name] {
			t.Errorf("records: no page uses %s", name)
		}
	}
	for _, path := range append(redirects, fragmentOnly) {
		if !paths[path] {
			t.Errorf("no page %s", path)
		}
	}
}
