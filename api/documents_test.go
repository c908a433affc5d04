package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/loyalty/docs"
)

// proves declares the sentences of the documents that a test proves, and fails if a document
// doesn't have them.
func proves(t testing.TB, sentences ...string) {
	t.Helper()
	for _, sentence := range sentences {
		if docs.Source(sentence) == "" {
			t.Errorf("neither document says: %s", sentence)
		}
	}
}

// The parts of the decisions about these endpoints. The specification is covered by
// cmd/loyalty's TestSpecification.
var parts = []string{"## 2.", "## 3.", "## 4.", "## 5.", "## 6.", "## 10."}

// Every quotation is in the documents, and every sentence of these parts is quoted, or listed in
// testdata/elsewhere.txt.
func TestQuotations(t *testing.T) {
	t.Parallel()
	quoted := quotations(t)
	counts := map[string]int{}
	for sentence := range quoted {
		name := docs.Source(sentence)
		if name == "" {
			t.Errorf("neither document says: %s", sentence)
		}
		counts[name]++
	}
	raw, err := os.ReadFile("testdata/elsewhere.txt")
	if err != nil {
		t.Fatal(err)
	}
	tested := maps.Clone(quoted)
	for passage := range strings.SplitSeq(string(raw), "\n") {
		if passage != "" && !strings.HasPrefix(passage, "//") {
			quoted[passage] = true
			if docs.Source(passage) == "" {
				t.Errorf("elsewhere.txt: neither document says: %s", passage)
			}
			if rest := docs.Unquoted([]string{passage}, tested); !slices.Equal(rest, []string{passage}) {
				t.Errorf("elsewhere.txt: a test quotes some of: %s", passage)
			}
		}
	}
	for _, part := range parts {
		for _, rest := range docs.Unquoted(docs.Sentences("decisions", part), quoted) {
			t.Errorf("decisions %s no test quotes: %s", part, rest)
		}
	}
	t.Logf("sentences proved: %d of the specification, %d of the decisions", counts["specification"], counts["decisions"])
}

// quotations reads the quotations in this package's tests: the arguments of proves, the first
// one of post and patch, and the sentences of scenarios.
func quotations(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var sources []*ast.File
	constants := map[string]ast.Expr{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, parsed)
		ast.Inspect(parsed, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == len(spec.Values) {
				for i, name := range spec.Names {
					constants[name.Name] = spec.Values[i]
				}
			}
			return true
		})
	}
	quoted := map[string]bool{}
	add := func(e ast.Expr) {
		if sentence := value(e, constants); sentence != "" {
			quoted[sentence] = true
		}
	}
	for _, file := range sources {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				switch called, _ := n.Fun.(*ast.Ident); {
				case called == nil:
				case called.Name == "proves":
					for _, argument := range n.Args[1:] {
						add(argument)
					}
				case called.Name == "post", called.Name == "patch":
					add(n.Args[0])
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "says" {
					add(n.Value)
				}
			}
			return true
		})
	}
	return quoted
}

// value returns a constant text, or "".
func value(e ast.Expr, constants map[string]ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return value(e.X, constants) + value(e.Y, constants)
	case *ast.Ident:
		if known, ok := constants[e.Name]; ok {
			return value(known, constants)
		}
	}
	return ""
}
