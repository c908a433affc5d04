package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
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

// The parts of the documents about these endpoints.
var parts = map[string][]string{
	"specification": {"## 2.", "## 3.", "## 4.", "## 5.", "## 6.", "## 7.", "## 8.", "## 9."},
	"decisions":     {"## 2.", "## 3.", "## 4.", "## 5.", "## 6.", "## 10."},
}

// Every quotation is in the documents, and every sentence of these parts is quoted by a test of this package or a
// sentence of cmd/loyalty's TestSpecification, or listed in testdata: in elsewhere.txt, or in untestable.txt with a reason.
func TestQuotations(t *testing.T) {
	t.Parallel()
	quoted := quotations(t, "*_test.go")
	counts := map[string]int{}
	for sentence := range quoted {
		name := docs.Source(sentence)
		if name == "" {
			t.Errorf("neither document says: %s", sentence)
		}
		counts[name]++
	}
	maps.Copy(quoted, quotations(t, "../cmd/loyalty/specification*_test.go"))
	tested := maps.Clone(quoted)
	for file, passages := range map[string][]string{"elsewhere.txt": lines(t, "elsewhere.txt"), "untestable.txt": untestable(t)} {
		for _, passage := range passages {
			quoted[passage] = true
			if docs.Source(passage) == "" {
				t.Errorf("%s: neither document says: %s", file, passage)
			}
			if rest := docs.Unquoted([]string{passage}, tested); !slices.Equal(rest, []string{passage}) {
				t.Errorf("%s: a test quotes some of: %s", file, passage)
			}
		}
	}
	for document, headings := range parts {
		for _, part := range headings {
			for _, rest := range docs.Unquoted(docs.Sentences(document, part), quoted) {
				t.Errorf("%s %s no test quotes: %s", document, part, rest)
			}
		}
	}
	t.Logf("sentences proved: %d of the specification, %d of the decisions", counts["specification"], counts["decisions"])
}

// lines reads a list without its comments.
func lines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool { return line == "" || strings.HasPrefix(line, "//") })
}

var namedTest = regexp.MustCompile(`(\S+)'s (Test\w+)`)

// untestable reads the passages that can't be tested. Each has a reason below it; a test that a reason names must exist.
func untestable(t *testing.T) (passages []string) {
	t.Helper()
	for pair := range slices.Chunk(lines(t, "untestable.txt"), 2) {
		if len(pair) < 2 || strings.HasPrefix(pair[0], "\t") || !strings.HasPrefix(pair[1], "\t") {
			t.Fatalf("untestable.txt: a passage needs a reason below it: %q", pair)
		}
		passages = append(passages, pair[0])
		for _, named := range namedTest.FindAllStringSubmatch(pair[1], -1) {
			if !hasTest(t, named[1], named[2]) {
				t.Errorf("untestable.txt: %s has no %s", named[1], named[2])
			}
		}
	}
	return passages
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "func "+name+"(")
	})
}

// quotations reads the quotations in tests: the arguments of proves, the first one of post and patch, and the sentences
// of scenarios.
func quotations(t *testing.T, pattern string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(pattern)
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
				key, _ := n.Key.(*ast.Ident)
				list, isList := n.Value.(*ast.CompositeLit)
				switch {
				case key == nil:
				case key.Name == "says":
					add(n.Value)
				case key.Name == "also" && isList:
					for _, sentence := range list.Elts {
						add(sentence)
					}
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
