package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The documents that the API answers to: what a test proves is quoted from them,
// word for word.
var documents = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for _, name := range []string{"specification", "decisions"} {
		raw, err := os.ReadFile("../docs/" + name + ".md")
		if err != nil {
			panic(err)
		}
		texts[name] = plain(string(raw))
	}
	return texts
})

var spaces = regexp.MustCompile(`\s+`)

// plain makes texts comparable that differ in their line breaks.
func plain(s string) string { return strings.TrimSpace(spaces.ReplaceAllString(s, " ")) }

// proves says which sentences of the documents a test stands for, and fails where
// the documents do not say so.
func proves(t testing.TB, sentences ...string) {
	t.Helper()
	for _, sentence := range sentences {
		if source(sentence) == "" {
			t.Errorf("neither document says: %s", sentence)
		}
	}
}

// source is the document that holds a sentence.
func source(sentence string) string {
	for name, text := range documents() {
		if strings.Contains(text, plain(sentence)) {
			return name
		}
	}
	return ""
}

// The parts of the documents that are about these endpoints.
var parts = map[string][]string{
	"specification": {"## 2.", "## 3.", "## 4.", "## 5.", "## 7.", "## 8."},
	"decisions":     {"## 2.", "## 3.", "## 4.", "## 5.", "## 6.", "## 10."},
}

// Every quotation occurs in the documents, and every sentence of their parts is
// quoted, or named in testdata/elsewhere.txt as being about something else.
func TestQuotations(t *testing.T) {
	t.Parallel()
	quoted := quotations(t)
	counts := map[string]int{}
	for sentence := range quoted {
		name := source(sentence)
		if name == "" {
			t.Errorf("neither document says: %s", sentence)
		}
		counts[name]++
	}
	raw, err := os.ReadFile("testdata/elsewhere.txt")
	if err != nil {
		t.Fatal(err)
	}
	for passage := range strings.SplitSeq(string(raw), "\n") {
		if passage != "" && !strings.HasPrefix(passage, "//") {
			quoted[passage] = true
			if source(passage) == "" {
				t.Errorf("elsewhere.txt: neither document says: %s", passage)
			}
		}
	}
	for name, headings := range parts {
		for _, heading := range headings {
			for _, rest := range unquoted(section(name, heading), quoted) {
				t.Errorf("%s %s no test quotes: %s", name, heading, rest)
			}
		}
	}
	t.Logf("sentences proved: %d of the specification, %d of the decisions", counts["specification"], counts["decisions"])
}

// section is the text from a heading to the next of its kind.
func section(document, heading string) string {
	_, text, _ := strings.Cut(documents()[document], heading)
	text, _, _ = strings.Cut(text, " ## ")
	return text
}

var words = regexp.MustCompile(`\pL\pL`)

// unquoted is what is left of a text without the quotations in it, where there are words left.
func unquoted(text string, quoted map[string]bool) (rest []string) {
	bare := []byte(text)
	for sentence := range quoted {
		sentence = plain(sentence)
		for at := 0; ; {
			found := strings.Index(text[at:], sentence)
			if found < 0 {
				break
			}
			for i := range len(sentence) {
				bare[at+found+i] = 0
			}
			at += found + len(sentence)
		}
	}
	for left := range strings.SplitSeq(string(bare), "\x00") {
		if words.MatchString(left) {
			rest = append(rest, plain(left))
		}
	}
	return rest
}

// quotations reads them out of this package's tests: the arguments of proves, the
// first one of post and patch, and the sentences of scenarios.
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

// value is what a constant text is, or "".
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
