package browsertest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/chromedp/chromedp"
)

//go:embed axe/axe.js.gz
var axeFile []byte

var axeScript = sync.OnceValue(func() string {
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

// Violation is an accessibility fault that axe found in an element.
type Violation struct {
	Rule    string // "color-contrast"
	Help    string // what the rule asks for
	Element string // a selector
	HTML    string
	Why     string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: %s\n\t%s: %s\n\t%s", v.Rule, v.Help, v.Element, v.HTML, strings.ReplaceAll(v.Why, "\n", "\n\t"))
}

// Axe returns the violations of WCAG 2.0, 2.1 and 2.2 at levels A and AA and of best
// practice, outside the elements that the selector without matches.
func (p *Page) Axe(without string) []Violation {
	p.t.Helper()
	p.rest()
	if !Run(p, chromedp.Evaluate[bool](`"axe" in globalThis`)) {
		Run(p, chromedp.Evaluate[chromedp.Void](axeScript()))
	}
	return Run(p, chromedp.Evaluate[[]Violation](fmt.Sprintf(auditScript, without), chromedp.EvalAwaitPromise))
}

const auditScript = `axe.run({ include: ["html"], exclude: [%q].filter(Boolean) }, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"], iframes: false })
	.then((found) => found.violations.flatMap((v) => v.nodes.map((n) => ({
		Rule: v.id, Help: v.help, Element: n.target.flat().join(" "), HTML: n.html.slice(0, 200), Why: n.failureSummary }))))`
