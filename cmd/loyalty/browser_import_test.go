package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
			see := func(step string) { look(t, p, "import-"+step, "", stays) }
			if !scripts {
				p.WithoutJavaScript()
				code, see = "45", func(string) {} // axe is a script
			}
			file := filepath.Join(t.TempDir(), "customers.csv")
			content := "Name;Phone;Points\nGudrun Ekeby;+" + code + " 32 12 34 51;120\nHalvar Ekeby;+" + code + " 32 12 34 52;\nNobody;1;many\n"
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			c.signIn(t, p, core.Manager)
			p.Within("main").Click("Import")
			p.Click("Upload")
			p.WaitFor("Choose a file first.")
			p.Attach("File", file)
			p.Click("Upload")
			p.WaitFor("What do the columns hold?")
			see("columns")
			p.Fill("Column C holds", "Leave out")
			p.Click("Check all rows")
			c.patient(t, p, "2 customers to add")
			p.WaitFor(says("Phone", core.MustBePhone))
			see("checked")

			p.Click("Change columns")
			p.Fill("Column C holds", "Points")
			p.Click("Check all rows")
			c.patient(t, p, says("Points", core.MustBeInteger))

			p.Click("Import 2 customers")
			p.WaitFor("An import can be stopped")
			p.Within("#dialog[open], .form-card").Click("Import")
			c.patient(t, p, "2 customers added")
			see("done")
			p.Click("See the customers")
			p.WaitFor("Gudrun Ekeby")
		})
	}
}

// patient waits until a job is done: by itself, or by refreshing the page.
func (c cafe) patient(t *testing.T, p *browsertest.Page, text string) {
	t.Helper()
	for range 60 {
		if strings.Contains(p.Text("main"), text) {
			return
		}
		if strings.Contains(p.Text("main"), "Refresh") {
			p.Click("Refresh")
		} else {
			p.WaitFor(text)
		}
	}
	t.Fatalf("“%s” is not shown", text)
}
