package browsertest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
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

// Axe returns the violations of WCAG 2.0, 2.1 and 2.2 at levels A and AA and of best
// practice, outside the elements that the selector without matches. Each begins with its rule and
// element.
func (p *Page) Axe(without string) []string {
	p.t.Helper()
	p.rest()
	if !Run(p, chromedp.Evaluate[bool](`"axe" in globalThis`)) {
		Run(p, chromedp.Evaluate[chromedp.Void](axeScript()))
	}
	return Run(p, chromedp.Evaluate[[]string](fmt.Sprintf(auditScript, without), chromedp.EvalAwaitPromise))
}

// Without preload, axe doesn't read the stylesheets for each page, which only its rule on orientation needs:
// the tests of package static check that.
const auditScript = `axe.run({ include: ["html"], exclude: [%q].filter(Boolean) }, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"], iframes: false, preload: false })
	.then((found) => found.violations.flatMap((v) => v.nodes.map((n) =>
		[v.id + " " + n.target.flat().join(" "), v.help, n.html.slice(0, 200), n.failureSummary].join("\n\t"))))`
