package docs_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages are the documents for readers of the code, by their paths from here.
func pages(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, name := range paths {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = string(text)
		}
	}
	return texts
}

var (
	link    = regexp.MustCompile(`\]\(([^):# ]*)(?:#([^) ]+))?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	marks   = regexp.MustCompile(`[^\pL\pN\- ]`)
)

// Every link of a document leads to a file and to a heading of it.
func TestLinks(t *testing.T) {
	t.Parallel()
	for name, text := range pages(t, "*.md", "architecture/*.md", "../*.md") {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			target, aim := filepath.Join(filepath.Dir(name), found[1]), text
			if found[1] != "" {
				raw, err := os.ReadFile(target)
				if info, gone := os.Stat(target); err != nil && (gone != nil || !info.IsDir()) {
					t.Errorf("%s: %v", name, err)
				}
				aim = string(raw)
			}
			anchors := []string{""}
			for _, h := range heading.FindAllStringSubmatch(aim, -1) {
				anchors = append(anchors, strings.ReplaceAll(marks.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
			}
			if !slices.Contains(anchors, found[2]) {
				t.Errorf("%s links to #%s, which %s lacks", name, found[2], target)
			}
		}
	}
}

var (
	file  = regexp.MustCompile(`^(api|cmd|core|docs|migrations|static|views|web)/[\w./]+$`)
	named = regexp.MustCompile(`^(?:(\w+)\.)?(\w*[A-Z]\w*)$`)
	word  = regexp.MustCompile(`\w+`)
)

// components are the names of the functions that a file declares: of a template, its components.
func components(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			names = append(names, fn.Name.Name)
		}
	}
	return names
}

// Every file and every Go name in the pages about the architecture exists. A name after a package's is in that package.
func TestNamesExist(t *testing.T) {
	t.Parallel()
	words := map[string]map[string]bool{"": {}} // by package; "": of all
	for _, s := range parsedSources(t) {
		folder := filepath.Base(s.pkg())
		if words[folder] == nil {
			words[folder] = map[string]bool{}
		}
		found := components(s.syntax) // all other words of a template are the text of pages
		if !strings.HasSuffix(s.name, "_templ.go") {
			found = word.FindAllString(s.text, -1)
		}
		for _, w := range found {
			words[folder][w], words[""][w] = true, true
		}
	}
	for name, text := range pages(t, "architecture.md", "architecture/*.md") {
		for _, code := range names(text) {
			if file.MatchString(code) {
				if _, err := os.Stat(filepath.Join("..", code)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if n := named.FindStringSubmatch(code); n != nil {
				in := words[n[1]] // nil if it isn't a package but a variable, as in "tx.Now"
				if in == nil {
					in = words[""]
				}
				if !in[n[2]] {
					t.Errorf("%s names %s, which doesn't exist", name, code)
				}
			}
		}
	}
}
