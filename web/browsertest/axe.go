package browsertest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
)

//go:embed axe/axe.js.gz
var axeFile []byte

var axe = sync.OnceValue(func() string {
	r, err := gzip.NewReader(bytes.NewReader(axeFile))
	if err != nil {
		panic(err) // the file is part of the program
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return string(text)
})

// Violation is something on a page that keeps people from using it.
type Violation struct {
	Rule    string // of axe: "color-contrast"
	Help    string // what the rule asks for
	Element string // a selector
	HTML    string
	Why     string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: %s\n\t%s: %s\n\t%s", v.Rule, v.Help, v.Element, v.HTML, strings.ReplaceAll(v.Why, "\n", "\n\t"))
}

// Axe looks for violations of WCAG 2.0, 2.1 and 2.2, A and AA, and of best practice. The
// parts that these selectors name are left out.
func (p *Page) Axe(without ...string) (violations []Violation) {
	p.t.Helper()
	list, err := json.Marshal(append([]string{}, without...))
	if err != nil {
		p.t.Fatal(err)
	}
	p.rest()
	p.await("axe has looked at the page", func() (string, error) {
		world, err := p.world()
		if err != nil {
			return "", err
		}
		var loaded bool
		if err := p.evaluate(world, "'axe' in globalThis", &loaded); err != nil {
			return "", err
		}
		if !loaded {
			if err := p.evaluate(world, axe(), nil); err != nil {
				return "", err
			}
		}
		return "", p.evaluate(world, audit+string(list)+")", &violations)
	})
	return violations
}

const audit = `(async (exclude) => {
	const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
	const found = await axe.run({ include: ["html"], exclude }, { runOnly: { type: "tag", values: tags }, resultTypes: ["violations"], iframes: false });
	return found.violations.flatMap((v) => v.nodes.map((n) => ({
		Rule: v.id, Help: v.help, Element: n.target.flat().join(" "), HTML: n.html.slice(0, 200), Why: n.failureSummary })));
})(`
