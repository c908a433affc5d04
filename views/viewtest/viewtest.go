// Package viewtest checks rendered pages and e-mails in tests: against golden files, and for
// mismatched tags. `go test ./web/docs -args -update` writes a package's golden files.
package viewtest

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Golden compares got with testdata/name.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s is missing; write it with -update, then review it", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	around := func(text string) string { return text[max(0, at-60):min(len(text), at+120)] }
	t.Errorf("%s differs from byte %d; if intended, write it with -update\n got … %s …\nwant … %s …",
		file, at, around(got), around(string(want)))
}

var (
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	// templ escapes "<" and ">" in attributes, so a tag ends at the first ">".
	tag    = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9]*)([^<>]*)>`)
	inside = regexp.MustCompile(`^(\s+[a-zA-Z:-]+(="[^"]*")?)*\s*/?$`)
)

const doctype = "<!doctype html>"

// void has the elements without an end tag.
var void = []string{"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}

// WellFormed checks that a document starts with a doctype, that elements are closed in the right
// order, that attributes are quoted, and that ids are unique. It is stricter than browsers.
func WellFormed(t *testing.T, html string) {
	t.Helper()
	for _, fault := range faults(html) {
		t.Error(fault)
	}
}

func faults(html string) []string {
	var found []string
	rest, ok := cutPrefixFold(html, doctype)
	if !ok {
		found = append(found, "does not start with "+doctype)
	}
	rest = comment.ReplaceAllString(rest, "")
	var open []string
	for _, m := range tag.FindAllStringSubmatch(rest, -1) {
		end, name, attributes := m[1] != "", strings.ToLower(m[2]), m[3]
		switch {
		case !inside.MatchString(attributes):
			found = append(found, "invalid attributes: "+m[0])
		case slices.Contains(void, name):
			if end {
				found = append(found, m[0]+" is an end tag of a void element")
			}
		case !end:
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			return append(found, m[0]+" inside <"+strings.Join(open, "><")+">")
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		found = append(found, "never closed: <"+strings.Join(open, "><")+">")
	}
	if text := tag.ReplaceAllString(rest, ""); strings.ContainsAny(text, "<>") {
		found = append(found, "a bare < or > in: "+text)
	}
	return append(found, duplicateIDs(rest)...)
}

var id = regexp.MustCompile(`\sid="([^"]*)"`)

func duplicateIDs(html string) []string {
	var found, seen []string
	for _, m := range id.FindAllStringSubmatch(html, -1) {
		if slices.Contains(seen, m[1]) {
			found = append(found, "duplicate id "+m[1])
		}
		seen = append(seen, m[1])
	}
	return found
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
