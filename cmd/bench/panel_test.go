package main

import "testing"

// "every page renders in under 30 ms": none is left out because nobody said of which
// record it is, and nothing is kept for a page that is gone.
func TestEveryPageIsMeasured(t *testing.T) {
	t.Parallel()
	paths := map[string]bool{}
	for _, p := range asked {
		paths[p.Path] = true
	}
	used := map[string]bool{}
	for path := range paths {
		for _, at := range parameter.FindAllStringIndex(path, -1) {
			name := path[:at[1]]
			used[name] = true
			if records[name] == "" {
				t.Errorf("%s: records say nothing of %s", path, name)
			}
		}
	}
	for name := range records {
		if !used[name] {
			t.Errorf("records: no page has %s", name)
		}
	}
	for path := range peculiar {
		if !paths[path] {
			t.Errorf("peculiar: there is no page %s", path)
		}
	}
}
