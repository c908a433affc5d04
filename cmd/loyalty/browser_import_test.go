package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/loyalty/core"
	"example.com/loyalty/web/browsertest"
)

// "Import a CSV": from the list to the report, with the page that asks as a dialog and a
// progress that moves on by itself; the same without JavaScript, by links.
func testImport(t *testing.T, c cafe) {
	// One after the other: of two imports at once, one would be told to wait.
	for _, scripts := range []bool{true, false} {
		t.Run(map[bool]string{true: "with scripts", false: "without"}[scripts], func(t *testing.T) {
			p, code := c.page(t), "47"
			see := func(step string) { look(t, p, "import-"+step, nil) }
			if !scripts {
				p.DisableScripts()
				code, see = "45", func(string) {} // axe is a script
			}
			file := filepath.Join(t.TempDir(), "customers.csv")
			content := "Name;Phone;Points\nGudrun Ekeby;+" + code + " 32 12 34 51;120\nHalvar Ekeby;+" + code + " 32 12 34 52;\nNobody;1;many\n"
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			c.signIn(t, p, core.Manager)
			p.Click("main " + linkTo("/import"))
			p.Click(submitOf("/import"))
			p.WaitFor(refused)
			p.Do(chromedp.SetUploadFiles(chromedp.CSS("[name=file]"), []string{file}))
			p.Click(submitOf("/import"))
			p.WaitFor("[name=column_2]")
			see("columns")
			p.Fill("column_2", "")
			p.Click(submitOf("/check"))
			c.waitForImport(p, linkTo("/run"))
			if rows := p.Text("main tbody"); !strings.HasPrefix(rows, "4 ") {
				t.Errorf("the bad rows are %q", rows)
			}
			see("checked")

			p.Click(linkTo("?step=columns"))
			p.Fill("column_2", "points")
			p.Click(submitOf("/check"))
			c.waitForImport(p, linkTo("/run"))
			if rows := p.Text("main tbody"); !strings.Contains(rows, "many") {
				t.Errorf("the bad rows are %q", rows)
			}

			p.Click(linkTo("/run"))
			p.Click(submitOf("/run"))
			c.waitForImport(p, ".import-figures")
			see("done")
			p.Click("main .card-footer a.btn-primary")
			p.WaitForText("#customers a", "Gudrun Ekeby")
		})
	}
}

// waitForImport waits until a job is done and the element of its result is there. Without
// scripts the page has a link that loads it again.
func (c cafe) waitForImport(p *browsertest.Page, result string) {
	for {
		p.WaitFor(result + ", noscript a")
		if browsertest.Run(p, chromedp.Evaluate[bool](fmt.Sprintf("document.querySelector(%q) !== null", result))) {
			return
		}
		p.Click("noscript a")
	}
}
