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
			phone := "+" + code + " 32 12 34 5"
			content := "Customers, exported in May\nName;Phone;Points;Customer since\n" +
				"Gudrun Ekeby;" + phone + "1;120;03/04/2024\nHalvar Ekeby;" + phone + "2;;\nBroken;1;many;\nJ\x9Fr Ekeby;" + phone + "3;;05/06/2024\n" +
				"Guest One;" + phone + "9;;\nGuest Two;" + phone + "9;;\nGuest Three;" + phone + "9;;\nGudrun Ekeby;" + phone + "1;;\n"
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			c.signIn(t, p, core.Manager)
			p.Click("main " + linkTo("/import"))
			p.Click(submitOf("/import"))
			p.WaitFor(refused)
			p.Upload("file", file)
			p.Click(submitOf("/import"))
			p.WaitFor("[name=column_2]")
			// The letter is another in each encoding, and the rows are drawn again when another is chosen.
			p.WaitForText("main tbody", "Jür Ekeby")
			if scripts {
				p.Fill("encoding", "windows-1252")
				p.WaitForText("main tbody", "JŸr Ekeby")
				p.Fill("encoding", "macintosh")
				p.WaitForText("main tbody", "Jür Ekeby")
			}
			see("columns")
			p.Fill("column_2", "")
			p.Click(submitOf("/check"))
			c.waitForImport(p, linkTo("/run"))
			if rows := p.Text("#import-problems tbody"); !strings.HasPrefix(rows, "5 ") {
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
			p.WaitForText("#customers a", "Halvar Ekeby")
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
