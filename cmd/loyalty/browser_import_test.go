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

// "Import a CSV": from the list to the report, with the confirmation as a dialog and a progress bar
// that updates itself; without JavaScript by links.
func testImport(t *testing.T, c cafe) {
	c.waitingFiles.Lock()
	defer c.waitingFiles.Unlock()
	// One after the other: a business runs one import at a time.
	for _, scripts := range []bool{true, false} {
		t.Run(map[bool]string{true: "with scripts", false: "without"}[scripts], func(t *testing.T) {
			p, code := c.page(t), "47"
			see := func(step string) { look(t, p, "import-"+step, nil) }
			if !scripts {
				p.DisableScripts()
				code, see = "45", func(string) {} // axe needs scripts
			}
			file := filepath.Join(t.TempDir(), "customers.csv")
			content := "Name;Phone;Points\nGudrun Ekeby;+" + code + " 32 12 34 51;120\nHalvar Ekeby;+" + code + " 32 12 34 52;\nBroken;1;many\n"
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
			if rows := p.Text("#import-problems tbody"); !strings.HasPrefix(rows, "4 ") {
				t.Errorf("the bad rows are %q", rows)
			}
			see("checked")

			p.Click(linkTo("?step=columns"))
			p.Fill("column_2", "points")
			p.Click(submitOf("/check"))
			c.waitForImport(p, linkTo("/run"))
			if rows := p.Text("#import-problems tbody"); !strings.Contains(rows, "many") {
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

// waitForImport waits until the job is done and the page shows its result. Without scripts it clicks
// the refresh link.
func (c cafe) waitForImport(p *browsertest.Page, result string) {
	for {
		p.WaitFor(result + ", noscript a")
		if browsertest.Run(p, chromedp.Evaluate[bool](fmt.Sprintf("document.querySelector(%q) !== null", result))) {
			return
		}
		p.Click("noscript a")
	}
}
